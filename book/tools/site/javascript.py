"""Plain Python to JavaScript, so that a page computes with the very functions that the book shows.

The subset is that of `rankedu/reference.py`: functions, numbers, text, lists, tuples, dictionaries and sets; loops,
comprehensions, f-strings; of the standard library only `math`. What lies outside of it is refused with its file and
line when the book is built, so nothing can fail on a reader's machine for lack of a translation. Whatever means
something else in JavaScript (division by zero, `==` of lists, the truth of an empty list, `-1` as an index) is a call
of the small library `py` in `python.js`. Names and order stay, so the translation can be read beside its source.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

#: What `python.js` knows of Python's built-in functions and of the methods of its values.
BUILTINS = {
    *("abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "len", "list", "map", "max", "min"),
    *("next", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"),
}
METHODS = {
    *("append", "copy", "count", "extend", "get", "index", "insert", "items", "join", "keys", "pop", "remove"),
    "values",
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
COMPARED: dict[type[ast.AST], Callable[[str, str], str]] = {
    ast.Lt: "py.less({0}, {1})".format,
    ast.LtE: "!py.less({1}, {0}, true)".format,
    ast.Gt: "py.less({1}, {0})".format,
    ast.GtE: "!py.less({0}, {1}, true)".format,
    ast.Eq: "py.equal({0}, {1})".format,
    ast.NotEq: "!py.equal({0}, {1})".format,
    ast.Is: "({0} === {1})".format,
    ast.IsNot: "({0} !== {1})".format,
    ast.In: "py.contains({1}, {0})".format,
    ast.NotIn: "!py.contains({1}, {0})".format,
}
#: Words that JavaScript keeps for itself.
RESERVED = {
    *("arguments", "await", "case", "catch", "const", "debugger", "default", "delete", "do", "enum", "eval"),
    *("export", "extends", "function", "implements", "in", "instanceof", "interface", "let", "new", "null"),
    *("package", "private", "protected", "public", "py", "static", "super", "switch", "this", "throw", "true"),
    *("typeof", "undefined", "var", "void"),
}


def translate(name: str) -> str:
    """A module by its dotted name, as one statement that puts its functions and constants into ``py.modules``."""
    return Module(name).script()


def needed(name: str) -> list[str]:
    """The modules of the package that a module imports however indirectly, and itself, in an order that can be run."""
    found: list[str] = []
    for other in Module(name).imports():
        found += [one for one in needed(other) if one not in found]
    return [*found, name]


class Module:
    """One module on its way to JavaScript."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, Path(str(import_module(name).__file__))
        self.tree = ast.parse(self.path.read_text(encoding="utf-8"))
        self.signatures: dict[str, list[str]] = {}  # of the functions that can be called with keywords
        self.names: set[str] = set()  # that the module binds at its top

    def imports(self) -> list[str]:
        """The modules of the package that are imported."""
        statements = [one for one in self.tree.body if isinstance(one, ast.ImportFrom) and one.module != "__future__"]
        return list(dict.fromkeys(str(one.module) for one in statements))

    def script(self) -> str:
        """The whole module as JavaScript."""
        for one in self.tree.body:
            if isinstance(one, ast.FunctionDef):
                self.signatures[one.name] = _parameters(one)
                self.names.add(one.name)
            elif isinstance(one, ast.ImportFrom | ast.Import):
                self.bring(one)
        lines = [line for one in self.tree.body for line in self.statement(one, self.names)]
        bound = sorted(name for name in self.names if name != "math")
        inside = "\n".join([*_declared(bound), *lines])
        given = ", ".join(name if _safe(name) == name else f"{name}: {_safe(name)}" for name in bound)
        return f'py.modules["{self.name}"] = (() => {{\n"use strict";\n{inside}\nreturn {{ {given} }};\n}})();\n'

    def bring(self, node: ast.Import | ast.ImportFrom) -> None:
        """Learn the names that an import binds, and how the functions among them are called."""
        if isinstance(node, ast.Import):
            if [alias.name for alias in node.names] != ["math"]:
                raise self.refused(node, "an import of anything but math and modules of the package")
            self.names.add("math")
        elif node.module != "__future__":
            module = import_module(str(node.module))
            for alias in node.names:
                value = getattr(module, alias.name)
                self.names.add(alias.name)
                if inspect.isfunction(value):
                    self.signatures[alias.name] = list(inspect.signature(value).parameters)

    def refused(self, node: ast.AST, what: str | None = None) -> SyntaxError:
        """What to raise at a piece of Python that the subset does not have."""
        construct = what or type(node).__name__
        return SyntaxError(f"{self.path.name}:{getattr(node, 'lineno', '?')}: a page cannot run {construct}")

    def statement(self, node: ast.stmt, names: set[str]) -> list[str]:
        """One statement as lines; what it binds is added to ``names``, which the function declares at its head."""
        match node:
            case ast.Import():
                return ["const math = py.math;"]
            case ast.ImportFrom(module="__future__") | ast.Pass() | ast.AnnAssign(value=None):
                return []
            case ast.ImportFrom():
                pairs = ", ".join(f"{alias.name}: {_safe(alias.name)}" for alias in node.names)
                return [f'({{ {pairs} }} = py.modules["{node.module}"]);']
            case ast.FunctionDef():
                return self.function(node, names)
            case ast.Return():
                return [f"return {self.value(node.value) if node.value else 'null'};"]
            case ast.Expr():
                return [] if isinstance(node.value, ast.Constant) else [self.value(node.value) + ";"]
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return [self.assign(target, self.value(node.value), names)]
            case ast.Assign():
                raise self.refused(node, "an assignment to several targets")
            case ast.AugAssign():
                read = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
                call = "grow" if isinstance(node.op, ast.Add) else self.operator(node, node.op)
                return [self.assign(node.target, f"py.{call}({self.value(read)}, {self.value(node.value)})", names)]
            case ast.If():
                text = f"if ({self.truth(node.test)}) {self.block(node.body, names)}"
                return [text + (f" else {self.block(node.orelse, names)}" if node.orelse else "")]
            case ast.For() | ast.While() if node.orelse:
                raise self.refused(node, "the else of a loop")
            case ast.For():
                target = self.pattern(node.target, names)
                return [f"for ({target} of py.iter({self.value(node.iter)})) {self.block(node.body, names)}"]
            case ast.While():
                return [f"while ({self.truth(node.test)}) {self.block(node.body, names)}"]
            case ast.Raise(exc=ast.Call(args=[said])):
                return [f"throw new Error({self.value(said)});"]
            case ast.Raise():
                raise self.refused(node, "raise without an exception and its sentence")
            case ast.Break():
                return ["break;"]
            case ast.Continue():
                return ["continue;"]
        raise self.refused(node)

    def block(self, body: list[ast.stmt], names: set[str]) -> str:
        return "{\n" + "\n".join(line for one in body for line in self.statement(one, names)) + "\n}"

    def function(self, node: ast.FunctionDef, names: set[str]) -> list[str]:
        if node.decorator_list or node.args.vararg or node.args.kwarg:
            raise self.refused(node, "a function with decorators, *args or **kwargs")
        names.add(node.name)
        self.signatures[node.name] = _parameters(node)
        inside: set[str] = set()
        body = [line for one in node.body for line in self.statement(one, inside)]
        head = f"{_safe(node.name)} = function ({self.parameters(node.args)}) {{"
        return [head, *_declared(sorted(inside - set(_parameters(node)))), *body, "};"]

    def assign(self, target: ast.expr, value: str, names: set[str]) -> str:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return f"py.splice({self.value(target.value)}, {self.slice(target.slice)}, {value});"
        if isinstance(target, ast.Subscript):
            return f"py.put({self.value(target.value)}, {self.value(target.slice)}, {value});"
        pattern = self.pattern(target, names)
        return f"({pattern} = py.iter({value}));" if pattern.startswith("[") else f"{pattern} = {value};"

    def pattern(self, target: ast.expr, names: set[str]) -> str:
        """The names that a value is taken apart into."""
        match target:
            case ast.Name():
                names.add(target.id)
                return _safe(target.id)
            case ast.Tuple() | ast.List():
                return "[" + ", ".join(self.pattern(one, names) for one in target.elts) + "]"
            case ast.Starred():
                return "..." + self.pattern(target.value, names)
        raise self.refused(target)

    def operator(self, node: ast.AST, operator: ast.operator) -> str:
        """The function of `py` that does what an operator does."""
        if type(operator) not in OPERATORS:
            raise self.refused(node, type(operator).__name__)
        return OPERATORS[type(operator)]

    def truth(self, node: ast.expr) -> str:
        """An expression as a condition: an empty list is false in Python alone."""
        text = self.value(node)
        sure = isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        return text if sure else f"py.bool({text})"

    def value(self, node: ast.expr | None) -> str:
        """One expression."""
        match node:
            case ast.Constant(value=int() | float() | str() | None):
                return json.dumps(node.value)
            case ast.Name() if node.id in self.names or not hasattr(builtins, node.id):
                return _safe(node.id)
            case ast.Name() if node.id in BUILTINS:
                return f"py.{node.id}"
            case ast.List() | ast.Tuple() | ast.Set():
                listed = "[" + ", ".join(map(self.element, node.elts)) + "]"
                return f"new Set({listed})" if isinstance(node, ast.Set) else listed
            case ast.Dict():
                parts = [
                    f"...py.items({self.value(value)})" if key is None else f"[{self.value(key)}, {self.value(value)}]"
                    for key, value in zip(node.keys, node.values, strict=True)
                ]
                return f"new Map([{', '.join(parts)}])"
            case ast.BinOp():
                return f"py.{self.operator(node, node.op)}({self.value(node.left)}, {self.value(node.right)})"
            case ast.UnaryOp(op=ast.Not()):
                return f"!{self.truth(node.operand)}"
            case ast.UnaryOp(op=ast.USub()):
                return f"(-{self.value(node.operand)})"
            case ast.UnaryOp():
                raise self.refused(node, type(node.op).__name__)
            case ast.BoolOp(values=[*first, last]):
                name, text = "both" if isinstance(node.op, ast.And) else "either", self.value(last)
                for one in reversed(first):
                    text = f"py.{name}({self.value(one)}, () => {text})"
                return text
            case ast.Compare(ops=[operator], comparators=[second]):
                return "(" + COMPARED[type(operator)](self.value(node.left), self.value(second)) + ")"
            case ast.Compare(ops=[operator, *others], comparators=[second, *further]):
                rest = self.value(ast.Compare(left=ast.Name(id="between_"), ops=others, comparators=further))
                here = COMPARED[type(operator)](self.value(node.left), "between_")
                return f"((between_) => {here} && {rest})({self.value(second)})"
            case ast.IfExp():
                return f"({self.truth(node.test)} ? {self.value(node.body)} : {self.value(node.orelse)})"
            case ast.Subscript(slice=ast.Slice()):
                return f"py.slice({self.value(node.value)}, {self.slice(node.slice)})"
            case ast.Subscript():
                return f"py.at({self.value(node.value)}, {self.value(node.slice)})"
            case ast.Attribute(value=ast.Name(id="math")):
                return f"math.{node.attr}"
            case ast.Attribute():
                raise self.refused(node, f"the attribute {node.attr}")
            case ast.Lambda():
                return f"(({self.parameters(node.args)}) => {self.value(node.body)})"
            case ast.Call():
                return self.call(node)
            case ast.JoinedStr():
                return "(" + " + ".join(['""', *map(self.piece, node.values)]) + ")"
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node.generators, f"made_.push({self.value(node.elt)});", "[]")
            case ast.SetComp():
                return self.comprehension(node.generators, f"made_.add({self.value(node.elt)});", "new Set()")
            case ast.DictComp():
                entry = f"made_.set({self.value(node.key)}, {self.value(node.value)});"
                return self.comprehension(node.generators, entry, "new Map()")
        raise self.refused(node or self.tree)

    def element(self, node: ast.expr) -> str:
        return f"...py.iter({self.value(node.value)})" if isinstance(node, ast.Starred) else self.value(node)

    def slice(self, node: ast.Slice) -> str:
        return ", ".join(self.value(part) if part else "null" for part in (node.lower, node.upper, node.step))

    def call(self, node: ast.Call) -> str:
        arguments = list(map(self.element, node.args))
        match node.func:
            case ast.Attribute(value=ast.Name(id="math")):
                pass
            case ast.Attribute(attr=method, value=owner):
                if method not in METHODS or node.keywords:
                    raise self.refused(node, f"the method {method}")
                return f"py.methods.{method}({', '.join([self.value(owner), *arguments])})"
            case ast.Name(id=name) if name in BUILTINS and name not in self.names:
                named = ", ".join(f"{one.arg}: {self.value(one.value)}" for one in node.keywords)
                arguments += [f"py.named({{ {named} }})"] * bool(named)
                return f"{self.value(node.func)}({', '.join(arguments)})"
        if node.keywords:
            arguments = self.in_order(node, arguments)
        return f"{self.value(node.func)}({', '.join(arguments)})"

    def in_order(self, node: ast.Call, arguments: list[str]) -> list[str]:
        """Keyword arguments at the places where the function has them."""
        signature = self.signatures.get(node.func.id) if isinstance(node.func, ast.Name) else None
        named = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if signature is None or not set(named) <= set(signature):
            raise self.refused(node, f"a call with the keywords {sorted(named)} of a function that is not known here")
        rest = signature[len(arguments) :]
        last = max(rest.index(name) for name in named)
        return arguments + [named.get(name, "undefined") for name in rest[: last + 1]]

    def piece(self, part: ast.expr) -> str:
        """A piece of an f-string."""
        match part:
            case ast.Constant():
                return json.dumps(part.value, ensure_ascii=False)
            case ast.FormattedValue(conversion=-1):
                form = self.value(part.format_spec) if part.format_spec else '""'
                return f"py.format({self.value(part.value)}, {form})"
        raise self.refused(part)

    def comprehension(self, loops: list[ast.comprehension], text: str, empty: str) -> str:
        for loop in reversed(loops):
            for test in reversed(loop.ifs):
                text = f"if ({self.truth(test)}) {text}"
            hidden: set[str] = set()
            target = self.pattern(loop.target, hidden)
            if hidden & {one.id for one in ast.walk(loop.iter) if isinstance(one, ast.Name)}:
                raise self.refused(loop.iter, f"a comprehension whose variable hides what it runs over: {target}")
            text = f"for (const {target} of py.iter({self.value(loop.iter)})) {text}"
        return f"(() => {{ const made_ = {empty}; {text} return made_; }})()"

    def parameters(self, arguments: ast.arguments) -> str:
        """Parameters and their defaults; those that Python wants by keyword follow the others."""
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
        pairs = [*zip(plain, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        return ", ".join(_safe(one.arg) + (f" = {self.value(default)}" if default else "") for one, default in pairs)


def _parameters(node: ast.FunctionDef) -> list[str]:
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _declared(names: list[str]) -> list[str]:
    return ["let " + ", ".join(map(_safe, names)) + ";"] if names else []


def _safe(name: str) -> str:
    return f"{name}_" if name in RESERVED else name

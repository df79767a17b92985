"""Plain Python to JavaScript, so that a page computes with the very functions that the book shows.

The subset is that of `rankedu/reference.py`: functions, numbers, text, lists, tuples, dictionaries and sets; loops,
comprehensions, f-strings; of the standard library only `math`. What lies outside of it is refused with its file and
line when the book is built, so nothing can fail on a reader's machine for lack of a translation. Whatever means
something else in JavaScript (division by zero, `==` of lists, the truth of an empty list, `-1` as an index) is a call
of the small library `py` in `python.js`. Names and order stay, so the translation can be read beside its source.
"""

import ast
import builtins
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
        self.names: set[str] = set()  # that the module binds at its top

    def imports(self) -> list[str]:
        """The modules of the package that are imported."""
        return list(dict.fromkeys(str(one.module) for one in self.tree.body if isinstance(one, ast.ImportFrom)))

    def script(self) -> str:
        """The whole module as JavaScript."""
        for one in self.tree.body:
            if isinstance(one, ast.FunctionDef):
                self.names.add(one.name)
            elif isinstance(one, ast.ImportFrom | ast.Import):
                self.names |= {alias.name for alias in one.names}
        lines = [line for one in self.tree.body for line in self.statement(one, self.names)]
        bound = sorted(name for name in self.names if name != "math")
        inside = "\n".join([*_declared(bound), *lines])
        given = ", ".join(name if _safe(name) == name else f"{name}: {_safe(name)}" for name in bound)
        return f'py.modules["{self.name}"] = (() => {{\n"use strict";\n{inside}\nreturn {{ {given} }};\n}})();\n'

    def refused(self, node: ast.AST) -> SyntaxError:
        """What to raise at a piece of Python that the subset does not have."""
        what = ast.unparse(node).splitlines()[0]
        return SyntaxError(f"{self.path.name}:{getattr(node, 'lineno', '?')}: a page cannot run `{what}`")

    def statement(self, node: ast.stmt, names: set[str]) -> list[str]:
        """One statement as lines; what it binds is added to ``names``, which the function declares at its head."""
        match node:
            case ast.Import(names=[ast.alias(name="math", asname=None)]):
                return ["const math = py.math;"]
            case ast.ImportFrom():
                pairs = ", ".join(f"{alias.name}: {_safe(alias.name)}" for alias in node.names)
                return [f'({{ {pairs} }} = py.modules["{node.module}"]);']
            case ast.FunctionDef(decorator_list=[], args=ast.arguments(vararg=None, kwonlyargs=[], kwarg=None)):
                return self.function(node, names)
            case ast.Return():
                return [f"return {self.value(node.value) if node.value else 'null'};"]
            case ast.Expr():
                return [] if isinstance(node.value, ast.Constant) else [self.value(node.value) + ";"]
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return [self.assign(target, self.value(node.value), names)]
            case ast.AugAssign():
                call = "grow" if isinstance(node.op, ast.Add) else self.operator(node, node.op)
                changed = f"py.{call}({self.value(node.target)}, {self.value(node.value)})"
                return [self.assign(node.target, changed, names)]
            case ast.If():
                text = f"if ({self.truth(node.test)}) {self.block(node.body, names)}"
                return [text + (f" else {self.block(node.orelse, names)}" if node.orelse else "")]
            case ast.For(orelse=[]):
                target = self.pattern(node.target, names)
                return [f"for ({target} of py.iter({self.value(node.iter)})) {self.block(node.body, names)}"]
            case ast.While(orelse=[]):
                return [f"while ({self.truth(node.test)}) {self.block(node.body, names)}"]
            case ast.Break():
                return ["break;"]
        raise self.refused(node)

    def block(self, body: list[ast.stmt], names: set[str]) -> str:
        return "{\n" + "\n".join(line for one in body for line in self.statement(one, names)) + "\n}"

    def function(self, node: ast.FunctionDef, names: set[str]) -> list[str]:
        names.add(node.name)
        inside: set[str] = set()
        body = [line for one in node.body for line in self.statement(one, inside)]
        head = f"{_safe(node.name)} = function ({self.parameters(node.args)}) {{"
        return [head, *_declared(sorted(inside - {one.arg for one in node.args.args})), *body, "};"]

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
            case ast.Tuple(elts=[*first, _]) | ast.List(elts=[*first, _]) if not _starred(first):
                return "[" + ", ".join(self.pattern(one, names) for one in target.elts) + "]"
            case ast.Starred():
                return "..." + self.pattern(target.value, names)
        raise self.refused(target)

    def operator(self, node: ast.AST, operator: ast.operator) -> str:
        """The function of `py` that does what an operator does."""
        if type(operator) not in OPERATORS:
            raise self.refused(node)
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
            case ast.Lambda():
                return f"(({self.parameters(node.args)}) => {self.value(node.body)})"
            case ast.Call():
                return self.call(node)
            case ast.JoinedStr():
                return "(" + " + ".join(['""', *map(self.piece, node.values)]) + ")"
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node.generators, f"made_.push({self.value(node.elt)});", "[]")
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
                    raise self.refused(node)
                return f"py.methods.{method}({', '.join([self.value(owner), *arguments])})"
            case ast.Name(id=name) if name in BUILTINS and name not in self.names:
                named = ", ".join(f"{one.arg}: {self.value(one.value)}" for one in node.keywords)
                arguments += [f"py.named({{ {named} }})"] * bool(named)
                return f"{self.value(node.func)}({', '.join(arguments)})"
        if node.keywords:
            raise self.refused(node)
        return f"{self.value(node.func)}({', '.join(arguments)})"

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
                raise self.refused(loop.iter)  # its variable hides what it runs over
            text = f"for (const {target} of py.iter({self.value(loop.iter)})) {text}"
        return f"(() => {{ const made_ = {empty}; {text} return made_; }})()"

    def parameters(self, arguments: ast.arguments) -> str:
        """Parameters and their defaults."""
        required = len(arguments.args) - len(arguments.defaults)
        defaults = ["" for _ in range(required)] + [f" = {self.value(one)}" for one in arguments.defaults]
        return ", ".join(_safe(one.arg) + value for one, value in zip(arguments.args, defaults, strict=True))


def _declared(names: list[str]) -> list[str]:
    return ["let " + ", ".join(map(_safe, names)) + ";"] if names else []


def _starred(targets: list[ast.expr]) -> bool:
    return any(isinstance(one, ast.Starred) for one in targets)


def _safe(name: str) -> str:
    return f"{name}_" if name in RESERVED else name

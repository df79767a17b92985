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
Signature = list[str]


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
        self.signatures: dict[str, Signature] = {}  # of the functions that can be called with keywords
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
        inside = "\n".join(["let " + ", ".join(map(_safe, bound)) + ";"] * bool(bound) + lines)
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
        construct = what or f"{type(node).__name__}"
        return SyntaxError(f"{self.path.name}:{getattr(node, 'lineno', '?')}: a page cannot run {construct}")

    # ------------------------------------------------------------------------------------------------- statements

    def statement(self, node: ast.stmt, names: set[str]) -> list[str]:
        """One statement as lines; what it binds is added to ``names``, which the function declares at its head."""
        do = getattr(self, f"do_{type(node).__name__}", None)
        if do is None:
            raise self.refused(node)
        lines: list[str] = do(node, names)
        return lines

    def block(self, body: list[ast.stmt], names: set[str]) -> str:
        return "{\n" + "\n".join(line for one in body for line in self.statement(one, names)) + "\n}"

    def do_Import(self, node: ast.Import, names: set[str]) -> list[str]:
        return ["const math = py.math;"]

    def do_ImportFrom(self, node: ast.ImportFrom, names: set[str]) -> list[str]:
        if node.module == "__future__":
            return []
        pairs = ", ".join(f"{alias.name}: {_safe(alias.name)}" for alias in node.names)
        return [f'({{ {pairs} }} = py.modules["{node.module}"]);']

    def do_FunctionDef(self, node: ast.FunctionDef, names: set[str]) -> list[str]:
        if node.decorator_list or node.args.vararg or node.args.kwarg:
            raise self.refused(node, "a function with decorators, *args or **kwargs")
        names.add(node.name)
        self.signatures[node.name] = _parameters(node)
        inside: set[str] = set()
        body = [line for one in node.body for line in self.statement(one, inside)]
        inside -= set(_parameters(node))
        declared = ["let " + ", ".join(map(_safe, sorted(inside))) + ";"] if inside else []
        head = f"{_safe(node.name)} = function ({self.parameters(node.args)}) {{"
        return [head, *declared, *body, "};"]

    def do_Return(self, node: ast.Return, names: set[str]) -> list[str]:
        return [f"return {self.value(node.value) if node.value else 'null'};"]

    def do_Expr(self, node: ast.Expr, names: set[str]) -> list[str]:
        return [] if isinstance(node.value, ast.Constant) else [self.value(node.value) + ";"]

    def do_Assign(self, node: ast.Assign, names: set[str]) -> list[str]:
        if len(node.targets) > 1:
            raise self.refused(node, "an assignment to several targets")
        return [self.assign(node.targets[0], self.value(node.value), names)]

    def do_AnnAssign(self, node: ast.AnnAssign, names: set[str]) -> list[str]:
        return [self.assign(node.target, self.value(node.value), names)] if node.value else []

    def do_AugAssign(self, node: ast.AugAssign, names: set[str]) -> list[str]:
        operator = "grow" if isinstance(node.op, ast.Add) else OPERATORS.get(type(node.op))
        if operator is None:
            raise self.refused(node, type(node.op).__name__)
        read = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        return [self.assign(node.target, f"py.{operator}({self.value(read)}, {self.value(node.value)})", names)]

    def assign(self, target: ast.expr, value: str, names: set[str]) -> str:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return f"py.splice({self.value(target.value)}, {self.slice(target.slice)}, {value});"
        if isinstance(target, ast.Subscript):
            return f"py.put({self.value(target.value)}, {self.value(target.slice)}, {value});"
        pattern = self.pattern(target, names)
        return f"({pattern} = py.iter({value}));" if pattern.startswith("[") else f"{pattern} = {value};"

    def pattern(self, target: ast.expr, names: set[str]) -> str:
        """The names that a value is taken apart into."""
        if isinstance(target, ast.Name):
            names.add(target.id)
            return _safe(target.id)
        if isinstance(target, ast.Tuple | ast.List):
            return "[" + ", ".join(self.pattern(one, names) for one in target.elts) + "]"
        if isinstance(target, ast.Starred):
            return "..." + self.pattern(target.value, names)
        raise self.refused(target)

    def do_If(self, node: ast.If, names: set[str]) -> list[str]:
        text = f"if ({self.truth(node.test)}) {self.block(node.body, names)}"
        return [text + (f" else {self.block(node.orelse, names)}" if node.orelse else "")]

    def do_For(self, node: ast.For, names: set[str]) -> list[str]:
        if node.orelse:
            raise self.refused(node, "the else of a loop")
        target = self.pattern(node.target, names)
        return [f"for ({target} of py.iter({self.value(node.iter)})) {self.block(node.body, names)}"]

    def do_While(self, node: ast.While, names: set[str]) -> list[str]:
        if node.orelse:
            raise self.refused(node, "the else of a loop")
        return [f"while ({self.truth(node.test)}) {self.block(node.body, names)}"]

    def do_Raise(self, node: ast.Raise, names: set[str]) -> list[str]:
        call = node.exc
        if not isinstance(call, ast.Call) or len(call.args) != 1:
            raise self.refused(node, "raise without an exception and its sentence")
        return [f"throw new Error({self.value(call.args[0])});"]

    def do_Pass(self, node: ast.Pass, names: set[str]) -> list[str]:
        return []

    def do_Break(self, node: ast.Break, names: set[str]) -> list[str]:
        return ["break;"]

    def do_Continue(self, node: ast.Continue, names: set[str]) -> list[str]:
        return ["continue;"]

    # ------------------------------------------------------------------------------------------------ expressions

    def value(self, node: ast.expr | None) -> str:
        """One expression."""
        of = getattr(self, f"of_{type(node).__name__}", None)
        if of is None:
            raise self.refused(node or self.tree)
        text: str = of(node)
        return text

    def truth(self, node: ast.expr) -> str:
        """An expression as a condition: an empty list is false in Python alone."""
        text = self.value(node)
        sure = isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        return text if sure else f"py.bool({text})"

    def of_Constant(self, node: ast.Constant) -> str:
        if not isinstance(node.value, int | float | str | None):
            raise self.refused(node)
        return json.dumps(node.value)

    def of_Name(self, node: ast.Name) -> str:
        if node.id in BUILTINS and node.id not in self.names:
            return f"py.{node.id}"
        if hasattr(builtins, node.id) and node.id not in self.names:
            raise self.refused(node)
        return _safe(node.id)

    def of_List(self, node: ast.List | ast.Tuple) -> str:
        return "[" + ", ".join(map(self.element, node.elts)) + "]"

    of_Tuple = of_List

    def element(self, node: ast.expr) -> str:
        return f"...py.iter({self.value(node.value)})" if isinstance(node, ast.Starred) else self.value(node)

    def of_Set(self, node: ast.Set) -> str:
        return f"new Set({self.of_List(ast.List(elts=node.elts))})"

    def of_Dict(self, node: ast.Dict) -> str:
        parts = [
            f"...py.items({self.value(value)})" if key is None else f"[{self.value(key)}, {self.value(value)}]"
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return f"new Map([{', '.join(parts)}])"

    def of_BinOp(self, node: ast.BinOp) -> str:
        operator = OPERATORS.get(type(node.op))
        if operator is None:
            raise self.refused(node, type(node.op).__name__)
        return f"py.{operator}({self.value(node.left)}, {self.value(node.right)})"

    def of_UnaryOp(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{self.truth(node.operand)}"
        if not isinstance(node.op, ast.USub):
            raise self.refused(node, type(node.op).__name__)
        return f"(-{self.value(node.operand)})"

    def of_BoolOp(self, node: ast.BoolOp) -> str:
        name = "both" if isinstance(node.op, ast.And) else "either"
        text = self.value(node.values[-1])
        for one in reversed(node.values[:-1]):
            text = f"py.{name}({self.value(one)}, () => {text})"
        return text

    def of_Compare(self, node: ast.Compare) -> str:
        first, operator, second = node.left, node.ops[0], node.comparators[0]
        if len(node.ops) == 1:
            return "(" + COMPARED[type(operator)](self.value(first), self.value(second)) + ")"
        middle = ast.Name(id="between_")
        rest = self.of_Compare(ast.Compare(left=middle, ops=node.ops[1:], comparators=node.comparators[1:]))
        here = COMPARED[type(operator)](self.value(first), "between_")
        return f"((between_) => {here} && {rest})({self.value(second)})"

    def of_IfExp(self, node: ast.IfExp) -> str:
        return f"({self.truth(node.test)} ? {self.value(node.body)} : {self.value(node.orelse)})"

    def of_Subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Slice):
            return f"py.slice({self.value(node.value)}, {self.slice(node.slice)})"
        return f"py.at({self.value(node.value)}, {self.value(node.slice)})"

    def slice(self, node: ast.Slice) -> str:
        return ", ".join(self.value(part) if part else "null" for part in (node.lower, node.upper, node.step))

    def of_Attribute(self, node: ast.Attribute) -> str:
        if not (isinstance(node.value, ast.Name) and node.value.id == "math"):
            raise self.refused(node, f"the attribute {node.attr}")
        return f"math.{node.attr}"

    def of_Lambda(self, node: ast.Lambda) -> str:
        return f"(({self.parameters(node.args)}) => {self.value(node.body)})"

    def of_Call(self, node: ast.Call) -> str:
        arguments = list(map(self.element, node.args))
        called = node.func
        if isinstance(called, ast.Attribute) and not (isinstance(called.value, ast.Name) and called.value.id == "math"):
            if called.attr not in METHODS or node.keywords:
                raise self.refused(node, f"the method {called.attr}")
            return f"py.methods.{called.attr}({', '.join([self.value(called.value), *arguments])})"
        if isinstance(called, ast.Name) and called.id in BUILTINS and called.id not in self.names:
            if node.keywords:
                arguments.append(
                    f"py.named({{ {', '.join(f'{k.arg}: {self.value(k.value)}' for k in node.keywords)} }})"
                )
        elif node.keywords:
            arguments = self.in_order(node, arguments)
        return f"{self.value(called)}({', '.join(arguments)})"

    def in_order(self, node: ast.Call, arguments: list[str]) -> list[str]:
        """Keyword arguments at the places where the function has them."""
        signature = self.signatures.get(node.func.id) if isinstance(node.func, ast.Name) else None
        named = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if signature is None or not set(named) <= set(signature):
            raise self.refused(node, f"a call with the keywords {sorted(named)} of a function that is not known here")
        rest = signature[len(arguments) :]
        last = max(rest.index(name) for name in named)
        return arguments + [named.get(name, "undefined") for name in rest[: last + 1]]

    def of_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(json.dumps(part.value, ensure_ascii=False))
            elif isinstance(part, ast.FormattedValue) and part.conversion == -1:
                form = self.of_JoinedStr(part.format_spec) if isinstance(part.format_spec, ast.JoinedStr) else '""'
                parts.append(f"py.format({self.value(part.value)}, {form})")
            else:
                raise self.refused(part)
        return "(" + " + ".join(['""', *parts]) + ")"

    def of_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        return self.comprehension(node.generators, f"made_.push({self.value(node.elt)});", "[]")

    of_GeneratorExp = of_ListComp

    def of_SetComp(self, node: ast.SetComp) -> str:
        return self.comprehension(node.generators, f"made_.add({self.value(node.elt)});", "new Set()")

    def of_DictComp(self, node: ast.DictComp) -> str:
        entry = f"made_.set({self.value(node.key)}, {self.value(node.value)});"
        return self.comprehension(node.generators, entry, "new Map()")

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


def _parameters(node: ast.FunctionDef) -> Signature:
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _safe(name: str) -> str:
    return f"{name}_" if name in RESERVED else name

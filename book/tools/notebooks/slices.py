"""The statements of a chapter that a piece of its code needs: imports, definitions, what these need in turn."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statement:
    """One statement of a chapter's cells, with the names that it binds and the names that it reads."""

    source: str
    node: ast.stmt
    binds: frozenset[str]
    reads: frozenset[str]  # when it runs
    later: frozenset[str]  # when what it defines is called


def statements(cells: Iterable[str]) -> list[Statement]:
    """Split cells into statements."""
    found = []
    for cell in cells:
        lines = cell.splitlines()
        for node in ast.parse(cell).body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            found.append(_statement("\n".join(lines[first - 1 : node.end_lineno]), node))
    return found


def _statement(source: str, node: ast.stmt) -> Statement:
    names = _Names()
    names.visit(node)
    return Statement(source, node, frozenset(names.binds), frozenset(names.reads), frozenset(names.later))


@dataclass
class Slice:
    """What code needs: imports as (module, name, alias), and statements in the order of the chapter."""

    imports: set[tuple[str, str, str]] = field(default_factory=set)
    chosen: list[Statement] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)


def needed(code: Iterable[str], chapter: list[Statement], known: Iterable[str] = ()) -> Slice:
    """What of a chapter must run before these cells, in its order; names in ``known`` are there already."""
    result, picked = Slice(), set()
    have = set(known) | set(dir(builtins))
    waiting = [(name, len(chapter)) for name in sorted(unbound(code, have))]
    seen = set(waiting)
    while waiting:
        name, before = waiting.pop()
        at = next((i for i in range(before - 1, -1, -1) if name in chapter[i].binds), None)
        if at is None:
            result.missing.add(name)
            continue
        statement = chapter[at]
        if isinstance(statement.node, (ast.Import, ast.ImportFrom)):
            result.imports.add(_imported(statement.node, name))
            continue
        picked.add(at)
        more = [(n, at) for n in statement.reads] + [(n, len(chapter)) for n in statement.later]
        waiting += [need for need in more if need[0] not in have and need not in seen]
        seen |= set(more)
    result.chosen = [chapter[i] for i in sorted(picked)]
    return result


def unbound(cells: Iterable[str], known: Iterable[str]) -> set[str]:
    """Names that cells read before they bind them, or that their functions read and nobody binds."""
    have, missing, later = set(known), set(), set()
    for statement in statements(cells):
        missing |= statement.reads - have
        have |= statement.binds
        later |= statement.later
    return missing | (later - have)


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> tuple[str, str, str]:
    alias = next(a for a in node.names if (a.asname or a.name.split(".")[0]) == name)
    if isinstance(node, ast.Import):
        return alias.name, "", alias.asname or ""
    return node.module or "", alias.name, alias.asname or ""


def import_lines(imports: Iterable[tuple[str, str, str]], width: int = 88) -> list[str]:
    """Import statements: the standard library and others first, then the book's own package."""
    plain, members = set(), {}
    for module, member, alias in imports:
        suffix = f" as {alias}" if alias else ""
        if member:
            members.setdefault(module, set()).add(f"{member}{suffix}")
        else:
            plain.add(f"import {module}{suffix}")
    lines = sorted(plain)
    for module in sorted(members):
        line = f"from {module} import {', '.join(sorted(members[module]))}"
        if len(line) > width:
            line = f"from {module} import (\n    " + ",\n    ".join(sorted(members[module])) + ",\n)"
        lines.append(line)
    return [line for line in lines if "rankedu" not in line] + [line for line in lines if "rankedu" in line]


def joined(chosen: Iterable[Statement]) -> str:
    """Statements as one cell, with two empty lines around what is defined."""
    text, before = "", False
    for statement in chosen:
        defines = isinstance(statement.node, (ast.FunctionDef, ast.ClassDef))
        text += ("\n\n" if text and (defines or before) else "") + statement.source + "\n"
        before = defines
    return text.strip()


class _Names(ast.NodeVisitor):
    """Collects names; what stands in the body of a function is read later, less what is local there."""

    def __init__(self) -> None:
        self.binds: set[str] = set()
        self.reads: set[str] = set()
        self.later: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id not in self.binds:
                self.reads.add(node.id)
        else:
            self.binds.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        for child in (*node.body, *node.orelse):
            self.visit(child)

    def visit_alias(self, node: ast.alias) -> None:
        self.binds.add(node.asname or node.name.split(".")[0])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(part)
        self.binds.add(node.name)
        self.later |= self._inside(node.args, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in node.args.defaults:
            self.visit(part)
        self.later |= self._inside(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        inner = _Names()
        for child in node.body:
            inner.visit(child)
        self.reads |= inner.reads - self.binds
        self.binds.add(node.name)
        self.later |= inner.later - {node.name}

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        inner = _Names()
        for part in node.generators:
            inner.visit(part.iter)
            inner.visit(part.target)
            for condition in part.ifs:
                inner.visit(condition)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for element in parts:
            inner.visit(element)
        self.reads |= inner.reads - self.binds
        self.later |= inner.later - inner.binds

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    @staticmethod
    def _inside(arguments: ast.arguments, body: list[ast.stmt] | list[ast.expr]) -> set[str]:
        inner = _Names()
        inner.binds |= {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        inner.binds |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
        for child in body:
            inner.visit(child)
        return (inner.reads | inner.later) - inner.binds

"""The statements of a chapter that a piece of its code needs: imports, definitions, what these need in turn."""

import ast
import builtins
import symtable
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statement:
    """One statement of a chapter's cells, with the names that it binds and the names that it reads."""

    source: str
    node: ast.stmt
    binds: set[str]
    reads: set[str]  # when it runs
    within: set[str]  # in what it defines, and in comprehensions


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
    table = symtable.symtable(source, "cell", "exec")
    binds = {name.get_name() for name in table.get_symbols() if name.is_assigned() or name.is_imported()}
    reads = {name.get_name() for name in table.get_symbols() if name.is_referenced()}
    if isinstance(node, (ast.For, ast.With, ast.If, ast.Try)):  # it may read what it has bound itself
        reads -= binds
    added = (inner.target for inner in ast.walk(node) if isinstance(inner, ast.AugAssign))
    reads |= binds & {target.id for target in added if isinstance(target, ast.Name)}
    return Statement(source, node, binds, reads, set(_within(table)) - binds)


def _within(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that are read inside of a scope."""
    for child in table.get_children():
        yield from (name.get_name() for name in child.get_symbols() if name.is_global() and name.is_referenced())
        yield from _within(child)


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
        binding = [at for at, statement in enumerate(chapter) if name in statement.binds]
        if not binding:
            result.missing.add(name)
            continue
        at = max((at for at in binding if at < before), default=binding[-1])
        statement = chapter[at]
        if isinstance(statement.node, (ast.Import, ast.ImportFrom)):
            result.imports.add(_imported(statement.node, name))
            continue
        picked.add(at)
        more = {(name, at) for name in (statement.reads | statement.within) - have} - seen
        waiting += more
        seen |= more
    result.chosen = [chapter[i] for i in sorted(picked)]
    return result


def unbound(cells: Iterable[str], known: Iterable[str]) -> set[str]:
    """Names that cells read before they bind them, or that what they define reads and nobody binds."""
    have, missing, within = set(known), set(), set()
    for statement in statements(cells):
        missing |= statement.reads - have
        have |= statement.binds
        within |= statement.within
    return missing | (within - have)


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> tuple[str, str, str]:
    alias = next(a for a in node.names if (a.asname or a.name.split(".")[0]) == name)
    if isinstance(node, ast.Import):
        return alias.name, "", alias.asname or ""
    return node.module or "", alias.name, alias.asname or ""


def import_lines(imports: Iterable[tuple[str, str, str]], width: int = 88) -> list[str]:
    """Import statements: the standard library and others first, then the book's own package."""
    lines, members = [], defaultdict(list)
    for module, member, alias in sorted(imports):
        suffix = f" as {alias}" if alias else ""
        if member:
            members[module].append(f"{member}{suffix}")
        else:
            lines.append(f"import {module}{suffix}")
    for module, names in members.items():
        line = f"from {module} import {', '.join(names)}"
        lines.append(line if len(line) <= width else f"from {module} import (\n    " + ",\n    ".join(names) + ",\n)")
    return sorted(lines, key=lambda line: "rankedu" in line)


def joined(chosen: Iterable[Statement]) -> str:
    """Statements as one cell, with two empty lines around what is defined."""
    text, before = "", False
    for statement in chosen:
        defines = isinstance(statement.node, (ast.FunctionDef, ast.ClassDef))
        text += ("\n\n" if text and (defines or before) else "") + statement.source + "\n"
        before = defines
    return text.strip()

"""What the outputs of a notebook depend on, so that one can ask whether they are current without running anything.

The outputs of a notebook depend on

* the modules of ours from which its cells import a name,
* the modules from which the chapter's own package, such as `rankedu_book/ch07_recall_loss`, imports a name,
* the data and the figures to play with that the cells and these modules name,
* the libraries that compute and draw, in the versions of `constraints.txt`.

Modules further away do not count. A change there rarely changes what a chapter prints, and where it does
`make validate`, which executes every chapter, finds it.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Package → the folder that it lies in.
PACKAGES = {"rankedu": ROOT, "rankedu_lab": ROOT / "lab", "rankedu_book": ROOT / "book"}
#: Libraries whose version shapes what a cell prints or draws.
LIBRARIES = {
    *("torch", "torchvision", "numpy", "scipy", "sympy", "matplotlib", "pillow"),
    *("scikit-learn", "pytorch-metric-learning", "torchmetrics"),
}
#: Paths of data: `… / "book" / "data" / "printed"`, `… / "lab" / "records"`, `Path(__file__).parent / "letters.npz"`.
_PATH = re.compile(r"(Path\(__file__\)\.parent|'book' / 'data'|'lab' / 'records')((?: / '[^']+')*)")
_FIGURE = re.compile(r"\bplay\('([\w-]+)'")
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$", re.DOTALL | re.MULTILINE)


def made_from(text: Path) -> set[Path]:
    """The files on which the outputs of a chapter or another executed page depend."""
    own = {path for path in imported(text) if path.parent.name.startswith(("ch", "lab_"))}
    own |= {*(ROOT / "book" / "rankedu_book" / f"ch{text.stem}").glob("exercises.py")}  # `check` finds them by name
    for _ in range(2):  # a figure may use a study of its chapter
        own |= {near for path in own for near in imported(path) if near.parent == path.parent}
    modules = {text, *own}.union(*map(imported, (text, *own)))
    return (modules - {text}).union(*map(data, modules))


def reached(*files: Path) -> set[Path]:
    """All modules of ours that are imported when these files run, however indirectly, and the files themselves."""
    found: set[Path] = set()
    waiting = set(files)
    while waiting:
        found |= waiting
        near = {one for path in waiting if path.suffix in (".py", ".md") for one in imported(path)}
        around = {folder / "__init__.py" for path in near for folder in path.parents if folder / "__init__.py" != path}
        waiting = {one for one in near | around if one.is_file()} - found
    return found


def hashed(paths: Iterable[Path], *more: str, whole: bool = False) -> str:
    """One hash of files, by their places in the repository, and of more text; of Python its code alone, or all."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(paths):
        place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
        content = path.read_bytes() if whole or path.suffix != ".py" else code(path)
        digest.update(place.as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:20]


def pins() -> str:
    """The lines of `constraints.txt` that name one of the libraries."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0].lower() in LIBRARIES)


@cache
def code(path: Path) -> bytes:
    """The code of a module without comments and docstrings; all of a module that shows its docstrings."""
    content = path.read_bytes()
    if path.name == "reference.py" or b"__doc__" in content:
        return content
    found = ast.parse(content)
    for node in ast.walk(found):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(found).encode()


@cache
def tree(path: Path) -> ast.Module:
    """The code of a module, or of the cells of a text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = "\n".join(re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE) for cell in _CELL.findall(text))
    return ast.parse(text)


@cache
def imported(path: Path) -> frozenset[Path]:
    """The modules in which the names are defined that a module, or the cells of a text, take from our packages."""
    bound: dict[str, str] = {}  # what a name stands for
    nodes = list(walk(tree(path)))
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                bound |= {one.asname: one.name} if one.asname else {one.name: one.name, one.name.split(".")[0]: ""}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            bound |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    dotted = {*bound.values()}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            dotted |= {f"{bound[first] or first}.{rest}"} if first in bound else set()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # such as "rankedu.ranks:rank"
            dotted.add(node.value.replace(":", "."))
    return frozenset(filter(None, map(home, dotted)))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from walk(child)


@cache
def home(name: str) -> Path | None:
    """The file of ours that defines a dotted name, wherever a package may have it from; None if it is not ours."""
    parts = name.split(".")
    if parts[0] not in PACKAGES or not all(map(str.isidentifier, parts)):
        return None
    for depth in range(len(parts), 0, -1):
        place = PACKAGES[parts[0]].joinpath(*parts[:depth])
        if place.with_suffix(".py").is_file():
            return place.with_suffix(".py")
        if (package := place / "__init__.py").is_file():
            taken = offered(package).get(".".join(parts[depth : depth + 1]))
            return (taken and home(taken)) or package
    return None


@cache
def offered(package: Path) -> dict[str, str]:
    """The names that a package has from its modules, at once or at their first use, and where they come from."""
    taken = [node for node in ast.walk(tree(package)) if isinstance(node, ast.ImportFrom)]
    return {one.asname or one.name: f"{node.module}.{one.name}" for node in taken for one in node.names}


@cache
def data(path: Path) -> frozenset[Path]:
    """The files, and the folders with all files in them, that a piece of code names; and its figures to play with."""
    text = "\n".join(ast.unparse(node) for node in tree(path).body)
    found: set[Path] = set()
    for base, below in _PATH.findall(text):
        names, beside = re.findall(r"'([^']+)'", below), base.startswith("Path")
        place = (path.parent if beside else ROOT.joinpath(*re.findall(r"\w+", base))).joinpath(*names)
        if names or (path.suffix == ".md" and not beside):  # a text names all that it reads, a module may add a name
            found |= {place} if beside or place.is_file() else {*place.rglob("*")}
    figures = ROOT / "book" / "_static" / "figures"
    found |= {figures / f"{name}{ending}" for name in _FIGURE.findall(text) for ending in (".js", ".png")}
    return frozenset(one for one in found if one.is_file() and ".locks" not in one.parts)

"""What the outputs of a notebook depend on, so that one can ask whether they are current without running anything.

The outputs of a notebook depend on

* the modules of ours that define the names which its cells import,
* the modules that define what its chapter's own package, such as `rankedu_book/ch07_recall_loss`, imports,
* the data and the figures to play with that the cells and these modules name,
* the libraries that compute and draw, in the versions of `constraints.txt`.

Modules further away do not count. A change there rarely changes what a chapter prints, and where it does
`make validate`, which executes every chapter, finds it.
"""

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
#: Package → the folder that it lies in.
PACKAGES = {"rankedu": ROOT, "rankedu_lab": ROOT / "lab", "rankedu_book": BOOK}
#: Libraries whose version shapes what a cell prints or draws.
LIBRARIES = {
    *("torch", "torchvision", "numpy", "scipy", "sympy", "matplotlib", "pillow"),
    *("scikit-learn", "pytorch-metric-learning", "torchmetrics"),
}
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$", re.DOTALL | re.MULTILINE)


def made_from(text: Path) -> set[Path]:
    """Return the files on which the outputs of a chapter or another executed page depend."""
    own = {path for path in imported(text) if path.parent.name.startswith(("ch", "lab_"))}
    own |= {*(BOOK / "rankedu_book" / f"ch{text.stem}").glob("exercises.py")}  # `check` finds them by name
    for _ in range(2):  # a figure may use a study of its chapter
        own |= {near for path in own for near in imported(path) if near.parent == path.parent}
    modules = {text, *own}.union(*map(imported, (text, *own)))
    return (modules - {text}).union(*map(used, modules))


def hashed(paths: Iterable[Path], *more: str, whole: bool = False) -> str:
    """Return one hash of files, by their places in the repository, and of text; of Python its code alone, or all."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(paths):
        place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
        content = path.read_bytes() if whole or path.suffix != ".py" else code(path)
        digest.update(place.as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:20]


def pins() -> str:
    """Return the lines of `constraints.txt` that name one of the libraries."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0].lower() in LIBRARIES)


@cache
def code(path: Path) -> bytes:
    """Return the code of a module without comments and docstrings; all of a module that shows its docstrings."""
    content = path.read_bytes()
    if path.name == "reference.py" or b"__doc__" in content:
        return content
    found = ast.parse(content)
    for node in ast.walk(found):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(found).encode()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module, or of the cells of a text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = "\n".join(re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE) for cell in _CELL.findall(text))
    return tuple(ast.walk(ast.parse(text)))


@cache
def imported(path: Path) -> frozenset[Path]:
    """Return the modules that define the names which a module, or the cells of a text, take from our packages."""
    bound: dict[str, str] = {}  # what a name stands for
    for node in nodes(path):
        if isinstance(node, ast.Import):
            bound |= {one.asname: one.name for one in node.names if one.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            bound |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    plain = {one.name for node in nodes(path) if isinstance(node, ast.Import) for one in node.names}
    dotted = {*bound.values(), *(name for name in plain if "." in name)}
    for node in nodes(path):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            dotted |= {f"{bound.get(first, first)}.{rest}"} if first in {*bound, *plain} else set()
    return frozenset(filter(None, map(home, dotted)))


@cache
def home(name: str) -> Path | None:
    """Return the file of ours that defines a dotted name, wherever a package may have it from; None if none does."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1) if parts[0] in PACKAGES and all(map(str.isidentifier, parts)) else ():
        place = PACKAGES[parts[0]].joinpath(*parts[:depth])
        if place.with_suffix(".py").is_file():
            return place.with_suffix(".py")
        if (package := place / "__init__.py").is_file():
            taken = [node for node in nodes(package) if isinstance(node, ast.ImportFrom)]
            offered = {one.asname or one.name: f"{node.module}.{one.name}" for node in taken for one in node.names}
            return home(offered.get(".".join(parts[depth : depth + 1]), "")) or package
    return None


@cache
def used(path: Path) -> frozenset[Path]:
    """Return the data of ours and the figures to play with that a piece of code names."""
    texts = [node.value for node in nodes(path) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    files = [name for name in texts if re.fullmatch(r"[\w-]+\.[a-z]+", name)]
    places = [folder / name for folder in (path.parent, BOOK / "data", ROOT / "lab" / "records") for name in files]
    if path.is_relative_to(BOOK) and "printed" in texts:  # a folder
        places += (BOOK / "data" / "printed").iterdir()
    calls = [ast.unparse(node) for node in nodes(path) if isinstance(node, ast.Call)]
    figures = [call[6:-2] for call in calls if re.fullmatch(r"play\('[\w-]+'\)", call)]
    places += [BOOK / "_static" / "figures" / f"{name}{ending}" for name in figures for ending in (".js", ".png")]
    return frozenset(filter(Path.is_file, places))

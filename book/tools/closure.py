"""What a chapter, an explorable or a module is made from: the code that it imports and the data that this code reads.

Found by reading the source, so that it can be asked for without running anything.
"""

import ast
import re
from functools import cache
from pathlib import Path

from rankedu_lab.runs import code
from rankedu_lab.runs.code import CHECKOUT as ROOT
from rankedu_lab.runs.code import hashed

#: Libraries whose version shapes what a cell prints or draws.
LIBRARIES = {
    *("torch", "torchvision", "numpy", "scipy", "sympy", "matplotlib", "pillow"),
    *("scikit-learn", "pytorch-metric-learning", "torchmetrics"),
}
#: Paths of data: `… / "book" / "data" / "printed"`, `… / "lab" / "records"`, `Path(__file__).parent / "live.css"`.
_PATH = re.compile(r"(Path\(__file__\)\.parent|'book' / 'data'|'lab' / 'records')((?: / '[^']+')*)")
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$", re.DOTALL | re.MULTILINE)


def fingerprint(*files: Path) -> str:
    """A hash of all that these files are made from, and of the libraries as they are pinned, not as they are here."""
    return hashed(closure(*files), pins())


def pins() -> str:
    """The lines of `constraints.txt` that name one of the libraries."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0].lower() in LIBRARIES)


def closure(*files: Path) -> set[Path]:
    """The files themselves, every module of ours that they import however indirectly, and the data they read."""
    trees = {path: tree(path) for path in files if path.suffix == ".md"}
    named = {module for tree in trees.values() for module in code.imported(tree)}
    modules = code.closure(*named, *(path for path in files if path.suffix == ".py"))
    trees |= {path: tree(path) for path in modules}
    return {*files, *modules}.union(*(_data(path, tree) for path, tree in trees.items()))


@cache
def tree(path: Path) -> ast.Module:
    """The code of a module, or of the cells of a text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = "\n".join(re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE) for cell in _CELL.findall(text))
    return ast.parse(text)


def _data(module: Path, tree: ast.Module) -> set[Path]:
    """The files that the paths in a piece of code lead to; of a folder, all that lie in it."""
    found = set()
    for base, below in _PATH.findall("\n".join(ast.unparse(node) for node in tree.body)):
        names = re.findall(r"'([^']+)'", below)
        beside = base.startswith("Path")
        folder = module.parent if beside else ROOT.joinpath(*re.findall(r"\w+", base))
        place = folder.joinpath(*names)
        if names or (module.suffix == ".md" and not beside):  # a text says just what it reads, code may only lead there
            found |= {path for path in ([place] if beside or place.is_file() else place.rglob("*")) if path.is_file()}
    return {path for path in found if ".locks" not in path.parts}  # which are no data

"""The first cell of a notebook from the book, which installs everything where nothing is installed.

It fetches the repository at the commit of the page, and installs what the code of this notebook imports of the extra
`lab`, except torch: without torch, the commands of the README are the better way.
"""

import ast
import importlib.metadata
import re
from functools import cache
from pathlib import Path

from tools.closure import reached, tree, walk

#: Packages that are never installed again.
_THERE = {"torch", "numpy"}
#: `glue` needs these two, but not their dependencies, which only build books and take half of the time.
_ALONE = ["docutils", "myst-nb"]
CELL = """\
# Where the book is installed, this cell does nothing. Elsewhere (on Colab, on Kaggle, in an empty folder with torch and
# Jupyter) it fetches the book's code and installs what this notebook needs.
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("rankedu_book") is None:
    home = Path("rankedu-book").resolve()
    if not (home / "rankedu").exists():
        for words in ("init", "fetch --depth 1 {address} {commit}", "checkout FETCH_HEAD"):
            command, *more = words.split()
            home.mkdir(exist_ok=True)
            subprocess.run(["git", "-C", str(home), command, "--quiet", *more], check=True)
    for needs in ({needs}, ["--no-deps", *{alone}]):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *needs], check=True)
    found = [str(home), str(home / "lab"), str(home / "book")]
    sys.path[:0] = found
    os.environ["PYTHONPATH"] = os.pathsep.join(found)"""


@cache
def declared() -> dict[str, str]:
    """Return the requirements of the extra `lab` by the names of the distributions."""
    listed = [one.partition(";") for one in importlib.metadata.requires("rankedu") or []]
    wanted = [need.strip() for need, _, when in listed if re.search("'(lab|cli|vision)'|\"(lab|cli|vision)\"", when)]
    return {re.split(r"[<>=!~\[]", need)[0].lower(): need for need in wanted if not need.startswith("rankedu")}


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the names of the packages that a module, or the cells of a text, import."""
    nodes = list(walk(tree(path)))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return frozenset(name.partition(".")[0] for name in named)


@cache
def distributions() -> dict[str, list[str]]:
    """Return the distributions that provide each package, as they are spelled in requirements."""
    found = importlib.metadata.packages_distributions()
    return {module: [name.lower().replace("_", "-") for name in names] for module, names in found.items()}


def needs(text: Path) -> list[str]:
    """Return the requirements of the extra `lab` that the code of a text imports, directly or indirectly."""
    modules = {name for path in reached(text) for name in imports(path)}
    names = {name for module in modules for name in distributions().get(module, [])}
    return sorted(declared()[name] for name in (names & declared().keys()) - _THERE - {*_ALONE})


def source(text: Path, address: str, commit: str) -> str:
    """Return the code of the cell for the notebook of a text."""
    return CELL.format(address=address, commit=commit.removesuffix("-dirty"), needs=needs(text), alone=_ALONE)

"""The index of equations: items that papers number, code that implements them, and their places in the book.

Three sources, which must agree: `data/sources.yaml` lists what is printed, the `References` of the docstrings and the
`@paper_figure` decorators say what a function implements, the paper maps say where it is explained and tested.
"""

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.closure import PACKAGES
from tools.site import form

ROOT = Path(__file__).resolve().parents[3]
#: The sources in a docstring: the first paragraph of the references, or a line that begins with "Source:".
_SOURCE = re.compile(r"^(?:Source: |(?:Source|References)\n-+\n)(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_MAP = re.compile(r"^## Paper map\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


class Paper(NamedTuple):
    """A paper of the index."""

    name: str
    title: str
    cite: str
    versions: str
    since: bool = False  # later than the five papers of the book, and not listed in full


class Item(NamedTuple):
    """An item that a paper numbers."""

    paper: str
    number: str  # with its kind, such as "Eq. 4"
    name: str
    also: str = ""  # the name in other versions, or what they print differently
    parts: tuple[str, ...] = ()  # items of the same paper
    why: str = ""  # the reason if the book does not treat it

    @property
    def source(self) -> str:
        """Return its full name, such as ``RaMBO Eq. 4``."""
        return f"{self.paper} {self.number}"


@dataclass(frozen=True)
class MapRow:
    """One row of the paper map of a chapter, a lab or another page."""

    page: str  # such as chapters/01_rank_based_metrics
    source: str
    here: str
    function: str
    test: str


@cache
def printed() -> tuple[tuple[Paper, tuple[Item, ...]], ...]:
    """Return the papers with their numbered items, in the order of `sources.yaml`."""
    found = []
    for one in yaml.safe_load((ROOT / "book" / "data" / "sources.yaml").read_text(encoding="utf-8")):
        versions = " ".join(one["versions"].split())
        paper = Paper(one["paper"], one["title"], one["cite"], versions, one.get("since", False))
        found.append((paper, tuple(_item(paper.name, *pair) for pair in one["items"].items())))
    return tuple(found)


def _item(paper: str, number: str, entry: str | dict[str, Any]) -> Item:
    about = {"name": entry} if isinstance(entry, str) else entry
    return Item(paper, number, **{**about, "parts": tuple(about.get("parts", ()))})


def items() -> tuple[Item, ...]:
    """Return all numbered items of all papers."""
    return tuple(item for _, listed in printed() for item in listed)


@cache
def claims() -> tuple[tuple[str, str], ...]:
    """Return pairs of source and dotted name, from the `References` of docstrings and from `@paper_figure`."""
    found = []
    packages = [(folder, path) for name, folder in PACKAGES.items() for path in (folder / name).rglob("*.py")]
    for folder, path in packages:
        module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
                continue
            match = _SOURCE.search(ast.get_docstring(node) or "")
            listed = " ".join(match[1].split()).split(";") if match else []
            sources = [item.strip().removesuffix(".") for item in listed]
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "paper_figure":
                    sources.append(ast.literal_eval(decorator.args[0]))
            found += [(source, f"{module}.{node.name}") for source in dict.fromkeys(sources)]
    return tuple(sorted(found))


@cache
def paper_maps() -> tuple[MapRow, ...]:
    """Return the rows of all paper maps: of chapters, labs and other pages."""
    rows = []
    for pattern in ("chapters/*.md", "labs/*.md", "*.md"):
        for path in sorted((ROOT / "book").glob(pattern)):
            section = _MAP.search(form.text(path))
            lines = re.findall(r"^\|(.*)\|\s*$", section[1], re.MULTILINE) if section else []
            page = path.relative_to(ROOT / "book").with_suffix("").as_posix()
            for line in lines[2:]:
                source, here, function, test = (cell.strip() for cell in line.split("|"))
                rows.append(MapRow(page, source, here, function.strip("`"), test.strip("`")))
    return tuple(rows)


@cache
def same(short: str, full: str) -> bool:
    """Return whether a paper map's name, such as `rankedu.rank`, is the function `rankedu.ranks.rank`."""
    if short == full or (short.split(".")[-1] == full.split(".")[-1] and full.startswith(short.rsplit(".", 1)[0])):
        return True
    module, _, name = short.rpartition(".")
    found = getattr(importlib.import_module(module), name, None) if module.split(".")[0] in PACKAGES else None
    return full == f"{getattr(found, '__module__', None)}.{name}"  # a package may offer a name of a private module

"""What the papers number: the list in `data/sources.yaml`, and how a source is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("Eq.", "Alg.", "Thm.", "Prop.", "Lemma", "Fig.", "Tab.", "Sec.", "Fn.")
_NUMBER = re.compile(r"[A-Z]?\d+(?:\.\d+)*[a-z]?|[A-Z]")


@dataclass(frozen=True)
class Paper:
    """One of the texts."""

    name: str
    title: str
    cite: str
    versions: str


@dataclass(frozen=True)
class Item:
    """Something that a paper numbers."""

    paper: str
    number: str  # with its kind, such as "Eq. 4"
    name: str
    also: str = ""  # what other versions call it, or print differently
    parts: tuple[str, ...] = ()  # items of the same paper
    why: str = ""  # it is not treated

    @property
    def source(self) -> str:
        """Its full name, such as ``RaMBO Eq. 4``."""
        return f"{self.paper} {self.number}"


@cache
def printed() -> tuple[tuple[Paper, tuple[Item, ...]], ...]:
    """The papers, and the items that each of them numbers, in the order of `sources.yaml`."""
    listed = yaml.safe_load((ROOT / "book" / "data" / "sources.yaml").read_text(encoding="utf-8"))
    return tuple((_paper(one), tuple(_item(one["paper"], *pair) for pair in one["items"].items())) for one in listed)


def _paper(entry: Mapping[str, Any]) -> Paper:
    return Paper(entry["paper"], entry["title"], entry["cite"], " ".join(entry["versions"].split()))


def _item(paper: str, number: str, entry: str | Mapping[str, Any]) -> Item:
    about = {"name": entry} if isinstance(entry, str) else dict(entry)
    return Item(paper, number, **{**about, "parts": tuple(about.get("parts", ()))})


def items() -> tuple[Item, ...]:
    """Everything that the papers number."""
    return tuple(item for _, listed in printed() for item in listed)


def sort_key(source: str) -> tuple[int, int, str]:
    """Papers in the book's order, then kinds, then numbers; raises ValueError for what is none of them."""
    papers = [paper.name for paper, _ in printed()]
    paper = max((name for name in papers if source.startswith(name + " ")), key=len, default=None)
    if paper is None:
        raise ValueError(f"source must start with one of {papers}, got {source!r}")
    kind, _, number = source.removeprefix(paper + " ").partition(" ")
    if kind not in KINDS or not _NUMBER.fullmatch(number):
        raise ValueError(f"source must read '<paper> <one of {KINDS}> <number>', got {source!r}")
    return papers.index(paper), KINDS.index(kind), re.sub(r"\d+", lambda digits: digits[0].zfill(3), number)

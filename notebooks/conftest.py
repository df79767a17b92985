"""How nbval compares the outputs of a notebook: text to the letter, numbers as far as their digits mean something.

Processors add in different orders, so the last digits of a sum are another machine's. A number with a decimal point is
taken for the committed one if it differs by a 100,000th of it at most, or, where four digits or more are shown, by
one in the last of them. Integers, words and numbers of one to three digits must be the same.
"""

from __future__ import annotations

import os
import re
from copy import deepcopy
from typing import Any

import pytest

RELATIVE = 1e-5
#: As in the committed notebooks, sliders show one picture.
os.environ["RANKEDU_EXPLORABLES"] = "static"
#: What is not compared: a picture that a prediction holds back, and the file name that a kernel gives to a cell.
_OTHER = re.compile(r"(?<=data:image/png;base64,)[^\"]*|(?:/[^\s\"]*/ipykernel_\d+/\d+|\bcell)\.py")
_NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)")


def settled(found: str, committed: str) -> str:
    """The text found, with the committed numbers in the place of those that mean the same."""
    if _NUMBER.sub("0", found) != _NUMBER.sub("0", committed):
        return found
    pairs = iter(list(zip(_NUMBER.findall(found), _NUMBER.findall(committed), strict=True)))

    def number(_: re.Match[str]) -> str:
        ours, theirs = next(pairs)
        return theirs if same(ours, theirs) else ours

    return _NUMBER.sub(number, found)


def same(one: str, other: str) -> bool:
    """Whether two numbers, as they are written, mean the same."""
    values = [float(number.replace("−", "-")) for number in (one, other)]
    difference, size = abs(values[0] - values[1]), max(map(abs, values))
    if difference <= RELATIVE * size:
        return True
    parts = [re.fullmatch(r"[-−+]?(\d+)\.(\d+)(?:[eE]([-+]?\d+))?", number) for number in (one, other)]
    if not all(parts) or len({(len(part[2]), part[3]) for part in parts}) > 1:
        return False
    digits = min(len((part[1] + part[2]).lstrip("0")) for part in parts)
    unit = 10.0 ** (int(parts[0][3] or 0) - len(parts[0][2]))
    return digits >= 4 and difference < 1.5 * unit


def settled_outputs(found: list[dict[str, Any]], committed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs of a cell with the committed numbers where they mean the same."""
    found = deepcopy(found)
    for ours, theirs in zip(found, committed, strict=False):
        for place, reference in ((ours, theirs), (ours.get("data", {}), theirs.get("data", {}))):
            for key, text in place.items():
                if isinstance(text, str) and isinstance(reference.get(key), str) and not key.startswith("image/"):
                    place[key] = settled(text, reference[key])
                    if _OTHER.sub("", place[key]) == _OTHER.sub("", reference[key]):
                        place[key] = reference[key]
    return found


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let every cell of a notebook be compared so."""
    if hasattr(item, "compare_outputs"):
        compare = item.compare_outputs

        def compared(found: Any, committed: Any, skip_compare: Any = None) -> bool:
            return bool(compare(settled_outputs(found, committed), committed, skip_compare))

        item.compare_outputs = compared

"""The settings on the page "Use it in your project": as printed, and what a search of the claims chose."""

from functools import cache
from typing import Any, NamedTuple

import yaml

from ranklab.claims import read_protocol, read_searches
from tools.results.claims import best_point
from tools.results.papers import DATA

#: Of the claims, whose searches fit what the page is for.
SCALES = ("cpu", "detection")
#: How the page calls the parameters of the labs.
NAMES = {"lr": "learning rate", "lam": "λ", "temperature": "τ"}


class Choice(NamedTuple):
    """A row of `data/use_it.yaml`."""

    want: str
    code: str
    settings: str
    chapters: tuple[int, ...]
    arm: str


CHOICES = [Choice(**row) for row in yaml.safe_load((DATA / "use_it.yaml").read_text(encoding="utf-8"))]


def markdown() -> str:
    """The code of each choice, how to set it, what the search of the claims chose, and where it is explained."""
    return "\n".join(map(explained, CHOICES))


def explained(choice: Choice) -> str:
    """One of them."""
    numbers = " and ".join(f"[{number}](ch-{number:02d})" for number in choice.chapters)
    code, told = choice.code.replace("\n", "\n  "), choice.settings + ". "
    if choice.arm in searched():
        point = best_point(searched()[choice.arm])
        settings = ", ".join(f"{NAMES.get(name, name)} {value:.2g}" for name, value in point.items())
        detection = choice.arm == "rambo_map"
        start = "a small detector from a random start" if detection else "a network that knew other letters"
        told += f"For {start}, a [search](claims-searches) found: {settings}. "
    return (
        f"{choice.want[0].upper()}{choice.want[1:]}\n: ```python\n  {code}\n  ```\n"
        f"  {told}Chapter{'s' if len(choice.chapters) > 1 else ''} {numbers}.\n"
    )


@cache
def searched() -> dict[str, Any]:
    """What the searches of the claims chose, by the arm."""
    return {name: arm for scale in SCALES for name, arm in read_searches(read_protocol(scale))["arms"].items()}

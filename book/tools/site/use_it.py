"""The table of the page "Use it in your project": which loss, which settings, and what it did in the short runs."""

from functools import cache
from typing import Any, NamedTuple

import yaml

from ranklab.claims import read_protocol, read_searches
from ranklab.runs import collect_runs, summarise
from tools.results.claims import best_point
from tools.results.papers import DATA, RUNS

#: Of the claims, whose searches fit what the page is for.
SCALES = ("cpu", "detection")
#: How the page calls the parameters of the labs.
NAMES = {"lr": "learning rate", "lam": "λ", "temperature": "τ"}


class Choice(NamedTuple):
    """A row of `data/use_it.yaml`."""

    want: str
    loss: str
    code: str
    settings: str
    chapters: tuple[int, ...]
    lab: str
    parameters: dict[str, Any]
    metric: str
    arm: str


CHOICES = [Choice(**row) for row in yaml.safe_load((DATA / "use_it.yaml").read_text(encoding="utf-8"))]


def markdown() -> str:
    """What to take for what, with what it reached in the kept runs; then each with its settings."""
    lines = ["| you want | take | here it reached |", "|---|---|---:|"]
    for choice in CHOICES:
        lines.append(f"| {choice.want} | {{class}}`~rankedu.losses.{choice.loss}` | {reached(choice)} |")
    return "\n".join([*lines, "", *map(explained, CHOICES)])


def explained(choice: Choice) -> str:
    """The code of a choice, how to set it, what the search of the claims chose for it, and where it is explained."""
    numbers = " and ".join(f"[{number}](ch-{number:02d})" for number in choice.chapters)
    code, told = choice.code.replace("\n", "\n  "), choice.settings + ". "
    if choice.arm in searched():
        point = best_point(searched()[choice.arm])
        settings = ", ".join(f"{NAMES.get(name, name)} {value:.2g}" for name, value in point.items())
        detection = choice.lab == "detection"
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


def reached(choice: Choice) -> str:
    """The metric of the choice's runs, in percent, with the standard deviation over the seeds."""
    own = [r for r in short_runs() if r.lab == choice.lab and choice.parameters.items() <= r.parameters.items()]
    [row] = summarise(own, tuple(choice.parameters))
    name = choice.metric.removesuffix(" of characters")
    return f"{name} {row.value(choice.metric).text(100, 1)}\u00a0%"


@cache
def short_runs() -> list[Any]:
    """The short runs on a CPU, of which those of a lab differ in method and settings alone."""
    known = collect_runs(RUNS)[0]
    small = ("convnet", "narrow")
    return [r for r in known if r.parameters.get("steps") == 600 and r.parameters.get("model") in small]

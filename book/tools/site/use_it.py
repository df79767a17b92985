"""The table of the page "Use it in your project": which loss, which settings, and what it did in the short runs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ranklab.claims import read_protocol, read_searches
from tools.results.claims import best_point
from tools.results.papers import RUNS

#: Of the claims, whose searches fit what the page is for.
SCALES = ("cpu", "detection")
#: How the page calls the parameters of the labs.
NAMES = {"lr": "learning rate", "lam": "λ", "temperature": "τ"}


class Choice(NamedTuple):
    """A row: what the reader wants, the code for it, how to set it, where it is explained, which runs tell of it.

    And the arm of the claims in which a search chose its settings.
    """

    want: str
    loss: str
    code: str
    settings: str
    chapters: tuple[int, ...]
    lab: str
    parameters: dict[str, Any]
    metric: str
    arm: str


CHOICES = (
    Choice(
        "a first loss, batches of up to a few thousand",
        "SmoothAPLoss",
        "loss = OnEmbeddings(SmoothAPLoss(0.01))",
        "τ is 0.01 as printed; up to 0.05 served better from a random start",
        (9,),
        "retrieval",
        {"loss": "smooth_ap"},
        "R@1",
        "smooth_ap",
    ),
    Choice(
        "the exact value in the log, any formula, long lists",
        "RecallLoss",
        "ranker = BlackboxRanker(4.0, normalized=True)\n"
        'loss = OnEmbeddings(RecallLoss(ranker, margin=0.02, weights="loglog"))',
        "λ is 0.2 to 4 on this scale as printed; if in doubt, take the larger. The margin is 0.02 to 0.05, and never 0",
        (4, 7),
        "retrieval",
        {"loss": "rambo_loglog", "margin": 0.02, "memory": 0},
        "R@1",
        "rambo_loglog",
    ),
    Choice(
        "very large batches",
        "FastAPLoss",
        "loss = OnEmbeddings(FastAPLoss(bins=20))",
        "With few bins, scores that are close tie; with many, those that are far apart have no gradient",
        (10,),
        "retrieval",
        {"loss": "fast_ap"},
        "R@1",
        "fast_ap",
    ),
    Choice(
        "one threshold for all queries, as in verification",
        "ROADMAPLoss",
        "loss = OnEmbeddings(ROADMAPLoss())",
        "`weight`, the share of the calibration, is a half as printed; mAP@R, without a threshold, wanted less",
        (15,),
        "hierarchical_retrieval",
        {"loss": "roadmap"},
        "R@1 of characters",
        "roadmap",
    ),
    Choice(
        "a hierarchy of labels",
        "HAPLoss",
        "loss = OnEmbeddings(HAPLoss())",
        "Labels have the shape (n, L), see below; α is 1, or larger for the sake of the fine level",
        (13, 14),
        "hierarchical_retrieval",
        {"loss": "hap"},
        "R@1 of characters",
        "hap",
    ),
    Choice(
        "the classifier of a detector",
        "MAPLoss",
        "ranker = BlackboxRanker(12.5, normalized=True)\nloss = OnProposals(MAPLoss(ranker, margin=0.15))",
        "λ must be long enough to pass the margin; the loss weighs 10 beside the detector's others here",
        (16,),
        "detection",
        {"loss": "rambo_map", "lam": 12.5, "margin": 0.15, "memory": 0},
        "AP50",
        "rambo_map",
    ),
)


def markdown() -> str:
    """What to take for what, with what it reached in the kept runs; then each with its settings."""
    lines = ["| you want | take | here it reached |", "|---|---|---:|"]
    for choice in CHOICES:
        lines.append(f"| {choice.want} | {{class}}`~rankedu.losses.{choice.loss}` | {reached(choice)} |")
    return "\n".join([*lines, "", *map(explained, CHOICES)])


def explained(choice: Choice) -> str:
    """The code of a choice, how to set it, and where it is explained."""
    numbers = " and ".join(f"[{number}](ch-{number:02d})" for number in choice.chapters)
    chapters = f"Chapter{'s' if len(choice.chapters) > 1 else ''} {numbers}"
    code = choice.code.replace("\n", "\n  ")
    return (
        f"{choice.want[0].upper()}{choice.want[1:]}\n: ```python\n  {code}\n  ```\n"
        f"  {choice.settings}. {found(choice)}{chapters}.\n"
    )


def found(choice: Choice) -> str:
    """What the search of the claims chose for it; nothing if there was none."""
    if choice.arm not in searched():
        return ""
    point = best_point(searched()[choice.arm])
    settings = ", ".join(f"{NAMES.get(name, name)} {value:.2g}" for name, value in point.items())
    start = "a small detector from a random start" if choice.lab == "detection" else "a network that knew other letters"
    return f"For {start}, a [search](claims-searches) found: {settings}. "


@cache
def searched() -> dict[str, Any]:
    """What the searches of the claims chose, by the arm."""
    return {name: arm for scale in SCALES for name, arm in read_searches(read_protocol(scale))["arms"].items()}


def reached(choice: Choice) -> str:
    """The metric of the choice's runs, in percent, with the standard deviation over the seeds."""
    from ranklab.runs import summarise

    own = [r for r in runs(choice.lab) if choice.parameters.items() <= r.parameters.items()]
    [row] = summarise(own, tuple(choice.parameters))
    name = choice.metric.removesuffix(" of characters")
    return f"{name} {row.value(choice.metric).text(100, 1)}\u00a0%"


@cache
def runs(lab: str) -> list[Any]:
    """The short runs of a lab on a CPU, whose rows differ in method and settings alone."""
    from ranklab.runs import collect_runs

    records = [record for record in collect_runs(RUNS)[0] if record.lab == lab]
    return [
        r for r in records if r.parameters.get("steps") == 600 and r.parameters.get("model") in ("convnet", "narrow")
    ]

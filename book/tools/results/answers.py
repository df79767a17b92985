"""What stands at the head of the page of the claims, in words of `book/data/claims_in_words.yml`."""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy import stats

from rankbook.kit.live import Live
from ranklab.claims import Claim, Verdicts, read_protocol
from ranklab.claims.answers import Answer, all_answers, networks
from ranklab.claims.deals import DEFAULT, ROUNDS, read_round
from ranklab.claims.spread import ABOVE, BELOW, EQUAL, FURTHER, OPEN, mean_of_deals, redrawn
from ranklab.methods import METHODS
from ranklab.models.convnet import ConvNet
from ranklab.runs.judging import ALPHA, resolution
from ranklab.runs.planning import plan
from tools.results.papers import markdown
from tools.site.explorables import live_markup

WORDS = Path(__file__).resolve().parents[2] / "data" / "claims_in_words.yml"
RECALL = "rambo_log"
#: Of one core, to which the second round was limited.
HOURS = 30
Part = tuple[
    str, float, float, float, dict[str, Any]
]  # of a rule: metric, mean, half-width and threshold in points, its runs
#: A paper, what it says, and what was found in each metric in which it was asked.
Told = tuple[str, str, list["Found"]]
IS = {ABOVE: "is above", BELOW: "is below", EQUAL: "is level with", OPEN: "cannot be told from"}
HOLDS, FALLS, ALIKE, UNTOLD = "holds", "falls", "too small to matter", "cannot be told"
COUNTED = {"holds": HOLDS, "falls": FALLS, "alike": ALIKE, "open": UNTOLD}


@dataclass(frozen=True)
class Found:
    """Of one clause in one metric, in points."""

    plus: str
    minus: str
    metric: str
    mean: float
    half_width: float
    said: str
    first: bool  #: of the first round, widened by what another search would have changed
    asked: float = 0.0  #: what the difference must be larger than
    row: str = ""  #: what is compared, in a few words
    beside: tuple[str, ...] = ()  #: the same otherwise: in the first round, or with the presets of both sides
    #: What the picture judges again by fewer runs: `rankbook.claims.live.verdicts`.
    by_run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        return IS[self.said.removesuffix(f", {FURTHER}")]

    @property
    def verdict(self) -> str:
        """What becomes of the sentence; one that asks for more does not hold by less than matters."""
        if self.said == f"{ABOVE}, {FURTHER}" and not self.asked:
            return ALIKE
        if self.mean - self.half_width > self.asked:
            return HOLDS
        if self.mean + self.half_width < self.asked:
            return FALLS
        return ALIKE if self.said == EQUAL else UNTOLD

    def __str__(self) -> str:
        asked = f"as well is {self.asked:+g} or more" if self.asked else ""
        notes = "; ".join(filter(None, (asked, *self.beside)))
        first = ", first round" if self.first else ""
        return signed(f"{self.metric} {sized(self.mean, self.half_width)}{f' ({notes})' if notes else ''}{first}")


def signed(said: str) -> str:
    """With the minus of a number as it is printed."""
    return said.replace("-", "−").replace("H−AP", "H-AP")


def sized(mean: float, half_width: float) -> str:
    """In points, with its half-width."""
    return f"{mean:+.2f}\u00a0±\u00a0{half_width:.2f}"


def clauses(records: Path, claims: Sequence[Claim], said: Verdicts, chosen: Mapping[str, Any]) -> list[Told]:
    """Each that has an answer.

    Of the first round it takes what was judged of the claims, and what the searches of its arms chose.
    """
    rounds, second = [read_round(records, name) for name in ROUNDS], all_answers(records)
    families = {family: questions for design in rounds for family, questions in design.families.items()}
    first = {one.id: list(_first(one, said, chosen, rounds[0].delta)) for one in claims if one.id in said.judged}
    asked = [(of["paper"], clause) for of in _words()["papers"] for clause in of["clauses"]]
    told = [(paper, one["claim"], list(_clause(one, families, second, first, records))) for paper, one in asked]
    return [clause for clause in told if clause[2]]


@functools.cache
def _words() -> dict[str, Any]:
    return yaml.safe_load(WORDS.read_text(encoding="utf-8"))


def _clause(
    clause: Mapping[str, Any],
    families: Mapping[str, Any],
    second: Mapping[str, Mapping[str, Answer]],
    first: Mapping[str, list[Part]],
    records: Path,
) -> Iterator[Found]:
    """In the metrics of the second round, or as the first one left it."""
    sides = clause["plus"], clause["minus"]
    in_first, part = clause.get("first", ("", 0))
    before = [first[in_first][part]] if in_first in first else []
    asked = [(family, clause["second"]) for family in families if clause.get("second") in second[family]]
    for family, name in asked:
        answer = second[family][name]
        half = answer.mean.half_width(answer.different)
        metric = unit(families[family][name])
        row = f"{clause['row']}, {metric}" if len(asked) > 1 else clause["row"]
        of = {"values": answer.by_deal, "error": answer.mean.error, "freedom": answer.mean.freedom, "search": 0.0}
        of |= {"different": answer.different, "equal": answer.equal, "delta": answer.delta or 0.0}
        bar = -(answer.delta or 0.0) if clause.get("par") else 0.0
        asks = families[family][name]
        beside = []
        if clause.get("presets"):
            preset = by_deal(records, DEFAULT, metric)
            beside += [f"with their presets {less(preset[asks['plus']], preset[asks['minus'][0]])}"]
        same = (metric, metric.removesuffix(" of characters"))  # as the first round calls it
        beside += [f"first round {sized(was, wide)}" for in_metric, was, wide, *_ in before if in_metric in same]
        yield Found(*sides, metric, answer.mean.value, half, answer.said, False, bar, row, tuple(beside), of)
    for metric, mean, half, bar, of in before if not asked else ():
        said = OPEN if abs(mean) <= half else ABOVE if mean > 0 else BELOW
        yield Found(*sides, metric, mean, half, said, True, bar, clause["row"], (), of)


def _first(claim: Claim, said: Verdicts, chosen: Mapping[str, Any], deltas: Mapping[str, float]) -> Iterator[Part]:
    """Each part of a rule, with the spread of another search in its half-width."""
    judged = said.judged[claim.id]
    share = 1 - judged.level
    for part, one, compared in zip(claim.parts, judged.parts, said.contrasts[claim.id], strict=True):
        seeds, letters = compared.sums.shape
        ways = [np.full(seeds, 1 / seeds)] + [compared.counts.sum(0) / compared.counts.sum()] * (letters > 1)
        freedom = min(resolution(way)[1] for way in ways)
        values, half = 100 * compared.sums.sum(1) / compared.counts.sum(1), 100 * one.half_width
        error, search = half / float(stats.t.isf(share / 2, freedom)), 100 * (by_another_search(part, chosen) or 0.0)
        of = {"values": values.tolist(), "error": error, "freedom": freedom, "search": search}
        of |= {"different": share, "equal": share, "delta": deltas.get(unit(part), 0.0)}
        yield unit(part), 100 * one.mean, math.hypot(half, search), 100 * one.threshold, of


def live(told: Sequence[Sequence[Found]]) -> str:
    """All that was found, where a reader can try what would change it: HTML for a page beside the scripts."""
    shown = Live("verdicts")
    rows = [
        {"row": one.row, "plus": one.plus, "minus": one.minus, "metric": one.metric}
        | {name: _rounded(value) for name, value in one.by_run.items()}
        for clause in told
        for one in clause
    ]
    shown.start = {**shown.start, "rows": rows}
    return f"```{{raw}} html\n{live_markup(shown, '_static/')}\n```\n"


def _rounded(value: Any) -> Any:
    return [round(one, 4) for one in value] if isinstance(value, list) else float(f"{value:.6g}")


def take_home(told: Sequence[Told], records: Path) -> str:
    """The conditions, and what to take home of them, in Markdown.

    Raises:
        ValueError: an answer is not the one that a sentence was written for.
    """
    found = {one.row: one for _, _, of in told for one in of}
    about, words = _conditions(records), _words()
    for one in words["take_home"]:
        if moved := [row for row, verb in one["holds"].items() if row in found and found[row].verb != verb]:
            raise ValueError(f"take_home in {WORDS.name} must say what was found of {', '.join(moved)}: {one['say']}")
    sized = {row: f"{abs(one.mean):.2f}\u00a0±\u00a0{one.half_width:.2f}" for row, one in found.items()}
    said = [one["say"].format(**about, **sized) for one in words["take_home"] if set(one["holds"]) <= set(found)]
    whole = [_whole(under) for under in _sentences(told)]
    counts = {name: whole.count(of) for name, of in COUNTED.items()}
    said.append(words["counted"].format(sentences=len(whole), **counts))
    return "\n\n".join([words["lead"].format(**about), "\n".join(f"1. {one}" for one in said), ""])


def reached(records: Path) -> str:
    """What each loss reaches, beside the recall loss, in Markdown."""
    listed = _reached(records)
    return f"{_words()['reached'].format(**_conditions(records))}\n\n{markdown(listed, 1)}\n" if listed else ""


def _sentences(told: Sequence[Told]) -> list[list[Told]]:
    """What is told of each sentence of a paper: of the sentence itself, and under the conditions that go on from it."""
    of: list[list[Told]] = []
    for one in told:
        if one[1].startswith("…") and of:
            of[-1].append(one)
        else:
            of.append([one])
    return of


def _whole(under: Sequence[Told]) -> str:
    """What becomes of a sentence under all of its conditions."""
    verdicts = [of[0].verdict for _, _, of in under]
    return FALLS if FALLS in verdicts else verdicts[0] if len(set(verdicts)) == 1 else UNTOLD


def ended(records: Path) -> str:
    """What the second round took, and what it did not come to, in Markdown."""
    found, hours, late = networks(records / f"claims_{ROUNDS[0]}.jsonl"), dict.fromkeys(("cpu", "gpu"), 0.0), 0
    for arm in read_round(records).arms:
        searches = {deal: one for (name, _), of in found.items() if name == arm for deal, one in of.items()}
        late += bool(searches) and hours["cpu"] > HOURS
        for one in searches.values():
            on = "cpu" if one.machine["device"] == "CPU" else "gpu"
            hours[on] += float(one.evidence["search seconds"]) / 3600
    asked = [one for of in _words()["papers"] for one in of["clauses"] if "second" in one]
    there = {name for questions in all_answers(records).values() for name in questions}
    left = "; ".join(one["row"] for one in asked if one["second"] not in there)
    return f"{_words()['ended'].format(**_conditions(records), **hours, late=late, left=left)}\n"


def _reached(records: Path) -> list[dict[str, str]]:
    """R@1 of the losses that have been searched for, beside the recall loss in the same deals; and with presets."""
    by_arm, preset = by_deal(records, "R@1"), by_deal(records, DEFAULT)
    of_round = [read_round(records, name) for name in ROUNDS]
    trials = {name: one.trials * len(arm.space) for one in of_round for name, arm in one.arms.items()}
    return [
        {
            "loss": _name(arm),
            "R@1": f"{np.mean(by_arm[arm]):.1f}",
            "above the recall loss": "–" if arm == RECALL else less(by_arm[arm], by_arm[RECALL]),
            "R@1, published settings": f"{np.mean(preset[arm]):.1f}" if arm in preset else "–",
            "settings tried": str(trials[arm]),
        }
        for arm in _best_first(by_arm)
    ]


def less(plus: Sequence[float], minus: Sequence[float]) -> str:
    """The mean difference of the deals, with 95 % by deal."""
    mean = mean_of_deals(np.subtract(plus, minus))
    return signed(sized(mean.value, mean.half_width(ALPHA)))


def _best_first(by_arm: Mapping[str, Sequence[float]]) -> list[str]:
    """The arms that are losses by themselves."""
    return sorted((arm for arm in by_arm if arm in METHODS), key=lambda arm: -np.mean(by_arm[arm]))


def _name(arm: str) -> str:
    return str(_words()["names"].get(arm, METHODS[arm].title))


def table(told: Sequence[Told], records: Path) -> str:
    """What becomes of each sentence of a paper, the clearest first, and what the words mean, in Markdown."""
    rows, order, groups = [], list(COUNTED.values()), _sentences(told)
    groups.sort(key=lambda under: (order.index(_whole(under)), under[0][2][0].first))
    for paper, claim, of in (one for under in groups for one in under):
        here = of[0].verdict
        if len({one.verdict for one in of}) > 1:
            here = "; ".join(f"{one.metric}: {one.verdict}" for one in of)
        here = here if here == UNTOLD else f"**{here}**"
        rows.append({"by": paper, "what the paper says": claim, "here": here, "points": "; ".join(map(str, of))})
    about = {**_conditions(records), "sentences": len(groups)}
    legend, explained = (_words()[name].format(**about) for name in ("legend", "explained"))
    return f"{legend}\n\n```{{table}}\n:class: sentences\n\n{markdown(rows)}\n```\n\n{explained}\n"


def _conditions(records: Path) -> dict[str, Any]:
    """What all trainings have in common, how far the later rounds are, and what the sentences at the head quote."""
    design, scenes = read_round(records), read_protocol("detection", records)
    of = plan("retrieval", preset=design.presets["retrieval"]).parameters
    steps = plan("detection", preset=scenes.presets["detection"]).parameters["steps"]
    weights = sum(weight.numel() for weight in ConvNet(of["dim"]).parameters())
    rounds, by_arm = [read_round(records, name) for name in ROUNDS], by_deal(records, "R@1")
    about: dict[str, Any] = {"weights": weights, "scene_steps": steps, "deals": design.deals}
    about |= {"families": sum(len(one.families) for one in rounds), "planned": len(design.arms)}
    about |= {"done": len({arm for arm, _ in networks(records / f"claims_{ROUNDS[0]}.jsonl")})}
    about |= {"since": len(rounds[1].arms), "ahead": _ahead(by_arm), "rising": _rising(by_arm)}
    tree = [np.mean(of) for of in by_deal(records, "H-AP", "H-AP").values()]
    near = "Of H-AP the means of the {} methods that are done differ by some {:.1f} at most."
    about["near"] = f" ({near.format(len(tree), np.ptp(tree))})" if tree else ""
    about["without"] = f"{np.mean(by_arm.get('rambo_log without margin', [math.nan])):.1f}"
    batches = (f"mAP of batches of {size}" for size in (32, 128, 512))
    for name, metric in zip(("of_32", "of_128", "of_512", "of_all"), (*batches, "mAP"), strict=True):
        about[name] = f"{np.mean(by_deal(records, 'mAP@R', metric).get(RECALL, [math.nan])):.1f}"
    return about | {name: of[name] for name in ("steps", "batch_size")}


def _ahead(by_arm: Mapping[str, Sequence[float]]) -> str:
    """Which loss has the highest mean, and how far the next one is from it."""
    if len(best := _best_first(by_arm)) < 2:
        return ""
    mean = mean_of_deals(np.subtract(by_arm[best[0]], by_arm[best[1]]))
    apart = "is above" if mean.value > mean.half_width(ALPHA) else "cannot be told from"
    by = sized(mean.value, mean.half_width(ALPHA))
    top, following = map(_name, best[:2])
    led = f"{top[0].upper()}{top[1:]} has the highest mean of the losses by themselves"
    return f"{led}; it {apart} {following} ({by}, not planned beforehand)."


def _rising(by_arm: Mapping[str, Sequence[float]]) -> str:
    """Whether the softmax was still rising when the steps were over."""
    if "softmax of twice the steps" not in by_arm:
        return ""
    mean = mean_of_deals(np.subtract(by_arm["softmax of twice the steps"], by_arm["normalized_softmax"]))
    by = f"a search with twice the steps, from other starts: {sized(mean.value, mean.half_width(ALPHA))}"
    if mean.value > mean.half_width(ALPHA):
        return f" The softmax was still rising, so that its place is not final ({by})."
    return f" The softmax was not seen to rise any more ({by})."


def by_deal(records: Path, chosen: str, metric: str = "R@1") -> dict[str, list[float]]:
    """By arms that are done: the metric, in points, of the networks chosen by something, in the order of the deals."""
    found, deals = networks(*(records / f"claims_{name}.jsonl" for name in ROUNDS)), read_round(records).deals
    return {
        arm: [100 * float(of[deal].metrics[metric] or 0.0) for deal in range(deals)]
        for (arm, by), of in found.items()
        if by == chosen and len(of) == deals and metric in of[0].metrics
    }


def by_another_search(part: Mapping[str, Any], chosen: Mapping[str, Any]) -> float | None:
    """Twice the standard deviation of what a part compares, on `val`, if the trials of all its sides were drawn anew.

    None where they are not compared by a metric of the search, or were not searched for.
    """
    if "slope" in part:
        weights = np.linalg.pinv(np.vander([float(value) for value in part["slope"]], 2))[0]
        sides = list(part["slope"].values())
    elif "plus" in part and "minus" in part:
        metric = part["metric"]
        best = max(
            part["minus"], key=lambda name: chosen[name].get("val", {}).get(metric, chosen[name].get("value", 0))
        )
        weights, sides = np.array([1.0, -1.0]), [part["plus"], best]
    else:
        return None
    if not all(chosen[name].get("trials") for name in sides):
        return None
    moved = [redrawn([trial["value"] for trial in chosen[name]["trials"]]) for name in sides]
    return 2 * float(np.linalg.norm(weights * moved))


def unit(part: Mapping[str, Any]) -> str:
    """What a part of a rule, or a question, is measured in."""
    if "of" in part:
        return str(part["metrics"][0]).partition(" of batches")[0]
    if "milder" in part:
        return "levels in common"
    return f"{part['metric']}, for one more α" if "slope" in part else str(part["metric"])

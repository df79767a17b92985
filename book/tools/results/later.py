"""What the pages tell of the later rounds: what each arm reaches, where it was trained, and how a GPU compares."""

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ranklab.claims.answers import Records, all_answers, networks
from ranklab.claims.deals import ALSO, DEFAULT, ROUNDS, Round, read_round
from ranklab.claims.power import PAIRS, spreads
from ranklab.claims.protocol import RANDOM
from ranklab.claims.spread import Mean, mean_of_deals
from ranklab.methods import METHODS
from ranklab.runs import Record
from tools.results.answers import by_deal, less, signed, sized
from tools.results.papers import markdown

RECORDS = Path(__file__).resolve().parents[3] / "lab" / "records"
#: An arm that goes on from networks which were trained again, and whose starts these had: records tell what came of it.
AGAIN = {"smooth_ap after softmax": "softmax of twice the steps"}


def of_round(name: str) -> Records:
    """The networks of a round."""
    return networks(RECORDS / f"claims_{name}.jsonl")


def arms() -> str:
    """What the search and the preset of each arm that is done reach on the held-out letters; a table by each lab."""
    tables: dict[tuple[str, str], list[dict[str, str]]] = {}
    for name in ROUNDS:
        design, found = read_round(RECORDS, name), of_round(name)
        for arm in design.arms.values():
            metrics = arm.choose, ALSO[arm.lab]
            if all(len(found.get((arm.name, metric), ())) == design.deals for metric in metrics):
                row = {"loss": arm.name.replace(arm.method, METHODS[arm.method].title)}
                row |= {"trials": str(design.trials * len(arm.space))}
                preset = found.get((arm.name, DEFAULT))
                for metric in metrics:
                    row[metric] = _mean(found[arm.name, metric], metric)
                    row[f"{metric}, preset"] = _mean(preset, metric) if preset else "–"
                tables.setdefault(metrics, []).append(row)
    shown = [markdown(rows, 1) for rows in tables.values()]
    return "\n\n".join([*shown, *(_near(rows) for rows in tables.values() if "H-AP" in rows[0])]) + "\n"


def _near(rows: list[dict[str, str]]) -> str:
    """How near the methods of the letters tree lie to each other, if that is within what matters."""
    searched = [float(row["H-AP"]) for row in rows]
    gained = [float(row["H-AP"]) - float(row["H-AP, preset"]) for row in rows]
    spread, delta = max(searched) - min(searched), read_round(RECORDS).delta["H-AP"]
    said = (
        f"On the letters tree the {len(rows)} methods lie within some {spread:.1f} points of H-AP, and a search brings "
        f"{min(gained):+.2f} to {max(gained):+.2f}: where {delta:g} does not matter, it tells little."
    )
    return said.replace(" -", " −") if spread < delta else ""


def _mean(of: Mapping[int, Record], metric: str) -> str:
    return f"{100 * statistics.fmean(float(record.metrics[metric] or 0.0) for record in of.values()):.2f}"


def came() -> str:
    """The standard deviation of the deals, as it was forecast and as it came, of the pairs that are done."""
    rows = []
    for plus, minus, metric, _ in PAIRS:
        of = by_deal(RECORDS, metric, metric)
        if plus in of and minus in of:
            told, differences = spreads(plus, minus, metric), np.subtract(of[plus], of[minus])
            # the letters that a deal trains on move it as much as those that judge
            forecast = math.hypot(told["search"], told["seed"], told["letters"], told["letters"])
            row = {"pair": f"{plus} less {minus}, {metric}", "forecast": f"{forecast:.2f}"}
            rows.append(row | {"came": f"{differences.std(ddof=1):.2f}", "mean": f"{differences.mean():+.2f}"})
    return markdown(rows, 1).replace("| -", "| −") + "\n"


def devices() -> str:
    """How far the second round is and where it was trained; what networks of the CPU come to on the GPU."""
    design, found = read_round(RECORDS), of_round(ROUNDS[0])
    by_arm = {arm: record for (arm, _), of in found.items() for record in of.values()}
    of = {arm: record.machine["device"] for arm, record in by_arm.items()}
    counts = {where: list(of.values()).count(where) for where in sorted(set(of.values()), key=lambda at: at != "CPU")}
    places = [f"{count} on {'a CPU' if where == 'CPU' else f'an {where}'}" for where, count in counts.items()]
    said = f"{len(of)} of its {len(design.arms)} arms [were done](#claims-limits), in their order: {', '.join(places)}."
    starts = _starts(design, found)
    mixed = ", ".join(f"`{name}`" for name in dict.fromkeys(_mixed(design, starts)))
    on_gpu = {starts[arm] for arm, where in of.items() if where != "CPU" and arm in starts}
    groups = [[arm for arm in starts if starts[arm] == at] for at in dict.fromkeys(starts.values()) if at not in on_gpu]
    of_what = {name: f"`{name}` (its `{design.arms[name].after}`)" for name in AGAIN}
    for_arms = [", ".join(of_what.get(arm, f"`{arm}`") for arm in group) for group in groups]
    return (
        f"{said}\n\n"
        f"The starts were trained {len(groups) + 1} times: on a CPU for {'; once more for '.join(for_arms)}; on the "
        f"GPU for the others. Different ones meet in {mixed or 'no answer'}. Only networks of the recall loss, of the "
        "CPU's records, were trained again on the GPU with the settings they have, from a start of the GPU: "
        f"{'; '.join(_again(found))} (95 %, by deal). In place of the CPU's they give "
        f"{', '.join(_with_them(design, found))}, by deal, at the levels of the answers. Their searches were not made "
        "again.\n"
    )


def presets() -> str:
    """The gradient of the identity less the interpolation, both with their presets."""
    said = []
    for metric in ("R@1", "mAP@R"):
        of = by_deal(RECORDS, DEFAULT, metric)
        said.append(f"{less(of['identity'], of['rambo_log'])} of {metric}")
    return f"{' and '.join(said)} (95 %, by deal).\n"


def _starts(design: Round, found: Records) -> dict[str, str]:
    """By arms that are done and do not begin at random: the start, in the first deal, that leads to them."""
    records = [record for of in found.values() for record in of.values()]
    weights = {one.evidence["arm"]: one.parameters["weights"] for one in records if one.evidence["deal"] == 0}
    done = [name for name, arm in design.arms.items() if name in weights and arm.after != RANDOM]
    return {name: weights[AGAIN.get(name, name)] for name in done}


def _mixed(design: Round, starts: Mapping[str, str]) -> Iterator[str]:
    """The questions that are answered, and whose sides begin at different starts."""
    told = all_answers(RECORDS)
    for family, questions in design.families.items():
        for name in told[family]:
            one = questions[name]
            if "plus" in one and len({starts[arm] for arm in (one["plus"], *one["minus"])}) > 1:
                yield name


def _with_them(design: Round, found: Records) -> Iterator[str]:
    """Answers of two sides, one of which is the recall loss from another start, with its networks trained again."""
    again, told, starts = _trained_again(), all_answers(RECORDS), _starts(design, found)

    def value(arm: str, deal: int, metric: str) -> float:
        record = found[arm, metric][deal]
        return 100 * float((again[record.run]["now"] if arm == "rambo_log" else record.metrics)[metric] or 0.0)

    for family, questions in design.families.items():
        for name, answer in told[family].items():
            one = questions[name]
            sides = [one.get("plus"), *one.get("minus", ())]
            if len(sides) == 2 and "rambo_log" in sides and len({starts[side] for side in sides}) == 2:
                plus, minus = ([value(side, deal, one["metric"]) for deal in range(design.deals)] for side in sides)
                mean = mean_of_deals([ours - theirs for ours, theirs in zip(plus, minus, strict=True)])
                yield f"{_difference(mean, answer.different, one['metric'])} for `{name}`"


def _trained_again() -> dict[str, Any]:
    """By its run, what a network of the CPU's records came to, and comes to."""
    return {one["run"]: one for one in json.loads((RECORDS / "deals_again.json").read_text(encoding="utf-8"))}


def _again(found: Records) -> Iterator[str]:
    """By what the networks were chosen: what they come to, less what they came to."""
    again = _trained_again()
    for chosen, metric in (("mAP@R", "mAP@R"), ("R@1", "R@1"), (DEFAULT, "R@1")):
        pairs = [again[record.run] for record in found["rambo_log", chosen].values()]
        mean = mean_of_deals([100 * (one["now"][metric] - one["was"][metric]) for one in pairs])
        whose = "with the preset's settings" if chosen == DEFAULT else f"chosen by {chosen}"
        yield f"those {whose} differ by {_difference(mean, 0.05, metric)}"


def _difference(mean: Mean, level: float, metric: str) -> str:
    """In points, with its interval at a level."""
    return f"{signed(sized(mean.value, mean.half_width(level)))} of {metric}"

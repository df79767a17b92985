"""The page of the claims: every rule, and what was found, made from `lab/records`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankbook.claims.figures import trials
from ranklab.claims import Claim, Protocol, Verdicts, read_claims, read_protocol, read_searches, verdicts
from ranklab.claims.spread import redrawn
from ranklab.runs.judging import CONFIRMED, REFUTED, UNDECIDED, Estimate, Judgement
from tools.results import answers, lams, later
from tools.results.answers import by_another_search, unit
from tools.results.pictures import show

RECORDS = Path(__file__).resolve().parents[3] / "lab" / "records"
#: A scale of the plan and how the page calls it.
SCALES = {"cpu": "With batches of 128, on a CPU", "detection": "Object detection, on a CPU"}


def blocks(folder: Path, records: Path = RECORDS) -> dict[str, str]:
    """What the pages include; name → Markdown. The figures go to the folder."""
    entries, parts, searches = read_claims(records), [], []
    claims, said, all_chosen = list[Claim](), Verdicts({}, {}, []), dict[str, Any]()
    for scale, title in SCALES.items():
        plan = read_protocol(scale, records)
        chosen = _with_trials(plan, read_searches(plan, records)["arms"])
        of_scale, found = plan.of(entries), verdicts(entries, plan, records)
        parts += [f"### {title}\n", table(of_scale, found, chosen)]
        said = Verdicts({**said.judged, **found.judged}, {**said.contrasts, **found.contrasts}, [])
        claims, all_chosen = claims + of_scale, all_chosen | chosen
        searches += _searched(folder, plan, chosen)
    told = answers.clauses(records, claims, said, all_chosen)
    found_of = [found for _, _, found in told]
    return {
        "claims_protocol": protocol(),
        "claims_devices": later.devices(),
        "claims_arms": later.arms(),
        "claims_presets": later.presets(),
        "claims_forecast": f"```text\n{(records / 'deals_forecast.txt').read_text(encoding='utf-8')}```\n",
        "claims_came": later.came(),
        "claims_rules": rules(entries),
        "claims_take_home": answers.take_home(told, records),
        "claims_reached": answers.reached(records),
        "claims_ended": answers.ended(records),
        "claims_answers": answers.table(told, records),
        "claims_live": answers.live(found_of),
        "claims": "\n".join(parts),
        "claims_searches": "\n".join(searches),
        "claims_lams": lams.markdown(),
    }


def _with_trials(plan: Protocol, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """An arm that was not searched for has the trials of the one whose settings it has: it moves as much as that."""
    searched = {name: chosen.get(plan.arms[name].like, {}).get("trials", []) for name in chosen}
    return {name: {"trials": searched[name], **found} for name, found in chosen.items()}


def protocol() -> str:
    """The numbers of the protocol, a sentence each."""
    plan, scenes = read_protocol("cpu", RECORDS), read_protocol("detection", RECORDS)
    return (
        f"Every method gets {plan.trials} trials of a quasi-random search, then {plan.seeds} runs with other seeds; "
        f"{plan.starts} starts take turns. In all there are {len(plan.arms)} arms, as the sides of a comparison are "
        f"called in `lab/records/claims_plan.yaml`; {len(plan.budget or plan.arms)} of them are within the budget: "
        f"{', '.join(f'`{name}`' for name in plan.budget or plan.arms)}. Object detection has {len(scenes.arms)} more: "
        f"{', '.join(f'`{name}`' for name in scenes.arms)}.\n"
    )


def rules(claims: Sequence[Claim]) -> str:
    """Every claim with its place, its experiment and its rule."""
    lines = []
    for claim in claims:
        lines += [f"`{claim.id}`", f": {claim.claim} *({claim.source})* {claim.experiment.capitalize()}.", ""]
        lines += [f"  **Rule.** {claim.rule}", ""]
    return "\n".join(lines)


def table(claims: Sequence[Claim], found: Verdicts, chosen: Mapping[str, Any]) -> str:
    """A row for each claim: verdict, difference, and what another search would have changed; what was left out."""
    lines = ["```{table}", ":class: cards", ""]
    lines += ["| claim | verdict | difference | by another search | in | at |", "|---|---|---:|---:|---|---:|"]
    for claim in claims:
        cells = _cells(claim, found.judged.get(claim.id), chosen)
        lines.append(f"| *{claim.id}:* {claim.claim} ({claim.source}) | {' | '.join(cells)} |")
    lines.append("```")
    if found.left_out:
        lines += ["", "Left out, as of other code, another split or another salt:", ""]
        lines += [f"* `{line.partition(': ')[0]}` {line.partition(': ')[2]}" for line in found.left_out]
    return "\n".join([*lines, ""])


def _cells(claim: Claim, judged: Judgement | None, chosen: Mapping[str, Any]) -> list[str]:
    if judged is None:
        return [f"cannot be tested here: {claim.missing}" if claim.missing else "not judged yet", *"————"]
    of_parts = "; ".join(map(_difference, judged.parts))
    moved = [by_another_search(part, chosen) for part in claim.parts]
    units = ", ".join(dict.fromkeys(map(unit, claim.parts)))
    verdict = f"**{judged.verdict}**" + ("" if holds(judged, moved) else ", not signed today")
    spread = "; ".join("—" if part is None else f"±\u00a0{100 * part:.2f}" for part in moved)
    return [verdict, of_parts, spread, units, f"{100 * judged.level:.1f}\u00a0%"]


def holds(judged: Judgement, moved: Sequence[float | None]) -> bool:
    """Whether the verdict would be the same with the search in the interval; of one that is undecided, it is."""
    sides = zip(judged.parts, moved, strict=True)
    wide = [replace(part, half_width=math.hypot(part.half_width, by or 0.0)) for part, by in sides]
    if judged.verdict == CONFIRMED:
        return all(part.verdict == CONFIRMED for part in wide)
    return judged.verdict == UNDECIDED or any(part.verdict == REFUTED for part in wide)


def _difference(estimate: Estimate) -> str:
    """In points, with its half-width, and what the rule asks for if that is not 0."""
    asked = f", {100 * estimate.threshold:g} asked for" if estimate.threshold else ""
    return f"{100 * estimate.mean:+.2f}\u00a0±\u00a0{100 * estimate.half_width:.2f}{asked}".replace("-", "−")


def _searched(folder: Path, plan: Protocol, chosen: Mapping[str, Any]) -> list[str]:
    """What the search of each arm found, and how much hangs on the settings."""
    arms = {name: arm for name, arm in chosen.items() if arm.get("spread", {}).get("best") is not None}
    if not arms:
        return []
    lines = ["| arm | best on val | upper quartile | median | worst | failed | found |"]
    lines.append("|---|---:|---:|---:|---:|---:|---|")
    for name, arm in arms.items():
        spread = arm["spread"]
        numbers = [f"{100 * spread[key]:.1f}" for key in ("best", "upper quartile", "median", "worst")]
        numbers[0] += f" ± {100 * redrawn([trial['value'] for trial in arm['trials']]):.1f}"
        best = max(arm["trials"], key=lambda trial: trial["value"] or 0.0)
        settings = ", ".join(f"{key} {value:.3g}" for key, value in best["point"].items())
        lines.append(f"| {name} | {' | '.join(numbers)} | {spread['failed']} | {settings} |")
    spread = show(folder, f"searches_{plan.scale}", trials({name: arm["trials"] for name, arm in arms.items()}))
    return [f"### {SCALES[plan.scale]}\n", spread, *lines, ""]

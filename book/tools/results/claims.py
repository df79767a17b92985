"""The page of the claims: every rule, and what was found, made from `data/claims.yaml` and the records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankedu.book.figures import style
from rankedu.book.figures.claims import forest
from rankedu.lab.experiments.claims import Claim, Verdicts, read_claims, read_protocol, verdicts
from rankedu.lab.runs.judging import Judgement

DATA = Path(__file__).resolve().parents[2] / "data"
#: A scale of the plan and how the page calls it.
SCALES = {"cpu": "With batches of 128, on a CPU", "gpu": "With batches of 1,024, on a GPU"}


def blocks(folder: Path, data: Path = DATA) -> dict[str, str]:
    """What the page includes; name → Markdown. The figures go to the folder."""
    told = read_claims(data)
    made = {"claims_protocol": protocol(), "claims_rules": rules(told)}
    found = {scale: verdicts(told, read_protocol(scale, data), data / "claims" / scale) for scale in SCALES}
    parts = []
    for scale, of_scale in found.items():
        if of_scale.judged or scale == "cpu":
            parts += [f"### {SCALES[scale]}\n", *_forest(folder, scale, of_scale), table(told, of_scale)]
    return {**made, "claims": "\n".join(parts)}


def protocol() -> str:
    """The numbers of the protocol, a sentence each."""
    plan = read_protocol("cpu", DATA)
    return (
        f"Every method gets {plan.trials} trials of a quasi-random search, then {plan.seeds} runs with other seeds; "
        f"{plan.starts} starts take turns. In all there are {len(plan.arms)} arms, as the sides of a comparison are "
        "called in `book/data/claims_plan.yaml`.\n"
    )


def rules(claims: Sequence[Claim]) -> str:
    """Every claim with its place, its experiment and its rule."""
    lines = []
    for claim in claims:
        lines += [f"`{claim.id}`", f": {claim.claim} *({claim.source})* {claim.experiment.capitalize()}.", ""]
        lines += [f"  **Rule.** {claim.rule}", ""]
    return "\n".join(lines)


def table(claims: Sequence[Claim], found: Verdicts) -> str:
    """A row for each claim: what was found, the verdict, and what it took; then the records that were left out."""
    lines = ["| claim | source | difference | level | core-hours | verdict |", "|---|---|---:|---:|---:|---|"]
    for claim in claims:
        cells = _cells(claim, found.judged.get(claim.id), found.hours.get(claim.id))
        lines.append(f"| {claim.claim} | {claim.source} | {' | '.join(cells)} |")
    if found.left_out:
        lines += ["", "Left out, as of other code, another split or another salt:", ""]
        lines += [f"* `{line.partition(': ')[0]}` {line.partition(': ')[2]}" for line in found.left_out]
    return "\n".join([*lines, ""])


def _cells(claim: Claim, judged: Judgement | None, hours: float | None) -> list[str]:
    if judged is None:
        return ["—", "—", "—", f"cannot be tested here: {claim.missing}" if claim.missing else "not run yet"]
    estimate = judged.estimate
    asked = f", {100 * estimate.threshold:g} asked for" if estimate.threshold else ""
    difference = f"{100 * estimate.mean:+.2f} ± {100 * estimate.half_width:.2f}{asked}"
    return [difference, f"{100 * judged.level:.1f} %", f"{hours:.1f}", f"**{judged.verdict}**"]


def _forest(folder: Path, scale: str, found: Verdicts) -> list[str]:
    """The picture of what has been judged, if anything has."""
    if not found.judged:
        return []
    figure = forest(found.judged)
    (folder / f"claims_{scale}.png").write_bytes(style.png(figure))
    return [f"```{{image}} _generated/claims_{scale}.png\n:alt: {style.description(figure)}\n```\n"]

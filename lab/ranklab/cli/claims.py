"""The command that puts the claims of the papers to the test: it alone opens the held-out letters, at the end."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ranklab.cli.shared import Runs, Scheduler, Workers, telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ranklab.claims import Campaign, Claim, Cost, Verdicts


def claims(
    plan: Annotated[bool, typer.Option("--plan", help="List what would run, and the core-hours; the default.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Search, train, and measure on the held-out letters.")] = False,
    judge: Annotated[bool, typer.Option("--judge", help="Judge the claims by the records that there are.")] = False,
    repeat: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM-SEED", help="Train and measure this record's run again, and compare."),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="cpu; gpu: the same with batches of 1,024; detection; deals: the second round.")
    ] = "cpu",
    arm: Annotated[
        list[str] | None, typer.Option(help="Search and train this arm alone; nothing is measured at the end.")
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    runs: Runs = Path("runs") / "claims",
    data: Annotated[Path | None, typer.Option(help="Folder of claims.yaml and records; default: lab/records.")] = None,
) -> None:
    """Put the claims of the papers to the test; what has been run is not run again."""
    from ranklab import claims as made
    from ranklab.runs.folders import find_records

    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as many runs as cores, and a thread each
    with telling("claims"):
        folder = data or find_records()
        if scale == "deals":
            _second_round(folder, runs / scale, run=run, workers=workers or 2)
            return
        entries, protocol = made.read_claims(folder), made.read_protocol(scale, folder)
        campaign = made.Campaign(protocol, runs / scale, folder, workers=workers, scheduler=scheduler)
        if repeat:
            _repeat(campaign, repeat)
        elif run:
            _run(campaign, arm)
        elif not judge:
            print(_planned(made.costs(protocol, folder / "results.jsonl")))
        if judge or (run and not arm and not repeat):
            print(_judged(protocol.of(entries), made.verdicts(entries, protocol, folder)))


def _run(campaign: "Campaign", arms: list[str] | None) -> None:
    """Search and train; when everything has been chosen, and only then, open the door once."""
    from ranklab.datasets import held_out

    campaign.train(arms)
    for line in campaign.failures:
        print(f"failed {line}", file=sys.stderr)
    if not arms:
        with held_out.opened():
            made = campaign.measure()
        print(f"{len(made)} networks were measured on the held-out letters")


def _second_round(folder: Path, runs: Path, *, run: bool, workers: int) -> None:
    """Arm by arm: the searches of all deals, and only then the held-out letters; and what can be answered by now."""
    from ranklab.claims.answers import answers, as_text
    from ranklab.claims.deals import Deals, read_round
    from ranklab.datasets import held_out

    design, table = read_round(folder), folder / "claims_deals.jsonl"
    for arm in Deals(design, runs, workers=workers).run() if run else ():
        with held_out.opened():
            count = Deals(design, runs).measure(arm, table)
        print(f"{arm.name}: {count} networks were measured on the held-out letters", flush=True)
    print(as_text(answers(design, table)))


def _repeat(campaign: "Campaign", names: list[str]) -> None:
    """Beside each record what comes now; nothing is written to the records."""
    from ranklab.datasets import held_out

    for name in names:
        was, run = campaign.retrain(name)
        with held_out.opened():
            now = campaign.measured(was.evidence["arm"], run)
        if was.evidence.get("code") != now.evidence.get("code"):
            print(f"{name} was recorded by other code, which may round otherwise; see its commit", file=sys.stderr)
        if was.parameters["weights"] != now.parameters["weights"]:
            what = f"from {was.parameters['weights']}, now from {now.parameters['weights']}"
            print(f"{name} began {what}: another kind of processor rounds otherwise, in the start too", file=sys.stderr)
        shown = [metric for metric in was.metrics if metric in now.metrics and metric != "seconds"]
        width = max(map(len, [name, *shown]))
        print(f"{name:<{width}}  recorded       now")
        for metric in shown:
            print(f"{metric:<{width}}  {was.metrics[metric]:8.5f}  {now.metrics[metric]:8.5f}")


def _planned(costs: "Sequence[Cost]") -> str:
    """A line for each arm."""
    width = max(len(cost.arm) for cost in costs)
    lines = [f"{one.arm:<{width}}  {one.runs:3d} runs of {one.steps:5,d} steps  {one.hours:6.2f} h" for one in costs]
    runs, hours = sum(cost.runs for cost in costs), sum(cost.hours for cost in costs)
    return "\n".join([*lines, f"{runs:,} runs, {hours:.1f} hours of one core or GPU by the time that such runs took"])


def _judged(claims: "Sequence[Claim]", found: "Verdicts") -> str:
    """A line for each claim, and for each record that was left out."""
    lines = []
    for claim in claims:
        judged = found.judged.get(claim.id)
        if judged is None:
            why = f"cannot be tested here: {claim.missing}" if claim.missing else "not judged yet"
            lines.append(f"{claim.id}: {why}")
        else:
            difference = f"{100 * judged.estimate.mean:+.2f} ± {100 * judged.estimate.half_width:.2f} points"
            lines.append(f"{claim.id}: {judged.verdict}, {difference} ({judged.level:.1%})")
    return "\n".join([*lines, *(f"left out {line}" for line in found.left_out)])

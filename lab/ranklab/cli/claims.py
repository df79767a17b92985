"""The command that puts the claims of the papers to the test: it alone opens the held-out letters, an arm at a time."""

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ranklab.cli.shared import Runs, telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ranklab.claims import Claim, Verdicts
    from ranklab.claims.deals import Round

#: Of the first round.
SCALES = ("cpu", "detection")


def claims(
    run: Annotated[
        bool, typer.Option("--run", help="Do a round, by default the second: search, train, measure, arm by arm.")
    ] = False,
    of: Annotated[
        str, typer.Option("--round", help="By its file in the folder of records: deals, or since.")
    ] = "deals",
    repeat: Annotated[
        str | None, typer.Option(metavar="ARM-DEAL", help="Make this search again from nothing, beside its records.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Trainings at a time, a thread each.")] = 2,
    device: Annotated[str, typer.Option(help="Where it is trained: cpu, or cuda, which takes more workers.")] = "cpu",
    runs: Runs = Path("runs") / "claims",
    data: Annotated[Path | None, typer.Option(help="Folder of claims.yaml and records; default: lab/records.")] = None,
) -> None:
    """Judge the claims of the papers by the records that there are; an arm that has records is not run again."""
    from ranklab import claims as made
    from ranklab.claims.answers import all_answers, as_text, networks
    from ranklab.claims.deals import Deals, read_round
    from ranklab.datasets import held_out
    from ranklab.runs.folders import find_records

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with telling("claims"):
        folder = data or find_records()
        design, table = read_round(folder, of), folder / f"claims_{of}.jsonl"
        if repeat:
            _repeat(design, table, repeat, device)
            return
        if run:
            deals, there = Deals(design, runs, workers=workers, device=device), networks(table)
            chosen = {name: there.get((name, arm.choose), {}) for name, arm in design.arms.items()}
            done = {name: of_deals for name, of_deals in chosen.items() if len(of_deals) == design.deals}
            for arm in deals.run(done):
                with held_out.opened():
                    count = deals.measure(arm, table)
                print(f"{arm.name}: {count} networks were measured on the held-out letters", flush=True)
        else:
            entries = made.read_claims(folder)
            for protocol in (made.read_protocol(scale, folder) for scale in SCALES):
                print(_judged(protocol.of(entries), made.verdicts(entries, protocol, folder)))
        print(as_text(all_answers(folder)))


def _repeat(design: "Round", table: Path, asked: str, device: str) -> None:
    """Beside each record what comes now; nothing is written to the records."""
    from ranklab.claims.deals import Deals
    from ranklab.datasets import held_out
    from ranklab.runs import collect_runs

    name, _, deal = asked.rpartition("-")
    was = {record.run: record for record in collect_runs(table)[0] if record.run.rpartition("-")[0] == asked}
    if not was:
        raise ValueError(f"repeat must be an arm and a deal that are in {table}, as rambo_log-0, got {asked!r}")
    with tempfile.TemporaryDirectory() as folder:
        deals = Deals(design, Path(folder), device=device)
        deals.search_with_needs(design.arms[name], int(deal))
        with held_out.opened():
            made = {record.run: record for record in deals.records_of(design.arms[name], int(deal))}
    for run in sorted(was.keys() | made.keys()):
        both = [records[run].metrics if run in records else {} for records in (was, made)]
        codes = {records[run].evidence["code"] for records in (was, made) if run in records}
        if len(codes) > 1:
            print(f"{run} was recorded by other code, which may round otherwise; see its commit", file=sys.stderr)
        print(f"{run:<30}  recorded       now")
        for metric in sorted(metric for metric in both[0] | both[1] if not metric.endswith(("seconds", "share"))):
            print(f"{metric:<30}  " + "  ".join(f"{of.get(metric, float('nan')):8.5f}" for of in both))


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

"""Commands of the labs, which run one, sweep a grid, search for settings, and print the results."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankedu.extras import needed
from rankedu_lab.cli.shared import Lab, Labs, Parameters, Preset, Runs, Scheduler, Timeout, Workers, reporting

if TYPE_CHECKING:
    from rankedu_lab.runs import Run

#: Metrics of a run that are printed.
SHOWN = 30


def run(
    context: typer.Context,
    lab: Lab,
    preset: Preset = None,
    parameters: Parameters = None,
    timeout: Timeout = 3600,
    runs: Runs = Path("runs"),
    labs: Labs = None,
    force: Annotated[bool, typer.Option("--force", help="Repeat a finished run.")] = False,
    explain: Annotated[
        bool, typer.Option("--list", help="List the lab's parameters and presets, and run nothing.")
    ] = False,
) -> None:
    """Run a lab with a preset or with your parameters. Finished runs are skipped."""
    from rankedu_lab.runs import run_lab

    with reporting("run"):
        if context.args:
            words = " ".join([*(parameters or ()), *context.args])
            raise ValueError(f"-p must be followed by key=value in one word, got {words!r} (as in -p batch_sizes=8,16)")
        if explain:
            print(_about(lab, labs))
            return
        asked: dict[str, Any] = {"preset": preset, "assignments": parameters or (), "labs": labs, "runs": runs}
        done = run_lab(lab, **asked, timeout=timeout, force=force)
    print("Nothing to do: the run is finished (--force repeats it)." if done.skipped else "Done.")
    print(_metrics_of(done))


def _metrics_of(run: "Run") -> str:
    """Return the first metrics of a result, one per line, and the place of the others."""
    from rankedu_lab.runs.results import flatten

    metrics = flatten(run.result.get("metrics", {}))
    width = max(map(len, metrics), default=0)
    texts = ["—" if v is None else str(v) if v == int(v) else f"{v:.4g}" for v in metrics.values()]
    lines = [f"{name:<{width}}  {text}" for name, text in zip(metrics, texts, strict=True)]
    more = [f"… and {len(lines) - SHOWN} more in result.json"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more, str(run.folder)])


def sweep(
    lab: Lab,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="KEY=VALUE,VALUE", help="Values of a parameter. All combinations are run."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds, which are 0, 1 and so on.", show_default="3")
    ] = None,
    preset: Preset = None,
    parameters: Parameters = None,
    timeout: Timeout = 3600,
    runs: Runs = Path("runs"),
    labs: Labs = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    resources: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="Resource of a worker that a run needs, such as GPU=1."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs with their progress, and start nothing.")
    ] = False,
) -> None:
    """Run a lab at every point of a grid, for several seeds. Finished runs are skipped."""
    from rankedu_lab import runs as running
    from rankedu_lab.runs.sweeps import list_states, parse_resources

    with reporting("sweep"):
        asked: dict[str, Any] = {"preset": preset, "assignments": parameters or (), "labs": labs, "runs": runs}
        if dry_run:
            print(list_states(running.plan_sweep(lab, grid or (), seeds=seeds, **asked)))
            return
        how: dict[str, Any] = {"timeout": timeout, "workers": workers, "scheduler": scheduler}
        done = running.sweep(lab, grid or (), seeds=seeds, **asked, **how, resources=parse_resources(resources or ()))
    fresh = sum(not run.skipped for run in done)
    now = "" if fresh == len(done) else f", {fresh} of them now"
    print(f"Done: {len(done)} of {len(done)} runs{now}." if fresh else f"Nothing to do: all {len(done)} runs are done.")
    print(done[0].folder.parent)


def search(
    lab: Lab,
    method: Annotated[str, typer.Option(help="Loss whose settings are searched for.")],
    trials: Annotated[int, typer.Option(help="Number of runs, finished ones included.")] = 20,
    metric: Annotated[str, typer.Option(help="Metric on the validation split that chooses the settings.")] = "mAP@R",
    preset: Preset = None,
    parameters: Parameters = None,
    timeout: Timeout = 3600,
    runs: Runs = Path("runs"),
    labs: Labs = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Search for good settings of a loss.

    Each trial draws a learning rate and settings at random, and trains with them. The best trial on the validation
    split wins.
    """
    import numpy as np

    with reporting("search"):
        needed("optuna", "searches are kept by Optuna")
        from rankedu_lab.methods.space import as_parameters, space_of
        from rankedu_lab.runs.search import search as search_for

        held = {text.partition("=")[0] for text in parameters or ()}
        asked: dict[str, Any] = {"preset": preset, "assignments": parameters or (), "labs": labs, "runs": runs}
        asked |= {"parameters": {"loss": method}, "trials": trials, "metric": metric, "as_parameters": as_parameters}
        how = {"timeout": timeout, "workers": workers, "scheduler": scheduler}
        study = search_for(lab, space_of(method, without=held), **asked, how=how)
    chosen = " ".join(f"{name}={value:.4g}" for name, value in study.best_params.items())
    print(f"{method}: {metric} {study.best_value:.4f} on the validation split with {chosen}")
    values = [trial.value for trial in study.trials if trial.value is not None]
    best, upper, median, worst = np.quantile(values, (1.0, 0.75, 0.5, 0.0))
    print(f"best {best:.4g}; upper quartile {upper:.4g}; median {median:.4g}; worst {worst:.4g}", end="; ")
    print(f"failed {len(study.trials) - len(values)} of {trials} trials")


def _about(lab: str, labs: Path | None) -> str:
    """Return the parameters of a lab, and the presets that fit it."""
    from rankedu_lab.runs import find_labs, list_presets, read_parameters
    from rankedu_lab.runs.parameters import describe, find_lab

    folder = find_labs(labs)
    declared = read_parameters(find_lab(lab, folder)).values()
    return f"Parameters:\n{describe(declared)}\nPresets: {', '.join(list_presets(lab, folder)) or 'none'}"


def results(
    runs: Annotated[
        list[Path] | None, typer.Option(help="Folder of runs, or kept table. You may repeat this option.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="File .jsonl that keeps the runs, one per line.")] = None,
    lab: Annotated[str | None, typer.Option(help="Show only this lab.")] = None,
    by: Annotated[str | None, typer.Option(metavar="A,B", help="Parameters that distinguish the rows.")] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="A,B", help="Metrics for the columns. The first one sorts the rows.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Show only runs with this parameter.")
    ] = None,
) -> None:
    """Print a table of the finished runs.

    Each row is a setting, with the mean ± standard deviation over its seeds.
    """
    with reporting("results"):
        needed("pandas", "results are read by pandas")
        from rankedu_lab.runs.records import keep_runs
        from rankedu_lab.runs.tables import find_runs, tabulate

        found, skipped = find_runs(runs or [Path("runs")], lab, _settings(where or ()))
        text, notes = tabulate(found, by=by.split(",") if by else None, metrics=metrics)
        for line in skipped + notes:
            print(f"skipped {line}", file=sys.stderr)
        print(text)
        if keep is not None:
            print(f"{keep_runs(found, keep)} of {len(found)} records written to {keep}", file=sys.stderr)


def _settings(texts: Sequence[str]) -> dict[str, str]:
    """Read KEY=VALUE texts."""
    for text in texts:
        if "=" not in text:
            raise ValueError(f"--where must be followed by KEY=VALUE, got {text!r} (such as --where loss=smooth_ap)")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}

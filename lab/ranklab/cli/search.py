"""The command that searches for the settings of a method."""

from pathlib import Path
from typing import Annotated

import typer

from ranklab.cli.shared import Lab, Labs, Parameters, Preset, Runs, Scheduler, Timeout, Workers, telling


def search(
    lab: Lab,
    method: Annotated[str, typer.Option(help="The loss whose settings are searched for.")],
    trials: Annotated[int, typer.Option(help="Runs, those included that have been made.")] = 20,
    metric: Annotated[str, typer.Option(help="What the validation split chooses by.")] = "mAP@R",
    preset: Preset = None,
    parameters: Parameters = None,
    timeout: Timeout = 3600,
    runs: Runs = Path("runs"),
    labs: Labs = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
) -> None:
    """Search the learning rate and the own settings of a method by trials on the validation split."""
    from ranklab.methods.space import as_parameters, space_of
    from ranklab.runs.search import search as search_for

    with telling("search"):
        held = {text.partition("=")[0] for text in parameters or ()}
        found = search_for(
            lab,
            space_of(method, without=held),
            trials=trials,
            metric=metric,
            as_parameters=as_parameters,
            preset=preset,
            parameters={"loss": method},
            assignments=parameters or (),
            labs=labs,
            runs=runs,
            timeout=timeout,
            workers=workers,
            scheduler=scheduler,
        )
        best = found.best
    chosen = " ".join(f"{name}={value:.4g}" for name, value in best.point.items())
    print(f"{method}: {metric} {best.value:.4f} on the validation split with {chosen}")
    print("; ".join(f"{name} {value:.4g}" for name, value in found.spread().items()) + f" of {trials} trials")

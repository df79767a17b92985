"""The command that searches for the settings of a method."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def search(
    lab: Annotated[str, typer.Argument(help="Name of the lab, for instance retrieval.")],
    method: Annotated[str, typer.Option(help="The loss whose settings are searched for.")],
    trials: Annotated[int, typer.Option(help="Runs, those included that have been made.")] = 20,
    metric: Annotated[str, typer.Option(help="What the validation split chooses by.")] = "mAP@R",
    preset: Annotated[str | None, typer.Option(help="A file of presets/, without its ending.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Set a parameter, the same in all trials.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that a run may take; one that hangs is tried twice.")] = 3600,
    runs: Annotated[Path, typer.Option(help="Where the folders of the runs are made.")] = Path("runs"),
    labs: Annotated[Path | None, typer.Option(help="Folder of the labs; default: that of the checkout.")] = None,
    workers: Annotated[int | None, typer.Option(help="Runs at a time.", show_default="GPUs, or cores")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use the workers of this Dask scheduler, tcp://HOST:PORT.")
    ] = None,
) -> None:
    """Search the learning rate and the own settings of a method by trials on the validation split."""
    from ranklab.methods.space import as_parameters, space_of
    from ranklab.runs import SweepError
    from ranklab.runs.search import search as search_for

    try:
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
    except KeyboardInterrupt as error:
        print(f"rankedu search: {error}", file=sys.stderr)
        raise typer.Exit(code=130) from None
    except SweepError as error:
        print(f"rankedu search: {error}", file=sys.stderr)
        raise typer.Exit(code=1) from None
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu search: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    chosen = " ".join(f"{name}={value:.4g}" for name, value in best.point.items())
    print(f"{method}: {metric} {best.value:.4f} on the validation split with {chosen}")
    print("; ".join(f"{name} {value:.4g}" for name, value in found.spread().items()) + f" of {trials} trials")

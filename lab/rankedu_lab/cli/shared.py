"""Options and error messages that the commands of the labs share."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Lab = Annotated[str, typer.Argument(help="Name of the lab, for example retrieval.")]
Preset = Annotated[str | None, typer.Option(help="Name of a preset, which is a file in the folder presets.")]
Parameters = Annotated[
    list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Value of a parameter, which overrides the preset.")
]
Timeout = Annotated[float, typer.Option(help="Seconds that a run may take before it is stopped.")]
Runs = Annotated[Path, typer.Option(help="Folder for the folders of the runs.")]
Labs = Annotated[Path | None, typer.Option(help="Folder of the labs, by default the one of the checkout.")]
Workers = Annotated[int | None, typer.Option(help="Number of parallel runs.", show_default="GPUs, or cores")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler, tcp://HOST:PORT, whose workers do the runs."),
]


@contextmanager
def reporting(command: str) -> Iterator[None]:
    """Print an error and exit, with 130 after Ctrl-C, with 1 if runs failed, and with 2 for wrong arguments."""
    from rankedu_lab.runs import LabError, SweepError

    try:
        yield
    except BrokenPipeError:  # of `rankedu results | head`
        raise
    except KeyboardInterrupt as error:
        message = str(error) or "stopped; the same command goes on, from the run's checkpoint if the lab keeps one"
        code = 130
    except (LabError, SweepError) as error:
        message, code = str(error), 1
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        message, code = str(error), 2
    else:
        return
    print(f"rankedu {command}: {message}", file=sys.stderr)
    raise typer.Exit(code=code)

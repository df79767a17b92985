"""What the commands of the labs share: options, and what is said of errors."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Lab = Annotated[str, typer.Argument(help="Name of the lab, for instance retrieval.")]
Preset = Annotated[str | None, typer.Option(help="A file of presets/, without its ending.")]
Parameters = Annotated[
    list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Set a parameter; goes before the preset's.")
]
Timeout = Annotated[float, typer.Option(help="Seconds that a run may take; one that hangs is tried twice.")]
Runs = Annotated[Path, typer.Option(help="Where the folders of the runs are made.")]
Labs = Annotated[Path | None, typer.Option(help="Folder of the labs; default: that of the checkout.")]
Workers = Annotated[int | None, typer.Option(help="Runs at a time.", show_default="GPUs, or cores")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Use the workers of this Dask scheduler, tcp://HOST:PORT.")
]


@contextmanager
def telling(command: str) -> Iterator[None]:
    """Say what was wrong, and leave: with 130 after Ctrl-C, with 1 if runs failed, with 2 if it is the arguments."""
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

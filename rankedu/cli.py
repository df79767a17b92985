"""The command line. Commands import what they need when they run, so that `rankedu --help` answers at once."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="rankedu",
    help="Optimise the ranking metric itself: the tools of the book.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from rankedu import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Optimise the ranking metric itself: the tools of the book."""


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Report versions, processor, GPU, fonts and browser, and what is missing with its fix."""
    from rankedu.doctor import examine, table

    findings = examine()
    print(json.dumps([vars(finding) for finding in findings], indent=1) if as_json else table(findings))
    raise typer.Exit(code=int(any(finding.essential and not finding.ok for finding in findings)))


@app.command()
def figures(
    out: Annotated[Path, typer.Option(help="Folder to write to; made if it is not there.")] = Path("figures"),
) -> None:
    """Write every paper figure as PNG and SVG."""
    from rankedu.figures import write_all

    for path in write_all(out):
        print(path)


@app.command()
def run(
    lab: Annotated[str, typer.Argument(help="Name of the lab, for instance sodeep.")],
    preset: Annotated[str | None, typer.Option(help="A file of presets/, without its ending.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Set a parameter; goes before the preset's.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the run may take; one that hangs is tried twice.")
    ] = 3600,
    runs: Annotated[Path, typer.Option(help="Where the folder of the run is made.")] = Path("runs"),
    labs: Annotated[Path | None, typer.Option(help="Folder of the labs; default: that of the checkout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Run again what has been run.")] = False,
    explain: Annotated[bool, typer.Option("--list", help="List the lab's parameters and presets instead.")] = False,
) -> None:
    """Run a lab with a preset or parameters of your own; what has been run is not run again."""
    from rankedu.labs import LabError, run_lab

    try:
        if explain:
            print(_about(lab, labs))
            return
        done = run_lab(
            lab, preset=preset, assignments=parameters or (), labs=labs, runs=runs, timeout=timeout, force=force
        )
    except LabError as error:
        print(f"rankedu run: {error}", file=sys.stderr)
        raise typer.Exit(code=1) from None
    except (ValueError, TypeError, FileNotFoundError, ModuleNotFoundError) as error:
        print(f"rankedu run: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    print("Nothing to do: it has been run (--force runs it again)." if done.skipped else "Done.")
    print(done.folder)


def _about(lab: str, labs: Path | None) -> str:
    """The parameters of a lab, and the presets that fit it."""
    from rankedu.labs import find_labs, list_presets, read_parameters
    from rankedu.labs.folders import find_lab
    from rankedu.labs.parameters import describe

    folder = find_labs(labs)
    declared = read_parameters(find_lab(lab, folder)).values()
    return f"Parameters:\n{describe(declared)}\nPresets: {', '.join(list_presets(lab, folder)) or 'none'}"

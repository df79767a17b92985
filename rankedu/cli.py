"""The command line. Commands import what they need when they run, so that `rankedu --help` answers at once."""

import json
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

"""The command itself; each group of commands has a file beside this one."""

from typing import Annotated

import typer

app = typer.Typer(
    name="rankedu",
    help="Optimise the ranking metric itself: the tools of the book.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the other help shows flags as if they took a value
)
data_app = typer.Typer(
    help="The papers' data sets: what there is, and whether yours are whole.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(data_app, name="data")


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

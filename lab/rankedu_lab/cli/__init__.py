"""The commands of the labs, a file for each group; they import what they need when they run."""

import typer

from rankedu_lab.cli import data, labs, train

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command `rankedu`."""
    app.command(context_settings={"allow_extra_args": True})(labs.run)  # which says what was wrong with them
    for command in (train.train, labs.sweep, labs.results, labs.search):
        app.command()(command)
    app.add_typer(data.data, name="data")

"""Commands of the data sets: list them, check them."""

from pathlib import Path
from typing import Annotated

import typer

from rankedu_lab.cli.shared import telling

data = typer.Typer(
    help="The papers' data sets: what there is, and whether yours are whole.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
DataRoot = Annotated[Path | None, typer.Option("--data-root", help="Folder of the data sets; default: $RANKEDU_DATA.")]


@data.command("list")
def list_data(data_root: DataRoot = None) -> None:
    """List the data sets: counts as published, whether they are found, and where their owners publish them."""
    from rankedu_lab.datasets.registry import catalogue

    print(catalogue(data_root))


@data.command("check")
def check_data(
    name: Annotated[str, typer.Argument(help="Name of the data set, for instance cub.")], data_root: DataRoot = None
) -> None:
    """Compare a data set with what is published: lists, files and counts. Leaves with 1 if anything differs."""
    from rankedu_lab.datasets import check

    with telling("data check"):
        report = check(name, data_root)
    print(report)
    raise typer.Exit(code=int(not report.ok))

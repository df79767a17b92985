"""Commands of the data sets: list them, check them."""

from pathlib import Path
from typing import Annotated

import typer

from rankedu_lab.cli.shared import reporting

data = typer.Typer(
    help="List the data sets of the papers, and check your copies.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
DataRoot = Annotated[
    Path | None, typer.Option("--data-root", help="Folder of the data sets, by default $RANKEDU_DATA.")
]


@data.command("list")
def list_data(data_root: DataRoot = None) -> None:
    """List the data sets with their published counts, whether they are found, and where they are published."""
    from rankedu_lab.datasets.registry import catalogue

    print(catalogue(data_root))


@data.command("check")
def check_data(
    name: Annotated[str, typer.Argument(help="Name of the data set, for example cub.")], data_root: DataRoot = None
) -> None:
    """Compare the lists, files and counts of a data set with the published ones. The exit code is 1 if they differ."""
    from rankedu_lab.datasets import check

    with reporting("data check"):
        report = check(name, data_root)
    print(report)
    raise typer.Exit(code=int(not report.ok))

"""The command of the book, which writes figures, and the checks of the doctor for the book."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer


def figures(
    out: Annotated[Path, typer.Option(help="Folder for the figures, made if it is missing.")] = Path("figures"),
    only: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Names of figures, separated by semicolons, such as 'RaMBO Fig. 1'.",
            show_default="all",
        ),
    ] = "",
    lam: Annotated[float | None, typer.Option(help="Interpolation λ.", show_default="the figure's")] = None,
    margin: Annotated[float | None, typer.Option(help="Margin α.", show_default="the figure's")] = None,
    alpha: Annotated[float | None, typer.Option(help="Relevance exponent α.", show_default="the figure's")] = None,
    batch_sizes: Annotated[
        str | None, typer.Option(metavar="N,N", help="Batch sizes, separated by commas.", show_default="the figure's")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random scores.", show_default="the figure's")] = None,
) -> None:
    """Write the figures of the papers as PNG and SVG.

    By default all figures are written, with their own settings.
    """
    from rankedu_book.kit.figures import write_figures

    given = {"lam": lam, "margin": margin, "alpha": alpha, "seed": seed}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        if batch_sizes:
            settings["batch_sizes"] = [int(size) for size in batch_sizes.split(",")]
        for drawn in write_figures(out, only, settings):
            print(*drawn.paths, sep="\n")
    except ValueError as error:
        print(f"rankedu figures: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None


def add_to(app: typer.Typer) -> None:
    """Add the command to the command `rankedu`, and their needs to the checks of its doctor."""
    from rankedu.cli import doctor

    app.command()(figures)
    doctor.CHECKS.append(lambda: import_module("rankedu_book.cli.checks").findings())

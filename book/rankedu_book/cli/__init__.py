"""Commands of the book: write its figures, begin a chapter; and what the doctor looks at for its sake."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer


def figures(
    out: Annotated[Path, typer.Option(help="Folder to write to; made if missing.")] = Path("figures"),
    only: Annotated[
        str, typer.Option(metavar="NAMES", help="Names such as 'RaMBO Fig. 1', with semicolons.", show_default="all")
    ] = "",
    lam: Annotated[float | None, typer.Option(help="Interpolation λ.", show_default="the figure's")] = None,
    margin: Annotated[float | None, typer.Option(help="Margin α.", show_default="the figure's")] = None,
    alpha: Annotated[float | None, typer.Option(help="Relevance exponent α.", show_default="the figure's")] = None,
    batch_sizes: Annotated[
        str | None, typer.Option(metavar="N,N", help="Sizes of batches.", show_default="the figure's")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of drawn scores.", show_default="the figure's")] = None,
) -> None:
    """Write the papers' figures as PNG and SVG, all or some of them, with settings of your own."""
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


def new_chapter(
    slug: Annotated[str, typer.Argument(help="Name of its files and modules, for instance soft_sorting.")],
    title: Annotated[str, typer.Option(help="As it stands above the text.")],
) -> None:
    """Write the files of a new chapter: text, figures, slider, exercises and tests, with brackets where you write."""
    from rankedu_book.kit.new_chapter import new_chapter as write

    try:
        written = write(slug, title)
    except (ValueError, OSError) as error:
        print(f"rankedu new-chapter: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    print(*written, "Next: write what stands in ⟨brackets⟩; book/contributing/chapter.md tells the rest", sep="\n")


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command `rankedu`, and what they need to what its doctor looks at."""
    from rankedu.cli import doctor

    app.command()(figures)
    app.command("new-chapter")(new_chapter)
    doctor.CHECKS.append(lambda: import_module("rankedu_book.cli.checks").findings())

"""Commands of the book: write its figures, begin a chapter; and what the doctor looks at for its sake."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer


def figures(out: Annotated[Path, typer.Option(help="Folder to write to; made if missing.")] = Path("figures")) -> None:
    """Write every paper figure as PNG and SVG."""
    from rankbook.kit.figures import write_all

    print(*write_all(out), sep="\n")


def new_chapter(
    slug: Annotated[str, typer.Argument(help="Name of its files and modules, for instance soft_sorting.")],
    title: Annotated[str, typer.Option(help="As it stands above the text.")],
) -> None:
    """Write the files of a new chapter: text, figures, slider, exercises and tests, with brackets where you write."""
    from rankbook.kit.new_chapter import new_chapter as write

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
    doctor.CHECKS.append(lambda: import_module("rankbook.cli.checks").findings())

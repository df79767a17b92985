"""What every chapter uses: style, sliders, predictions, checks of exercises."""

from pathlib import Path


def modules(file: str) -> list[str]:
    """The dotted names of all modules of a file name, or pattern, in the order of the book.

    >>> modules("exercises.py")[0]
    'rankedu_book.ch01_rank_based_metrics.exercises'
    """
    package = Path(__file__).resolve().parents[1]
    found = sorted(path.relative_to(package).with_suffix("") for path in package.glob(f"[!k]*/{file}"))
    return [".".join(["rankedu_book", *path.parts]) for path in found]

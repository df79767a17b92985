"""The picture of imports, the table of rankers and the landscapes that `architecture.md` includes."""

import re
from pathlib import Path

from tabulate import tabulate

from rankedu_book.ch12_surrogates_side_by_side.figures import every_landscape
from rankedu_book.kit import style
from rankedu_book.kit.known_rankers import PROMISES, RANKERS
from rankedu_lab import CHECKOUT
from tools.site.templates import filled

#: Height of a row, width of the picture, and space between two boxes.
PITCH, WIDTH, SPACE = 34, 640, 8


def layers() -> dict[str, list[list[str]]]:
    """Return the layers that `lint-imports` checks by package, with the part that everything uses at the top."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    found = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    return {one["name"]: [re.findall(r"[\w.]+", row) for row in reversed(one["layers"])] for one in found}


def picture() -> str:
    """Draw the layers as an SVG, in which each part uses the parts above it."""
    titles, boxes, top = [], [], 0
    for title, rows in layers().items():
        titles.append((title, top))
        for row in rows:
            top += PITCH
            wide = (WIDTH - SPACE * (len(row) - 1)) / len(row)
            boxes += [(name, at * (wide + SPACE), top, wide) for at, name in enumerate(row)]
        top += PITCH * 3 // 2
    words = ". ".join(f"{title}: {'; '.join(map(', '.join, rows))}" for title, rows in layers().items())
    return filled("architecture.svg", words=words, titles=titles, boxes=boxes, width=WIDTH, height=top)


def rankers() -> str:
    """Return a table of all rankers with their usual strengths and the promises that they do not keep."""
    rows = []
    for name, known in RANKERS.items():
        turned = known.strength.label(known.strength.usual) if known.strength else "—"
        broken = "; ".join(f"*{promise}*: {why}" for promise, why in known.breaks.items())
        package = known.ranker.__module__.rpartition(".")[0]
        link = f"{{py:class}}`~{package}.{known.ranker.__name__}`"
        rows.append((f"{name}: {link}", turned, broken or "—"))
    kept = "\n".join(f"* *{promise}*: {what}" for promise, what in PROMISES.items())
    heads = ["ranker", "usual strength", "does not keep"]
    return f"{kept}\n\n{tabulate(rows, heads, tablefmt='github', disable_numparse=True)}\n"


def write(folder: Path) -> None:
    """Write the files that `architecture.md` includes."""
    (folder / "architecture.svg").write_text(picture(), encoding="utf-8")
    (folder / "rankers.md").write_text(rankers(), encoding="utf-8")
    made = every_landscape()
    (folder / "landscapes.png").write_bytes(style.png(made))
    (folder / "landscapes.md").write_text(
        f"```{{figure}} _generated/landscapes.png\n:name: fig-landscapes\n:alt: {style.description(made)}\n\n"
        "The loss of chapter 12's section, and what every ranker with a strength makes of it at one distortion.\n```\n",
        encoding="utf-8",
    )

"""The tables of imports and of rankers and the landscapes that `architecture.md` includes."""

import re
from pathlib import Path

from tabulate import tabulate

from rankedu_book.ch12_surrogates_side_by_side.figures import every_landscape
from rankedu_book.kit import style
from rankedu_book.kit.known_rankers import PROMISES, RANKERS
from rankedu_lab import CHECKOUT


def layers() -> str:
    """Return a table of the layers that `lint-imports` checks, in which each part uses only the parts above it."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = []
    for one in project["tool"]["importlinter"]["contracts"]:
        for at, row in enumerate(reversed(one.get("layers", []))):
            rows.append(("" if at else one["name"], ", ".join(f"`{part}`" for part in re.findall(r"[\w.]+", row))))
    return tabulate(rows, ["package", "parts, from the top down"], tablefmt="github") + "\n"


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
    (folder / "layers.md").write_text(layers(), encoding="utf-8")
    (folder / "rankers.md").write_text(rankers(), encoding="utf-8")
    made = every_landscape()
    (folder / "landscapes.png").write_bytes(style.png(made))
    (folder / "landscapes.md").write_text(
        f"```{{figure}} _generated/landscapes.png\n:name: fig-landscapes\n:alt: {style.description(made)}\n\n"
        "The loss of chapter 12's section, and what every ranker with a strength makes of it at one distortion.\n```\n",
        encoding="utf-8",
    )

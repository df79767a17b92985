"""The reading paths and the minutes of pages, as data for the script that leads a reader along them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tools.site.labels import labels
from tools.site.reading import BOOK, chapters, homes, minutes, stated, ways

_PREDICT = re.compile(r"^:class: predict\b", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def data() -> dict[str, Any]:
    """Every path with its steps; and every page that has a stated time, with its minutes and its predictions."""
    times = {f"chapters/{one.stem}": one.read for one in chapters().values()}
    times |= {step: time for step, time in stated().items() if step not in homes()}
    pages = {
        f"{page}.html": {"minutes": time, "predictions": len(_PREDICT.findall(_text(page)))}
        for page, time in sorted(times.items(), key=lambda pair: f"{pair[0]}.html")
    }
    ways_told = [{"name": way.name, "title": way.title, "steps": list(map(_step, way.steps))} for way in ways()]
    return {"ways": ways_told, "pages": pages}


def _text(page: str) -> str:
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


def _step(step: str) -> dict[str, Any]:
    """A step: its address from the root of the book, its title, its minutes."""
    if step not in homes():
        return {"address": f"{step}.html", "title": _TITLE.findall(_text(step))[0], "minutes": minutes(step)}
    chapter, whole = chapters()[homes()[step]], step.startswith("ch-")
    title = f"{chapter.number}. {chapter.title}" if whole else labels()[step].title
    address = f"chapters/{chapter.stem}.html" + ("" if whole else f"#{step}")
    return {"address": address, "title": re.sub(r"[$`*]", "", title), "minutes": minutes(step)}


def write(folder: Path) -> None:
    """Write the data as a script, which a page can load from the file system, too."""
    encoded = json.dumps(data(), ensure_ascii=False, indent=1)
    (folder / "paths.js").write_text(
        f"/* Made by book/tools/site/paths.py. */\nwindow.bookPaths = {encoded};\n", "utf-8"
    )

"""The reading paths and the minutes of pages, as data for the script that leads a reader along them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tools.site.reading import BOOK, chapters, homes, minutes, section, ways

_PREDICT = re.compile(r"^:class: predict\b", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def data() -> dict[str, Any]:
    """Every path with its steps; and every page that has a stated time, with its minutes and its predictions."""
    steps = {step for way in ways() for step in way.steps}
    pages = {f"chapters/{one.stem}.html": (one.read, one.text) for one in chapters().values()}
    pages |= {
        f"{step}.html": (minutes(step), (BOOK / f"{step}.md").read_text(encoding="utf-8"))
        for step in steps
        if step not in homes()
    }
    return {
        "ways": [{"name": way.name, "title": way.title, "steps": list(map(_step, way.steps))} for way in ways()],
        "pages": {
            page: {"minutes": time, "predictions": len(_PREDICT.findall(text))}
            for page, (time, text) in sorted(pages.items())
        },
    }


def _step(step: str) -> dict[str, Any]:
    """A step: its address from the root of the book, its title, its minutes."""
    if step not in homes():
        title = _TITLE.findall((BOOK / f"{step}.md").read_text(encoding="utf-8"))[0]
        return {"address": f"{step}.html", "title": title, "minutes": minutes(step)}
    chapter = chapters()[homes()[step]]
    whole = re.fullmatch(r"ch-\d\d", step)
    title = f"{chapter.number}. {chapter.title}" if whole else section(step)[1]
    address = f"chapters/{chapter.stem}.html" + ("" if whole else f"#{step}")
    return {"address": address, "title": re.sub(r"[$`*]", "", title), "minutes": minutes(step)}


def write(folder: Path) -> None:
    """Write the data as a script, which a page can load from the file system, too."""
    encoded = json.dumps(data(), ensure_ascii=False, indent=1)
    (folder / "paths.js").write_text(
        f"/* Made by book/tools/site/paths.py. */\nwindow.bookPaths = {encoded};\n", "utf-8"
    )

"""Live explorables: what is drawn is under the reader's hand, and the book's own Python answers, wherever it is read.

Each is a file in the folder `live` of its chapter, with a function of its own name and the state that it starts from:
state in → state and scene out (`marks.scene`), in plain Python that imports `math`, `rankedu.reference` and the modules
`marks`, `hands` and `descents` of this package alone. In JupyterLab the kernel runs it, in the published book the page
runs its translation, and everywhere else it is a picture.
"""

import html
import json
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from rankedu_book.kit import modules
from rankedu_book.kit.explorable.core import MIME, is_live

#: What the marks look like.
LOOK = Path(__file__).parent / "page" / "live.css"
#: That, and the script that moves them.
PAGE = LOOK.parent


class Live:
    """The live explorable in the file of that name; call it with a state for what it shows then."""

    def __init__(self, name: str) -> None:
        self.name, self.module = name, _modules()[name]
        found = import_module(self.module)
        self.scene, self.start, self.telling = getattr(found, name), found.START, getattr(found, "TELLING", {})
        self.caption = (self.scene.__doc__ or "").strip().splitlines()[0]

    def __call__(self, state: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The scene of a state as a page gets it, in values of JSON; a number that is none is an error."""
        made = self.scene(json.loads(json.dumps(self.start if state is None else dict(state))))
        return json.loads(json.dumps(made, allow_nan=False))

    def printed(self) -> dict[str, Any]:
        """The scene for paper: of START and what TELLING changes in it, answered and at the end of its run."""
        return self._end(self.telling)

    def _end(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        asked = {"guess": "skip", "playing": True}
        made = self({**self.start, **{name: asked[name] for name in asked if name in self.start}, **changes})
        while made["state"].get("playing"):
            made = self({**made["state"], "tick": True})
        return made

    def svg(self, *, alone: bool = False) -> str:
        """The first scene as a picture; alone, outside of the book, it brings its colours along."""
        made = self()
        style = f"<style>{LOOK.read_text(encoding='utf-8')}</style>" if alone else ""
        about = {"viewBox": f"0 0 480 {made['height']}", "role": "img", "aria-label": made["says"]}
        ground = '<rect width="100%" height="100%" fill="white"/>' if alone else ""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="live" {_attributes(about)}>'
        paper = "" if alone else f'<g class="printed" aria-hidden="true">{_drawn(self.printed())}</g>'
        return f'{head}{style}{ground}<g class="marks">{_drawn(made)}</g>{paper}</svg>'

    def inside(self) -> str:
        """The HTML of the explorable's figure: without scripts a picture, its description and its caption."""
        first, printed = self(), self.printed()
        scenes = first, printed, self._end({})
        most = {name: html.escape(max((one[name] for one in scenes), key=len)) for name in ("found", "says")}
        data = json.dumps(first, ensure_ascii=False).replace("<", "\\u003c")
        return (
            f"<figcaption>{html.escape(self.caption)}</figcaption>{self._guess(first['ask'])}"
            f'<div class="explorable-controls" role="group" aria-label="{html.escape(self.caption)}" hidden></div>'
            f'<p class="told" role="status" data-most="{most["found"]}"></p>{self.svg()}'
            f'<p class="says" role="status" data-most="{most["says"]}">{html.escape(first["says"])}</p>'
            f'<p class="printed">{html.escape(printed["found"] + " " + printed["says"])}</p>'
            f'<p class="trouble" role="status" hidden></p><script type="application/json">{data}</script>'
        )

    def _guess(self, ask: Mapping[str, Any] | None) -> str:
        """The options of a question, and not to guess; without scripts there is nothing to be answered."""
        options = {**{name: name for name in ask["options"]}, "skip": "just show me"} if ask else {}
        radio = '<label><input type="radio" name="{}-guess" value="{}"> {}</label>'
        radios = "".join(radio.format(self.name, *map(html.escape, option)) for option in options.items())
        return (
            f'<fieldset class="guess" hidden><legend>{html.escape(ask["words"])}</legend>{radios}</fieldset>'
            if ask
            else ""
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a cell shows: the thing itself where a kernel runs, in the book by its address, else a picture."""
        data: dict[str, Any] = {
            MIME: {"live": self.name},
            "image/svg+xml": self.svg(alone=True),
            "text/plain": f"Explorable: {self()['says']}",
        }
        if is_live() and find_spec("anywidget"):
            from rankedu_book.kit.live.widget import widget

            data["application/vnd.jupyter.widget-view+json"] = widget(self).get_view_spec()
        return data


def live(module: ModuleType) -> Live:
    """The live explorable of a module, as the last line of a cell."""
    return Live(module.__name__.rpartition(".")[2])


def names() -> list[str]:
    """The names of all live explorables."""
    return sorted(_modules())


def _modules() -> dict[str, str]:
    """Name → module of all live explorables."""
    return {module.rpartition(".")[2]: module for module in modules("live/[a-z]*.py")}


def _drawn(made: Mapping[str, Any]) -> str:
    """The marks of a scene."""
    return "".join(
        f"<{tag} {_attributes(attributes)}>{html.escape(words)}</{tag}>" for tag, attributes, words in made["marks"]
    )


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f'{name}="{html.escape(str(value))}"' for name, value in values.items())

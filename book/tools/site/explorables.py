"""Explorables on the pages of the book, where no kernel runs: frames on disk, or Python that the page runs.

Sphinx makes room for frames, which may still be being drawn; `fill` puts them in when it is done. A live explorable is
whole at once, and `write_scripts` translates what it computes with.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core import render
from sphinx.util.docutils import SphinxDirective

from rankbook.kit.explorable import load
from rankbook.kit.explorable.controls import Control
from rankbook.kit.explorable.core import MIME, Explorable
from rankbook.kit.explorable.grounds import ENDS, RULES, Ground
from rankbook.kit.live import PAGE, Live, names
from tools.site import javascript

#: An explorable of the static book weighs at most so much.
MAX_BYTES = 600_000


def write_frames(explorable: Explorable, folder: Path) -> list[dict[str, Any]]:
    """Render every frame of an explorable to lossless WebP.

    Parameters
    ----------
    explorable : Explorable
    folder : Path
        Gets ``00.webp``, ``01.webp``, … and ``frames.json``. Frames that stand there already are kept: name the
        folder after what they were made from.

    Returns
    -------
    list of dict
        For each frame its file name, its alternative text and, where there are any, ``holds``: where its controls can
        be held; ``numbers``, and what they say of each goal: ``goals``; ``ground``, where a ball can roll by what is
        written to ``grounds.js``.
    """
    from tqdm import tqdm

    from rankbook.kit import style
    from rankbook.kit.explorable import kept
    from rankbook.kit.explorable.grounds import SIDE, ground_of

    index = folder / "frames.json"
    if index.exists():
        frames: list[dict[str, Any]] = json.loads(index.read_text(encoding="utf-8"))
        return frames
    folder.mkdir(parents=True, exist_ok=True)
    frames, grounds = [], []
    grid = tqdm(list(explorable.grid()), desc=explorable.name, unit="frame", leave=False, disable=None)
    for number, values in enumerate(grid):
        made = explorable(**values)
        name = f"{number:02d}.webp"
        (folder / name).write_bytes(style.webp(made))
        frame = {"file": name, "alt": style.description(made), "holds": kept.holds(made, explorable.controls)}
        frame |= {"numbers": kept.numbers(made), "goals": explorable.answers(values, made)}
        if (ground := ground_of(made)) is not None:
            frame |= {"ground": {"box": ground.box, "side": SIDE}}
            grounds.append(ground)
        frames.append({key: value for key, value in frame.items() if value})
    if grounds:
        (folder / "grounds.js").write_text(_script(explorable.name, grounds), encoding="utf-8")
    size = sum(file.stat().st_size for file in folder.iterdir())
    if size > MAX_BYTES:
        raise ValueError(
            f"{explorable.name} must weigh at most {MAX_BYTES} bytes, got {size} in {len(frames)} frames: "
            "use fewer stops, or fewer colours"
        )
    index.write_text(json.dumps(frames, ensure_ascii=False, indent=1), encoding="utf-8")
    return frames


def _script(name: str, grounds: list[Ground]) -> str:
    """The maps of all frames, for a page that may fetch nothing but scripts from a disk; equal losses are kept once."""
    losses = list(dict.fromkeys((ground.loss, ground.low, ground.high) for ground in grounds))
    kept = {
        "rules": RULES,
        "ends": ENDS,
        "ways": [ground.way for ground in grounds],
        "losses": [{"letters": letters, "low": low, "high": high} for letters, low, high in losses],
        "loss": [losses.index((ground.loss, ground.low, ground.high)) for ground in grounds],
    }
    return f"(window.grounds ??= {{}})[{json.dumps(name)}] = {json.dumps(kept)};\n"


def draw(address: str, folder: Path) -> None:
    """Render the frames of the explorable that ``module:function`` names: what one process of a build does."""
    write_frames(load(address), folder)


def markup(explorable: Explorable, frames: list[dict[str, Any]], address: str) -> str:
    """The HTML of an explorable.

    Parameters
    ----------
    frames : list of dict
        From :func:`write_frames`.
    address : str
        Where the frames lie, as the page sees it.

    Returns
    -------
    str
        Without scripts it is a picture; ``explorable.js`` shows the sliders and moves the frames.
    """
    start = list(explorable.grid()).index(explorable.defaults)
    size = [len(control.stops) for control in explorable.controls.values()]
    rows = []
    for name, control in explorable.controls.items():
        identifier = f"explorable-{explorable.name}-{name}"
        rows.append((_radios if control.names else _range)(identifier, control.named(name), control))
    goals = "".join(f'<li>{html.escape(goal.text)} <span role="status"></span></li>' for goal in explorable.goals)
    return (
        f'<figure class="explorable" id="explorable-{explorable.name}" data-size="{json.dumps(size)}" '
        f'data-frames="{html.escape(json.dumps(frames, ensure_ascii=False))}" data-address="{address}">'
        f'<div class="explorable-controls" role="group" aria-label="{html.escape(explorable.caption)}" hidden>'
        f"{''.join(rows)}</div>"
        f'<div class="explorable-stage">'
        f'<img src="{address}/{frames[start]["file"]}" alt="{html.escape(frames[start]["alt"])}"></div>'
        f"<figcaption>{html.escape(explorable.caption)}"
        + (f'<ul class="explorable-goals">{goals}</ul>' if goals else "")
        + "</figcaption></figure>"
    )


def _labels(control: Control) -> tuple[list[str], str, int]:
    """What the reader sees for each stop, the same for the script, and which is the default."""
    labels = [control.format(value) for value in control.stops]
    return labels, html.escape(json.dumps(labels, ensure_ascii=False)), control.stops.index(control.default)


def _range(identifier: str, name: str, control: Control) -> str:
    """A slider, with a button that runs it if it plays."""
    labels, listed, at = _labels(control)
    return (
        f'<label for="{identifier}">{html.escape(name)}</label>'
        f'<input type="range" id="{identifier}" min="0" max="{len(labels) - 1}" step="1" value="{at}" '
        f'data-labels="{listed}" data-lm-suppress-shortcuts="true">'
        f'<output for="{identifier}">{html.escape(labels[at])}</output>'
        + (f'<button type="button" data-plays="{identifier}">Play</button>' if control.play else "")
    )


def _radios(identifier: str, name: str, control: Control) -> str:
    """A button for each of some names."""
    labels, listed, start = _labels(control)
    buttons = "".join(
        f'<label><input type="radio" name="{identifier}" value="{at}"{" checked" if at == start else ""}> '
        f"{html.escape(label)}</label>"
        for at, label in enumerate(labels)
    )
    return (
        f'<span class="explorable-name" id="{identifier}-name">{html.escape(name)}</span>'
        f'<div class="explorable-names" role="radiogroup" id="{identifier}" aria-labelledby="{identifier}-name" '
        f'data-labels="{listed}" data-lm-suppress-shortcuts="true">{buttons}</div>'
    )


def static(environment: Any) -> str:
    """The folder of scripts and frames, as the page that Sphinx is reading sees it."""
    return "../" * str(environment.docname).count("/") + "_static/"


def live_markup(explorable: Live, static: str) -> str:
    """The HTML of a live explorable: a picture, and below ``static`` the scripts that compute what the reader does."""
    files = ["python.js", *(f"live/{module}.js" for module in javascript.needed(explorable.module))]
    scripts = html.escape(json.dumps([static + file for file in files]))
    return (
        f'<figure class="explorable" id="explorable-{explorable.name}" data-live="{explorable.name}" '
        f'data-module="{explorable.module}" data-scripts="{scripts}">{explorable.inside()}</figure>'
    )


def place_live(name: str, environment: Any) -> nodes.raw:
    """A live explorable on the page that Sphinx is reading."""
    return nodes.raw("", live_markup(Live(name), static(environment)), format="html")


def write_scripts(folder: Path) -> None:
    """The modules that live explorables compute with, as JavaScript, each in its file."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = {module for name in names() for module in javascript.needed(Live(name).module)}
    for module in modules:
        (folder / f"{module}.js").write_text(javascript.translate(module), encoding="utf-8")


_PLACE = re.compile(r"<!-- explorable ([\w.:]+) at ([\w./]+) -->")


def place(explorable: Explorable, environment: Any) -> nodes.raw:
    """Where the explorable goes on the page that Sphinx is reading; its frames may still be being drawn."""
    at = static(environment) + f"explorables/{explorable.name}"
    return nodes.raw("", f"<!-- explorable {explorable.address} at {at} -->", format="html")


def placed(page: str) -> list[Explorable]:
    """The explorables for which a page of the built book has made room."""
    return [load(match[1]) for match in _PLACE.finditer(page)]


def fill(page: str, frames: Mapping[str, list[dict[str, Any]]]) -> str:
    """Put the explorables into a page of the built book, by the frames of each address."""
    return _PLACE.sub(lambda match: markup(load(match[1]), frames[match[1]], match[2]), page)


class ExplorableRenderer:
    """Tells MyST-NB how to show an explorable, and gives every picture its alternative text."""

    mime_priority_overrides = (("*", MIME, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """Render what is ours, return None for all the rest."""
        if inline:
            return None
        if data.mime_type == "image/png":
            alt = data.output_metadata.get("image/png", {}).get("alt")
            pictures: list[nodes.Element] = renderer.render_image(data)
            for picture in pictures if alt else []:
                picture["alt"] = alt
            return pictures
        if data.mime_type != MIME:
            return None
        content = data.content if isinstance(data.content, dict) else json.loads(data.content)
        page = renderer.renderer.sphinx_env
        if "live" in content:
            return [place_live(content["live"], page)]
        return [place(load(content["explorable"]), page)]


class ExplorableDirective(SphinxDirective):
    """``{explorable} module:function`` shows an explorable on a page that is not a notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make room for the explorable that the argument names."""
        return [place(load(self.arguments[0]), self.env)]


class LiveDirective(SphinxDirective):
    """``{live} name`` shows a live explorable on a page that is not a notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show the live explorable that the argument names."""
        return [place_live(self.arguments[0], self.env)]


def _add_scripts_of_frames(app: Any, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    """A page without frames, such as the front page, doesn't fetch what only they need."""
    if _PLACE.search(context.get("body", "")):
        for script in ("ball.js", "pin.js"):
            app.add_js_file(script, priority=900, defer="defer")  # after kept.js


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension.

    MyST-NB asks installed packages alone for renderers. This one belongs to the book and is not installed, so it is
    put into the place where MyST-NB keeps what it found.
    """
    render.load_mime_renders = lambda: [ExplorableRenderer]
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("live", LiveDirective)
    app.config.html_static_path.append(str(PAGE))
    app.add_css_file("live.css")
    app.add_js_file("live.js")
    app.connect("html-page-context", _add_scripts_of_frames)
    return {"parallel_read_safe": True}

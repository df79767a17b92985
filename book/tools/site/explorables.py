"""Explorables on the pages of the book, where no kernel runs: frames on disk, or Python that the page runs.

Sphinx marks the place of frames, which may still be being drawn; `fill` puts them in when it is done. A live
explorable is whole at once, and `write_scripts` translates what it computes with.
"""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core import render
from sphinx.util.docutils import SphinxDirective
from tqdm import tqdm

from rankedu_book import figures
from rankedu_book.kit import style
from rankedu_book.kit.explorable import kept, load
from rankedu_book.kit.explorable.core import MIME, Explorable
from rankedu_book.kit.explorable.grounds import SIDE, Ground, ground_of
from rankedu_book.kit.live import PAGE, Live, names
from tools.site import javascript
from tools.site.templates import filled

BOOK = Path(figures.__file__).parents[1]
#: An explorable of the static book weighs at most so much.
MAX_BYTES = 600_000


def write_frames(explorable: Explorable, folder: Path) -> list[dict[str, Any]]:
    """Render every frame to lossless WebP, unless the folder has them; what the page is told of each.

    That is file and alternative text and, where there are any, where its controls can be held, its numbers, what they
    say of each goal, and the ground on which a ball can roll by what is written to ``grounds.js``.
    """
    index = folder / "frames.json"
    if index.exists():
        return json.loads(index.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    frames, grounds = [], []
    grid = tqdm(list(explorable.grid()), desc=explorable.name, unit="frame", leave=False, disable=None)
    for number, values in enumerate(grid):
        made = explorable(**values)
        name = f"{number:02d}.webp"
        (folder / name).write_bytes(style.webp(made))
        frame = {"file": name, "alt": style.description(made), "holds": kept.holds(made, explorable.controls)}
        frame |= {"numbers": kept.numbers(made), "goals": explorable.answers(values, made), "scales": scales(made)}
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


def scales(made: Any) -> list[list[float]]:
    """What has a scale of colours, the same in the dark: left, top, right, bottom, in percent of the picture."""
    found = [axes for axes in made.axes for one in (*axes.images, *axes.collections) if one.get_array() is not None]
    boxes = [axes.get_position() for axes in dict.fromkeys(found)]
    return [[round(100 * share, 2) for share in (box.x0, 1 - box.y1, box.x1, 1 - box.y0)] for box in boxes]


def _script(name: str, grounds: list[Ground]) -> str:
    """The maps of all frames, for a page that may fetch nothing but scripts from a disk; equal losses are kept once."""
    losses = list(dict.fromkeys((ground.loss, ground.low, ground.high) for ground in grounds))
    told = {
        "ways": [ground.way for ground in grounds],
        "losses": [{"letters": letters, "low": low, "high": high} for letters, low, high in losses],
        "loss": [losses.index((ground.loss, ground.low, ground.high)) for ground in grounds],
    }
    return f"(window.grounds ??= {{}})[{json.dumps(name)}] = {json.dumps(told)};\n"


def draw(address: str, folder: Path) -> None:
    """Render the frames of the explorable that ``module:function`` names: what one process of a build does."""
    write_frames(load(address), folder)


def markup(explorable: Explorable, frames: list[dict[str, Any]], address: str) -> str:
    """The HTML of an explorable whose frames, as `write_frames` tells of them, lie at an address."""
    controls = [
        {
            "id": f"explorable-{explorable.name}-{name}",
            "title": control.named(name),
            "names": control.names,
            "labels": [control.format(value) for value in control.stops],
            "start": control.stops.index(control.default),
        }
        for name, control in explorable.controls.items()
    ]
    size = [len(control.stops) for control in explorable.controls.values()]
    start = list(explorable.grid()).index(explorable.defaults)
    about = {"name": explorable.name, "caption": explorable.caption, "goals": explorable.goals, "size": size}
    return filled("explorable.html", **about, frames=frames, address=address, controls=controls, start=start)


def live_markup(explorable: Live, static: str) -> str:
    """The HTML of a live explorable: a picture, and below ``static`` the scripts that compute what the reader does."""
    files = ["python.js", *(f"live/{module}.js" for module in javascript.needed(explorable.module))]
    scripts = html.escape(json.dumps([static + file for file in files]))
    return (
        f'<figure class="explorable" id="explorable-{explorable.name}" data-live="{explorable.name}" '
        f'data-module="{explorable.module}" data-scripts="{scripts}">{explorable.inside()}</figure>'
    )


def write_scripts(folder: Path) -> None:
    """The modules that live explorables compute with, as JavaScript, each in its file."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = {module for name in names() for module in javascript.needed(Live(name).module)}
    for module in modules:
        (folder / f"{module}.js").write_text(javascript.translate(module), encoding="utf-8")


_PLACE = re.compile(r"<!-- explorable ([\w.:]+) at ([\w./]+) -->")


def place(name: str, environment: Any, *, live: bool) -> nodes.raw:
    """An explorable on the page that Sphinx is reading: itself, or the place of frames that may not be drawn yet."""
    at = "../" * str(environment.docname).count("/") + "_static/"
    if live:
        return nodes.raw("", live_markup(Live(name), at), format="html")
    found = load(name)
    return nodes.raw("", f"<!-- explorable {found.address} at {at}explorables/{found.name} -->", format="html")


def fill(page: str, frames: Callable[[Explorable], list[dict[str, Any]]]) -> str:
    """Put the explorables into the places of a page of the built book, by the frames of each."""
    return _PLACE.sub(lambda match: markup(load(match[1]), frames(load(match[1])), match[2]), page)


def played(name: str, environment: Any) -> nodes.raw:
    """A figure to play with (`rankedu_book.figures`) on the page that Sphinx is reading."""
    at = "../" * str(environment.docname).count("/") + "_static/figures"
    return nodes.raw("", figures.markup(name, f"{at}/{name}.png"), format="html")


def pages() -> dict[str, str]:
    """Return the page that shows each figure: a chapter if one does, for the front page shows figures of chapters."""
    texts = [*(BOOK / "chapters").glob("*.md"), *BOOK.glob("*.md")]
    texts = sorted(texts, key=lambda text: (text.stem == "index", text.parent == BOOK, text.name))
    found: dict[str, str] = {}
    for text in texts:
        for call in re.finditer(r"play\(\"([\w-]+)\"\)|^`{3,}\{play\} ([\w-]+)", text.read_text("utf-8"), re.MULTILINE):
            found.setdefault(call[1] or call[2], text.relative_to(BOOK).with_suffix("").as_posix())
    return found


def gallery(names: list[str], environment: Any) -> nodes.raw:
    """Return a picture, a sentence and a link for each of these figures, or of all that a page shows."""
    up, where = "../" * str(environment.docname).count("/"), pages()
    shown = names or [name for name in figures.FIGURES if name in where]
    cards = [
        f'<a href="{up}{where[name]}.html#figure-{name}">'
        f'<img src="{up}_static/figures/{name}.png" alt="" loading="lazy"><span>{figures.caption(name)}</span></a>'
        for name in shown
    ]
    return nodes.raw("", f'<div class="gallery">{"".join(cards)}</div>', format="html")


class ExplorableRenderer:
    """Tells MyST-NB how to show an explorable, and gives every picture its alternative text."""

    mime_priority_overrides = (("*", MIME, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """Render what is ours, return None for all the rest."""
        if inline or data.mime_type not in ("image/png", MIME):
            return None
        if data.mime_type == "image/png":
            pictures: list[nodes.Element] = renderer.render_image(data)
            about = data.output_metadata.get("image/png", {})
            for picture in pictures:
                picture["alt"] = about.get("alt", "")
                if "width" in about:
                    picture["width"] = f"{about['width']}px"
            return pictures
        content = data.content if isinstance(data.content, dict) else json.loads(data.content)
        page = renderer.renderer.sphinx_env
        [(kind, name)] = ((kind, content[kind]) for kind in ("play", "live", "explorable") if kind in content)
        if kind == "play":
            return [played(name, page)]
        return [place(name, page, live=kind == "live")]


class ExplorableDirective(SphinxDirective):
    """``{explorable} module:function``, ``{live} name`` and ``{play} name``, for a page that is not a notebook.

    ``{gallery}`` shows pictures of all figures that lead to them, or of those that are named.
    """

    optional_arguments = 12

    def run(self) -> list[nodes.Node]:
        if self.name == "gallery":
            return [gallery(self.arguments, self.env)]
        if self.name == "play":
            return [played(self.arguments[0], self.env)]
        return [place(self.arguments[0], self.env, live=self.name == "live")]


def _add_scripts_of_frames(app: Any, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    """A page fetches only what its own figures need."""
    if "explorable" in context.get("body", ""):
        app.add_css_file("live.css")
        app.add_js_file("live.js")
        app.add_js_file("explorable.js")
    if _PLACE.search(context.get("body", "")):
        for script in ("roll.js", "ball.js", "pin.js"):
            app.add_js_file(script, priority=900, defer="defer")  # after kept.js
    if 'class="gallery"' in context.get("body", ""):
        app.add_css_file("figures/figures.css")
    if found := re.findall(r'data-figure="([\w-]+)"', context.get("body", "")):
        app.add_css_file("figures/figures.css")
        for script in ("ranks", "common", *dict.fromkeys(found)):
            app.add_js_file(f"figures/{script}.js", priority=900, defer="defer")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension.

    MyST-NB asks installed packages alone for renderers. This one belongs to the book and is not installed, so it is
    put into the place where MyST-NB keeps what it found.
    """
    render.load_mime_renders = lambda: [ExplorableRenderer]
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("live", ExplorableDirective)
    app.add_directive("play", ExplorableDirective)
    app.add_directive("gallery", ExplorableDirective)
    app.config.html_static_path.append(str(PAGE))
    app.connect("html-page-context", _add_scripts_of_frames)
    return {"parallel_read_safe": True}

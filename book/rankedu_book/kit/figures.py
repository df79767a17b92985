"""The papers' figures, one file a chapter; figures and definitions in a notebook."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from rankedu.checks import did_you_mean
from rankedu_book.kit import modules, style

#: What a paper's figure can be drawn with: λ, the margin α, the exponent α of relevances, sizes of batches, and a seed.
SETTINGS = ("lam", "margin", "alpha", "batch_sizes", "seed")
_REGISTRY: dict[str, Callable[..., Figure]] = {}
_TAKES: dict[str, dict[str, Callable[[Any], dict[str, Any]]]] = {}


class Drawn(NamedTuple):
    """A figure of a paper, drawn anew."""

    source: str  #: the printed figure
    figure: Figure
    used: dict[str, Any]  #: the settings that it was drawn with
    paths: tuple[Path, ...]  #: where it was written


def paper_figure(
    source: str, **takes: Callable[[Any], dict[str, Any]]
) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Register a function under the printed figure that it draws, such as "RaMBO Fig. 1".

    A parameter that has the name of one of `SETTINGS` takes its value. ``takes`` is for others: it maps the name of a
    setting to a function that turns its value into arguments.
    """

    def register(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        _REGISTRY[source] = draw
        own = {name for name in inspect.signature(draw).parameters if name in SETTINGS}
        _TAKES[source] = {name: lambda value, name=name: {name: value} for name in own} | takes
        return draw

    return register


def all_figures() -> dict[str, Callable[..., Figure]]:
    """Every registered figure, by the name of the printed one."""
    for module in modules("figures.py"):
        importlib.import_module(module)
    return dict(sorted(_REGISTRY.items()))


def show(made: Figure, text: str = "") -> None:
    """Display a figure in a notebook: a PNG with an alternative text, which is the figure's description by default."""
    from IPython.display import publish_display_data

    text = " ".join(text.split()) or style.description(made)
    if not text:
        raise ValueError("text must say what the figure shows, got nothing (pass it, or call style.describe first)")
    data: dict[str, Any] = {"image/png": style.png(made), "text/plain": f"Figure: {text}"}
    publish_display_data(data, metadata={"image/png": {"alt": text, **style.size(made)}})


def show_source(*functions: Callable[..., Any]) -> Any:
    """The source of definitions, which a notebook displays as highlighted code, and a page of the book, too."""
    from IPython.display import Markdown

    source = "\n\n".join(map(inspect.getsource, functions))
    return Markdown(f"```python\n{source}```")


def write_figures(folder: Path, only: str = "", settings: Mapping[str, Any] | None = None) -> Iterator[Drawn]:
    """Draw figures of the papers, and write each as PNG and SVG.

    ``only`` names the printed figures, with semicolons between them; by default all are drawn. A figure uses those of
    the settings that it depends on. ValueError for an unknown name, or a setting that changes none of the figures.
    """
    from tqdm import tqdm

    known, given = all_figures(), dict(settings or {})
    chosen = [name.strip() for name in only.split(";") if name.strip()] or list(known)
    for name in chosen:
        if name not in known:
            raise ValueError(f"figure {name!r} is unknown{did_you_mean(name, known)}; there are: {'; '.join(known)}")
    for name in given:
        takers = [source for source, takes in _TAKES.items() if name in takes]
        if not set(takers) & set(chosen):
            raise ValueError(f"{name} changes none of the chosen figures; it changes: {'; '.join(sorted(takers))}")
    folder.mkdir(parents=True, exist_ok=True)
    for source in tqdm(chosen, desc="figures", unit="figure", disable=None):
        used = {name: value for name, value in given.items() if name in _TAKES[source]}
        passed: dict[str, Any] = {}
        for name, value in used.items():
            passed |= _TAKES[source][name](value)
        made, stem = known[source](**passed), "_".join(source.lower().replace(".", "").split())
        paths = (folder / f"{stem}.png", folder / f"{stem}.svg")
        for path, render in zip(paths, (style.png, style.svg), strict=True):
            path.write_bytes(render(made))
        yield Drawn(source, made, used, paths)

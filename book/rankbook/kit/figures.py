"""The papers' figures, one file a chapter; figures and definitions in a notebook."""

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rankbook.kit import modules, style

_REGISTRY: dict[str, Callable[[], Figure]] = {}


def paper_figure(source: str) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Register a function under the printed figure that it draws in the book's style, such as ``"RaMBO Fig. 1"``."""

    def register(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        _REGISTRY[source] = draw
        return draw

    return register


def all_figures() -> dict[str, Callable[[], Figure]]:
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
    publish_display_data(data, metadata={"image/png": {"alt": text}})


def show_source(*functions: Callable[..., Any]) -> Any:
    """The source of definitions, which a notebook displays as highlighted code, and a page of the book, too."""
    from IPython.display import Markdown

    source = "\n\n".join(map(inspect.getsource, functions))
    return Markdown(f"```python\n{source}```")


def write_all(folder: Path) -> list[Path]:
    """Write every paper figure as PNG and SVG; returns the paths written."""
    from tqdm import tqdm

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for source, draw in tqdm(all_figures().items(), desc="figures", unit="figure", disable=None):
        stem = "_".join(source.lower().replace(".", "").split())
        made = draw()
        for suffix, render in (("png", style.png), ("svg", style.svg)):
            path = folder / f"{stem}.{suffix}"
            path.write_bytes(render(made))
            written.append(path)
    return written

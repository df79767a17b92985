"""Figures to play with: one JavaScript function each, the same in the page and in JupyterLab.

The functions, what they share and their pictures are in `book/_static/figures`. `play` shows a figure in a notebook,
and the directive ``{play}`` shows it on a page. `book/contributing/figures.md` says how to add one.
"""

import base64
import html
import json
import os
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

#: The type by which the book finds a figure to play with among the outputs of a notebook.
MIME = "application/vnd.rankedu.explorable+json"
FOLDER = Path(__file__).parents[1] / "_static" / "figures"


class About(NamedTuple):
    """What a figure asks the reader to do, what its picture shows, and in which states, side by side."""

    caption: str
    alt: str
    states: tuple[dict[str, Any], ...]


FIGURES = {
    "landscape": About(
        "**Slide λ** until the ball rolls to the goal.",
        "Three pictures of the same landscape. On its floor are the scores of A and B, and its height is their mean "
        "rank. With a small λ it is a staircase of flat steps, and a ball lies still. With a larger λ the steps become "
        "slopes, and the ball rolls some way. With a large λ it rolls to the goal, where A and B rank first.",
        ({"lam": 0.05}, {"lam": 1.8}, {"lam": 5}),
    ),
    "batch-size": About(
        "**Slide the batch size**, and see the mAP of random batches move away from the mAP of all 1,024 items.",
        "The histogram of the mAP of 400 random batches of 64 items. Every batch shows a higher mAP than the mAP of "
        "all 1,024 items, which a dashed line marks.",
        ({"batch_size": 64},),
    ),
    "average-precision": About(
        "**Raise AP without changing P@3.** Drag an item, or click on it to make it relevant or irrelevant.",
        "Eight items by their scores, the best at the top. Beside each relevant item is a bar, as long as the "
        "precision there: one half at rank 2, one half at rank 4, three fifths at rank 5. AP is their mean, 0.53.",
        ({},),
    ),
    "staircase": About(
        "**Drag D.** Where does the loss change?",
        "The loss 1 − AP of five items over the score of the relevant item D. It is a staircase that falls from 0.55 "
        "to 0.17, with a step where D passes E, C and A. D is on a flat step, so the slope is 0.",
        ({},),
    ),
    "solver": About(
        "**Drag the weights** until the lever is level. Which arrangement pulls least?",
        "A lever with five pegs, and on each a weight, from 0.3 to 0.9. On the left the weights hang in no order, and "
        "the lever tilts. On the right the heaviest weight hangs next to the hinge and the lightest at the far end, "
        "and the lever is level.",
        ({}, {"pegs": [1, 2, 3, 4, 5]}),
    ),
    "h-ap": About(
        "You asked for a Lada #2. **Drag a car, or slide β.** H-AP is the filled part of all bars.",
        "Seven cars by their scores, the best at the top. Beside each car is a bar, as long as the relevance of the "
        "car, with a part for each car down to it. A part is full if that car is at least as near to the query, and "
        "partly filled or empty if it is not. H-AP is the filled part of all bars, 0.76.",
        ({},),
    ),
    "easy-background": About(
        "**Slide the easy background**, and drag the shop window (the square). The bars show where each loss comes "
        "from.",
        "Ten cars, one shop window that ranks above half of them, and a heap of easy background at the left. Cross "
        "entropy is 0.15, and its parts are cars, window and easy background. All that AP lacks is charged to the "
        "window.",
        ({},),
    ),
    "look-ahead": About(
        "**Slide λ**, the length of a step that raises B and E. Which items do they pass? You can drag an item, too.",
        "Five scores. Two of them, B and E, rise along an arrow, and E passes D. Below, the loss falls by a stair "
        "where it does. Its mean over the arrow is the interpolation. D and E have a gradient.",
        ({},),
    ),
    "paint": About(
        "**Drag D**, or **slide λ**. The purple curve is the mean of the staircase over the window ahead. Where is it "
        "flat?",
        "The rank of item D over its score is a staircase that falls from 5 to 1. Its mean over a window ahead is "
        "a continuous curve that leaves each stair before its edge and never lies above the staircase.",
        ({},),
    ),
    "paths": About(
        "**Slide the step** of the descent. Drag the rings to say which path you want. Dark cells are expensive.",
        "A grid of costs before the descent and after 16 steps. Cells of the found path get a plus and become more "
        "expensive, and cells of the wanted path get a minus and become cheaper. In the end the two are the same.",
        ({"step": 0}, {"step": 16}),
    ),
    "collapse": About(
        "**Slide the margin α** until errors in the scores hardly mix relevant (blue) and irrelevant ones (red, "
        "dashed).",
        "Eight scores that follow the AP loss for 300 steps. Without a margin the relevant and the irrelevant ones "
        "stop right next to each other, and errors in the scores mix them. With a margin a gap is left between them.",
        ({},),
    ),
    "margin": About(
        "**Slide α.** From where on is there a gradient? Drag an item to change its score.",
        "Six scores, sorted, and below them the same scores after a margin has lowered the relevant ones and raised "
        "the others. C is now behind D. The gradient is zero up to the gap between C and D, and not beyond.",
        ({"margin": 0.24},),
    ),
    "tau": About(
        "**Slide the temperature.** Which pairs have a slope? Drag an item to change its pairs.",
        "Six pairs of a relevant and an irrelevant item as points on a sigmoid of their difference, each with its "
        "name. Four of them are in a shaded band around the difference zero, in which the sigmoid has a slope.",
        ({},),
    ),
    "bins": About(
        "**Drag the disc** over the bins. Where does a descent step lower it, although it is relevant?",
        "Above, a histogram of the scores of eleven items in ten bins. Below, the loss against the score of one "
        "relevant item: one minus AP falls in steps, and FastAP rises and falls in arcs above the steps.",
        ({"score": 0.21},),
    ),
    "surrogates": About(
        "**Slide the distortion.** Which method pushes first, and which rows become alike?",
        "Six items by their scores, two of them relevant, and below them rows of arrows for blackbox, sigmoid, "
        "histogram, projection, and a step that ignores the scores.",
        ({},),
    ),
    "whom": About(
        "**Drag the items** until the list is perfect, or press **Perfect list**. Which method still pushes?",
        "Five items, B and E relevant. Algorithm 1 pushes B up past A and E up past D, and pushes A and D down. "
        "Identity pushes both relevant items up by 0.6 and the three others down by 0.4.",
        ({},),
    ),
    "cross-entropy": About(
        "**Press model C.** Cross entropy falls. What does AP do? You can drag the photographs, too.",
        "Eight photographs by their scores, three of them relevant. Cross entropy pushes every photograph towards its "
        "side of zero. AP pushes the relevant ones past the two irrelevant ones above them, and nothing else.",
        ({"scores": [0.9, 0.6, 0.3, 1.8, 1.5, -4.2, -4.8, -5.4]},),
    ),
}


def caption(name: str) -> str:
    """Return the caption of a figure as HTML."""
    parts = map(html.escape, FIGURES[name].caption.split("**"))
    return "".join(f"<strong>{part}</strong>" if odd % 2 else part for odd, part in enumerate(parts))


def picture(name: str, source: str) -> str:
    """Return the HTML of the picture of a figure."""
    alt = html.escape(FIGURES[name].alt)
    width, height = struct.unpack(">II", (FOLDER / f"{name}.png").read_bytes()[16:24])  # of every PNG
    return f'<img class="play-still" src="{source}" alt="{alt}" width="{width}" height="{height}" loading="lazy">'


def markup(name: str, source: str) -> str:
    """Return the HTML of a figure: its caption, and its picture for print and where no script runs."""
    shown = f"<figcaption>{caption(name)}</figcaption>{picture(name, source)}"
    return f'<figure class="play" id="figure-{name}" data-figure="{name}">{shown}</figure>'


class Figure:
    """A figure as the last line of a cell; `state` is its state as the reader left it, where a kernel runs."""

    def __init__(self, name: str) -> None:
        if name not in FIGURES:
            raise ValueError(f"name must be one of {', '.join(FIGURES)}, got {name!r}")
        self.name = name
        self.widget = _widget(name) if is_live() and find_spec("anywidget") else None

    @property
    def state(self) -> dict[str, Any]:
        """The state of the figure, empty until the reader has moved something."""
        return dict(self.widget.state) if self.widget else {}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Show the figure itself where a kernel runs, on a page of the book by its name, and elsewhere as a picture."""
        picture = (FOLDER / f"{self.name}.png").read_bytes()
        data: dict[str, Any] = {
            MIME: {"play": self.name},
            "image/png": base64.b64encode(picture).decode(),
            "text/plain": f"Figure to play with: {FIGURES[self.name].alt}",
        }
        if self.widget:
            data["application/vnd.jupyter.widget-view+json"] = self.widget.get_view_spec()
        return data


def is_live() -> bool:
    """Return whether a kernel runs that can answer; ``RANKEDU_EXPLORABLES=static`` says that none shall."""
    if os.environ.get("RANKEDU_EXPLORABLES") == "static" or not find_spec("IPython"):
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def play(name: str) -> Figure:
    """Show the figure of that name."""
    return Figure(name)


def _widget(name: str) -> Any:
    """Return the figure as an anywidget: the same scripts, in one module."""
    import anywidget
    import traitlets

    scripts = [(FOLDER / f"{part}.js").read_text(encoding="utf-8") for part in ("ranks", "common", name)]
    figure = f"rankedu.figures[{json.dumps(name)}]"
    told = f"el.append(rankedu.ui.element('figcaption', {{ innerHTML: {json.dumps(caption(name))} }}))"
    function = f"({{ model, el }}) => ({told}, {figure}({{ model, el, ranks: rankedu.ranks, ui: rankedu.ui }}))"

    class FigureWidget(anywidget.AnyWidget):
        _esm = "\n".join([*scripts, f"export default {{ render: {function} }};"])
        _css = (FOLDER / "figures.css").read_text(encoding="utf-8")
        state = traitlets.Dict().tag(sync=True)

    return FigureWidget()

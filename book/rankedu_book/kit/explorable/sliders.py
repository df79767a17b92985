"""The sliders of an explorable: ipywidgets that redraw the figure in a kernel."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from rankedu_book.kit.explorable.grounds import SIDE
from rankedu_lab import CHECKOUT

if TYPE_CHECKING:
    from rankedu_book.kit.explorable.core import Explorable


_HERE = Path(__file__).parent
#: How the ball rolls, here as in the pages.
ROLLS = CHECKOUT / "book" / "_static" / "roll.js"


class Picture(anywidget.AnyWidget):
    """PNG bytes, their description, where they are held, and a map for a ball."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in (ROLLS, _HERE / "picture.js"))
    _css = (_HERE / "picture.css").read_text(encoding="utf-8")
    value = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    #: Name of a control → its ``stops`` and ``choice``, as :func:`~rankedu_book.kit.explorable.kept.holds` finds them,
    #: and ``at``, the number of the stop where it stands.
    holds = traitlets.Dict().tag(sync=True)
    #: Name of a control, the number of the stop that it shall go to, and the number of the move.
    moved: Any = traitlets.List().tag(sync=True)
    #: The map that a ball can roll on, as `Ground` keeps it, or nothing; places along each of its sides.
    ground = traitlets.Dict().tag(sync=True)
    side = traitlets.Int(SIDE).tag(sync=True)


def widget(explorable: Explorable) -> ipywidgets.Widget:
    """Sliders, and buttons for names, above a picture that can be held, and the goals below it."""
    sliders = [
        (ipywidgets.ToggleButtons if control.names else ipywidgets.SelectionSlider)(
            options=[(control.format(value), value) for value in control.values],
            value=control.default,
            description=control.named(name),
            style={"description_width": "initial", **({"button_width": "auto"} if control.names else {})},
            layout={"width": "auto" if control.names else "min(100%, 30rem)"},
        )
        for name, control in explorable.controls.items()
    ]
    named = dict(zip(explorable.controls, sliders, strict=True))
    picture = Picture(layout={"max_width": "100%", "align_self": "flex-start"})
    caption = ipywidgets.HTML()

    def draw(_: Any = None) -> None:
        try:
            picture.value, text, answers, holds, ground = explorable.png(tuple(slider.value for slider in sliders))
            picture.alt = text
            picture.ground = ground._asdict() if ground else {}
            picture.holds = {name: {**hold, "at": named[name].index} for name, hold in holds.items()}
            caption.value = _goals(explorable, answers) + f"<small>{html.escape(text)}</small>"
        except Exception as error:
            caption.value = f"<b>{type(error).__name__}</b>: {html.escape(str(error))}"

    def move(change: Any) -> None:
        name, at, _ = change["new"]
        named[name].index = at

    picture.observe(move, names="moved")
    for slider in sliders:
        slider.observe(draw, names="value")
    draw()
    return ipywidgets.VBox([*sliders, picture, caption])


def _goals(explorable: Explorable, answers: list[str | None]) -> str:
    """Each goal, ticked with what is said about it where the picture reaches it."""
    rows = [
        f"{'☑' if answer else '☐'} {html.escape(goal.text)} <b>{html.escape(answer or '')}</b><br>"
        for goal, answer in zip(explorable.goals, answers, strict=True)
    ]
    return "".join(rows)

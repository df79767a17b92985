"""The picture of an explorable that a kernel runs, with the handles and the ball that the pages of the book have."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rankbook.kit.explorable.grounds import SIDE
from rankbook.kit.folders import CHECKOUT

#: How the ball rolls, here as in the pages.
ROLLS = CHECKOUT / "book" / "_static" / "roll.js"


class Picture(anywidget.AnyWidget):
    """PNG bytes, their description, where they are held, and a map for a ball."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in (ROLLS, Path(__file__).with_suffix(".js")))
    _css = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    value = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    #: Name of a control → its ``stops`` and ``choice``, as :func:`~rankbook.kit.explorable.kept.holds` finds them, and
    #: ``at``, the number of the stop where it stands.
    holds = traitlets.Dict().tag(sync=True)
    #: Name of a control, the number of the stop that it shall go to, and the number of the move.
    moved: Any = traitlets.List().tag(sync=True)
    #: The map that a ball can roll on, as `Ground` keeps it, or nothing; places along each of its sides.
    ground = traitlets.Dict().tag(sync=True)
    side = traitlets.Int(SIDE).tag(sync=True)

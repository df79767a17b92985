"""The picture of an explorable that a kernel runs, with the handles and the ball that the pages of the book have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rankbook.kit.explorable.grounds import SIDE, Ground, in_words, roll


class Picture(anywidget.AnyWidget):
    """PNG bytes, their description, where they are held, and a map for a ball."""

    _esm, _css = (Path(__file__).with_suffix(kind).read_text(encoding="utf-8") for kind in (".js", ".css"))
    value = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    #: Name of a control → its ``stops`` and ``choice``, as :func:`~rankbook.kit.explorable.kept.holds` finds them, and
    #: ``at``, the number of the stop where it stands.
    holds = traitlets.Dict().tag(sync=True)
    #: Name of a control, the number of the stop that it shall go to, and the number of the move.
    moved: Any = traitlets.List().tag(sync=True)
    #: Left, top, width and height of the map as shares of the picture, else nothing; places along each of its sides.
    box: Any = traitlets.List().tag(sync=True)
    side = traitlets.Int(SIDE).tag(sync=True)
    #: Where the reader puts the ball down, and the number of the drop.
    dropped: Any = traitlets.List().tag(sync=True)
    #: Where it rolls, and what is said of it.
    trail: Any = traitlets.List().tag(sync=True)
    said = traitlets.Unicode("Touch the map to drop a ball; the arrow keys move it.").tag(sync=True)

    ground: Ground | None = None

    def lay(self, ground: Ground | None) -> None:
        """Take the map of the present picture, if it has one; a ball that lies there rolls anew."""
        self.ground = ground
        self.box = [] if ground is None else ground.box
        self._roll()

    @traitlets.observe("dropped")
    def _roll(self, _: Any = None) -> None:
        if self.ground is None or not self.dropped:
            return
        x, y = (min(max(int(value), 0), SIDE - 1) for value in self.dropped[:2])
        trail, end = roll(self.ground.way, (x, y))
        self.trail, self.said = [list(place) for place in trail], in_words(self.ground, trail, end)

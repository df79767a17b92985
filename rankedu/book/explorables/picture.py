"""The picture of an explorable that a kernel runs, with the handles that the pages of the book have."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

# Rings are moved and not made anew, for the pointer may be holding one.
_DRAW = """
export default {
  render({ model, el }) {
    const stage = el.appendChild(document.createElement("div"));
    const picture = stage.appendChild(document.createElement("img"));
    stage.className = "rankedu-held";
    picture.className = "widget-image";
    const nearest = (stops, event) => {
      const box = picture.getBoundingClientRect();
      const far = stops.map(([x, y]) =>
        Math.hypot(box.left + x * box.width - event.clientX, box.top + y * box.height - event.clientY));
      return far.indexOf(Math.min(...far));
    };
    let count = 0; // a slider may have moved on meanwhile, so that the same move is another one
    const move = (name, at) => {
      count += 1;
      model.set("moved", [name, at, count]);
      model.save_changes();
    };
    const newRing = () => {
      const ring = stage.appendChild(document.createElement("span"));
      ring.ariaHidden = "true";
      ring.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        event.preventDefault();
        const { handle, stop } = ring.dataset;
        if (stop) move(handle, Number(stop));
        else ring.setPointerCapture(event.pointerId);
      });
      ring.addEventListener("pointermove", (event) => {
        if (!ring.hasPointerCapture(event.pointerId)) return;
        const { handle } = ring.dataset;
        move(handle, nearest(model.get("holds")[handle].stops, event));
      });
      return ring;
    };
    const show = () => {
      URL.revokeObjectURL(picture.src);
      picture.src = URL.createObjectURL(new Blob([model.get("value")], { type: "image/png" }));
      picture.alt = model.get("alt");
    };
    const hold = () => {
      const rings = stage.getElementsByTagName("span");
      const wanted = Object.entries(model.get("holds")).flatMap(([handle, { stops, choice, at }]) =>
        choice ? stops.map((place, stop) => ({ handle, place, stop })) : [{ handle, place: stops[at], stop: "" }]);
      while (rings.length > wanted.length) rings[rings.length - 1].remove();
      wanted.forEach(({ handle, place, stop }, i) => {
        const ring = rings[i] ?? newRing();
        Object.assign(ring.dataset, { handle, stop });
        [ring.style.left, ring.style.top] = place.map((share) => `${100 * share}%`);
      });
    };
    model.on("change:value", show);
    model.on("change:holds", hold);
    show();
    hold();
  },
};
"""
_LOOK = """
.rankedu-held { position: relative; width: fit-content; max-width: 100%; }
.rankedu-held img { display: block; max-width: 100%; }
.rankedu-held span {
  position: absolute; box-sizing: border-box; width: 24px; height: 24px; margin: -12px 0 0 -12px;
  border: 2.5px solid #222; border-radius: 50%; box-shadow: 0 0 0 1.5px white; cursor: grab; touch-action: none;
}
.rankedu-held span:not([data-stop=""]) { border: 1px dashed #666; box-shadow: none; cursor: pointer; }
"""


class Picture(anywidget.AnyWidget):
    """PNG bytes, their description and where they are held; ``moved`` is what the reader asks for."""

    _esm, _css = _DRAW, _LOOK
    value = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    #: Name of a control → its ``stops`` and ``choice``, as :func:`~rankedu.book.explorables.kept.holds` finds them, and
    #: ``at``, the number of the stop where it stands.
    holds = traitlets.Dict().tag(sync=True)
    #: Name of a control, the number of the stop that it shall go to, and the number of the move.
    moved: Any = traitlets.List().tag(sync=True)

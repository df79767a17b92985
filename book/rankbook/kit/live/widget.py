"""A live explorable in JupyterLab: the same handles as in the page, and a kernel that answers them."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from rankbook.kit.live import LOOK, PAGE, Live

_JOIN = """
export default {
  render({ model, el }) {
    el.innerHTML = model.get("inside");
    const figure = el.firstElementChild;
    const answers = new Map();
    let number = 0;
    model.on("msg:custom", (said) => {
      const [done, failed] = answers.get(said.number) ?? [];
      answers.delete(said.number);
      if (said.error) failed?.(new Error(said.error));
      else done?.(said.scene);
    });
    rankeduLive(figure, (state) => new Promise((done, failed) => {
      number += 1;
      answers.set(number, [done, failed]);
      model.send({ number, state });
    }));
  },
};
"""


class LiveWidget(anywidget.AnyWidget):
    """Sends the reader's changes to the kernel, and what it makes of them back."""

    _esm = (PAGE / "live.js").read_text(encoding="utf-8") + _JOIN
    _css = LOOK.read_text(encoding="utf-8")
    inside = traitlets.Unicode().tag(sync=True)

    def answer(self, explorable: Live, said: dict[str, Any]) -> None:
        """One message of the page: a state with its number; the answer is the scene, or what went wrong."""
        try:
            self.send({"number": said["number"], "scene": explorable(said["state"])})
        except Exception as error:
            self.send({"number": said["number"], "error": f"{type(error).__name__}: {error}"})


def widget(explorable: Live) -> LiveWidget:
    """The explorable in a cell."""
    made = LiveWidget(
        inside=f'<figure class="explorable" data-live="{explorable.name}" data-lm-suppress-shortcuts="true">'
        f"{explorable.inside()}</figure>"
    )
    made.on_msg(lambda _, said, buffers: made.answer(explorable, said))
    return made

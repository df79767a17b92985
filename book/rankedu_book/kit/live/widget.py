"""A live explorable in JupyterLab: the same handles as in the page, and a kernel that answers them."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rankedu_book.kit.live import LOOK, PAGE, Live


class LiveWidget(anywidget.AnyWidget):
    """Sends the reader's changes to the kernel, and what it makes of them back."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in (PAGE / "live.js", Path(__file__).with_suffix(".js")))
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

"""`%%predict`: a cell whose result stays folded until the reader opens it, with a field for a guess.

The result becomes one piece of HTML that is closed at first. It needs neither a kernel nor an extension, so it is still
closed after *Run All* and in a notebook that was saved and opened again. Where scripts may run, the guess is shown
beside the result. The pages of the book have a form of their own, for which `held` gives the outputs back.
"""

import html
import re
from base64 import b64encode
from typing import Any
from zlib import crc32

from IPython.core.getipython import get_ipython
from IPython.utils.capture import RichOutput, capture_output
from nbformat import NotebookNode
from nbformat.v4 import new_output

_SAY = "this.closest('.predict').querySelector('.said').textContent = 'You said: ' + this.value + '.'"
_FIELD = '<label>Your guess: <input type="{}" step="any" data-lm-suppress-shortcuts="true" oninput="{}"></label>'
_BUTTON = '<label><input type="radio" name="guess-{}" value="{}" oninput="{}"> {} </label>'
_FORM = """<div class="predict"><p>{}</p>
<details><summary>Show the result</summary>
<p class="said"></p>
{}
</details></div>"""
_PART = re.compile(r"<!--held (\S+)-->(.*?)<!--/held-->", re.DOTALL)
_PICTURE = re.compile(r'<img alt="([^"]*)"(?: width="(\d+)")? src="data:image/png;base64,([^"]*)">')


def predict(line: str, cell: str) -> None:
    """Run a cell and fold what it shows: the magic `%%predict`.

    The line has the kind of guess: ``number``, ``words`` (the default), ``choice 3`` for one of three, or ``fold`` for
    a result that is folded without a guess.
    """
    from IPython.display import publish_display_data

    field = _field(line.split(), crc32(cell.encode()))
    with capture_output() as captured:
        ran = shell.run_cell(cell)
    ran.raise_error()
    printed = captured.stdout + captured.stderr
    parts = [("stream", html.escape(printed, quote=False))] if printed else []
    parts += [_shown(output) for output in captured.outputs]
    inside = "\n".join(f"<!--held {kind}-->{_around(kind, text)}<!--/held-->" for kind, text in parts)
    told = "The result is folded: make a guess, then open it in Jupyter."
    publish_display_data({"text/html": _FORM.format(field, inside), "text/plain": told})


def held(text: str) -> list[NotebookNode]:
    """Give the outputs that the HTML of a prediction holds back, as a cell without `%%predict` would have them."""
    found = []
    for kind, inside in _PART.findall(text):
        words = html.unescape(re.sub(r"\A<pre>|</pre>\Z", "", inside))
        if kind == "stream":
            found.append(new_output("stream", name="stdout", text=words))
        elif picture := _PICTURE.fullmatch(inside):
            alt, width = html.unescape(picture[1]), picture[2]
            data = {"image/png": picture[3], "text/plain": f"Figure: {alt}"}
            about = {"image/png": {"alt": alt, **({"width": int(width)} if width else {})}}
            found.append(new_output("display_data", data=data, metadata=about))
        else:
            found.append(new_output("display_data", data={kind: words if kind == "text/plain" else inside}))
    return found


def _field(kind: list[str], name: int) -> str:
    if kind[:1] == ["choice"] and len(kind) == 2 and kind[1].isdigit():
        return "Your guess: " + "".join(_BUTTON.format(name, n, _SAY, n) for n in range(1, int(kind[1]) + 1))
    if kind == ["fold"]:
        return ""
    if kind not in ([], ["words"], ["number"]):
        raise ValueError(f"%%predict must be followed by number, words, fold or 'choice 3', got {' '.join(kind)!r}")
    return _FIELD.format("number" if kind == ["number"] else "text", _SAY)


def _shown(output: RichOutput) -> tuple[str, str]:
    """The type of an output, the richest that HTML can hold, and its text."""
    data: dict[str, Any] = output.data
    if "text/html" in data or "image/svg+xml" in data:
        kind = "text/html" if "text/html" in data else "image/svg+xml"
        return kind, data[kind]
    if png := data.get("image/png"):
        about = output.metadata.get("image/png", {})
        alt, width = html.escape(about.get("alt", "")), f' width="{about["width"]}"' if "width" in about else ""
        encoded = png if isinstance(png, str) else b64encode(png).decode()
        return "image/png", f'<img alt="{alt}"{width} src="data:image/png;base64,{encoded.strip()}">'
    return "text/plain", html.escape(data.get("text/markdown", data["text/plain"]), quote=False)


def _around(kind: str, text: str) -> str:
    return f"<pre>{text}</pre>" if kind in ("stream", "text/plain") else text


shell: Any = get_ipython()
if shell:
    shell.magics_manager.register_function(predict, "cell")

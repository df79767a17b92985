"""What executed notebooks show: that they are of the present code is asked by `tests/book/site/test_pairs.py`."""

import nbformat
from tools.notebooks import pairs

from rankedu_book.kit.predict import held


def shown(notebook: str, source: str) -> str:
    """The outputs of the cell with a line that begins so, in words."""
    cells = nbformat.read(pairs.ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    [found] = [cell.outputs for cell in cells if f"\n{source}" in f"\n{cell.source}"]
    found = [one for output in found for one in (held(_html(output)) or [output])]  # inside the fold of a prediction
    words = [output.get("data", {"text/plain": output.get("text")}) for output in found]
    return "\n".join(text for kinds in words for kind, text in kinds.items() if kind.endswith("text/plain"))


def _html(output) -> str:
    """The HTML of an output, or nothing."""
    return output.get("data", {}).get("text/html", "")

"""What executed notebooks show: that they are of the present code is asked by `tests/book/site/test_pairs.py`."""

import nbformat
from tools.notebooks import pairs


def shown(notebook: str, source: str) -> str:
    """The outputs of the cell with a line that begins so, in words."""
    cells = nbformat.read(pairs.ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    [found] = [cell.outputs for cell in cells if f"\n{source}" in f"\n{cell.source}"]
    words = [output.get("data", {"text/plain": output.get("text")}) for output in found]
    return "\n".join(text for kinds in words for kind, text in kinds.items() if kind.endswith("text/plain"))

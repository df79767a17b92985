"""Every definition of `rankedu.reference` is shown in one chapter, as it stands there."""

from __future__ import annotations

import re

from tools.notebooks import pairs

from rankbook.kit.figures import show_source
from rankedu import reference


def test_every_definition_is_shown_in_one_chapter():
    texts = (path.read_text(encoding="utf-8") for path in sorted((pairs.ROOT / "book" / "chapters").glob("*.md")))
    cells = [cell for text in texts for cell in re.findall(r"^show_source\((.*?)\)$", text, re.DOTALL | re.MULTILINE)]
    shown = [name for cell in cells for name in re.findall(r"reference\.([a-zA-Z]\w*)", cell)]
    with open(reference.__file__, encoding="utf-8") as file:
        defined = re.findall(r"^def ([a-zA-Z]\w*)", file.read(), re.MULTILINE)
    assert sorted(shown) == sorted(defined)


def test_what_is_shown_is_the_source_with_its_example():
    shown = show_source(reference.rank_among, reference.mean).data
    assert shown.startswith("```python\ndef rank_among(y, members):\n") and shown.endswith("\n```")
    assert ">>> rank_among([0.9, 0.1, 0.5], [True, False, True])" in shown and "\n\n\ndef mean(values):" in shown

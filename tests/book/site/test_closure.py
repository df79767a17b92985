"""What a text is made from, found by reading: imports of every kind, and data."""

from __future__ import annotations

import pytest
from tools.notebooks import closure

ROOT = closure.ROOT


def names(tmp_path, code: str) -> set[str]:
    path = tmp_path / "x.py"
    path.write_text(code, encoding="utf-8")
    return {str(found.relative_to(ROOT)) for found in closure.closure(path) - {path}}


@pytest.mark.parametrize(
    "code",
    [
        "from rankedu.ranks import rank",
        "import rankedu.ranks",
        "import rankedu\nrankedu.rank(y)",
        "def late():\n    from rankedu import rank",
        "load('rankedu.ranks:rank')",
        "import importlib\nimportlib.import_module(f'rankedu.metrics.{name}')",
    ],
)
def test_every_way_to_import_is_followed(tmp_path, code):
    assert {"rankedu/__init__.py", "rankedu/ranks.py", "rankedu/_fast/packed.py"} <= names(tmp_path, code)


def test_what_only_a_type_checker_reads_is_left_out(tmp_path):
    code = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rankedu.losses import APLoss"
    assert names(tmp_path, code) == set()


def test_rooms_that_are_not_imported_are_left_out(tmp_path):
    found = names(tmp_path, "import rankedu\nfrom rankedu.metrics import ndcg")
    assert "rankedu/metrics/graded.py" in found and not [name for name in found if "losses" in name]


@pytest.mark.parametrize("file", ["effects.json", "printed"])
def test_data_are_part_of_it(tmp_path, file):
    found = names(tmp_path, f"path = root / 'book' / 'data' / {file!r}")
    assert found and all(name.startswith(f"book/data/{file}") for name in found)


def test_cells_of_a_text_are_read_and_its_prose_is_not(tmp_path):
    path = tmp_path / "x.md"
    path.write_text(
        "import rankedu.cli\n\n"
        "```{code-cell} ipython3\n---\ntags: [a]\n---\n%matplotlib inline\nimport rankedu.ranks\n```\n"
        "```{code-cell} ipython3\n:tags: [b]\n\nimport rankedu.hierarchy\n```\n",
        encoding="utf-8",
    )
    found = {str(one.relative_to(ROOT)) for one in closure.closure(path) - {path}}
    assert {"rankedu/ranks.py", "rankedu/hierarchy.py"} <= found and "rankedu/cli.py" not in found


def test_versions_are_those_that_are_pinned_and_not_those_that_are_installed(monkeypatch):
    kept = closure.pins().splitlines()
    assert {line.partition("==")[0] for line in kept} == closure.LIBRARIES
    before = closure.fingerprint(ROOT / "rankedu" / "ranks.py")
    monkeypatch.setattr(closure, "pins", lambda: "torch==0")
    assert closure.fingerprint(ROOT / "rankedu" / "ranks.py") != before


def test_a_file_that_is_no_code_stands_for_itself(tmp_path):
    path = tmp_path / "x.html"
    path.write_text(":root { font: 18px/1.5 }", encoding="utf-8")
    assert closure.closure(path) == {path}

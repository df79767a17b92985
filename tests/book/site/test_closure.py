"""What a text is made from, found by reading: imports of every kind, and data."""

from __future__ import annotations

from tools.notebooks import closure

ROOT = closure.ROOT


def names(tmp_path, code: str, file: str = "x.py") -> set[str]:
    path = tmp_path / f"{len(list(tmp_path.iterdir()))} {file}"  # what was read once is remembered
    path.write_text(code, encoding="utf-8")
    return {str(found.relative_to(ROOT)) for found in closure.closure(path) - {path}}


def test_every_way_to_import_is_followed(tmp_path):
    for code in (
        "from rankedu.ranks import rank",
        "import rankedu\nrankedu.rank(y)",
        "def late():\n    from rankedu import rank",
        "load('rankedu.ranks:rank')",
        "import importlib\nimportlib.import_module(f'rankedu.metrics.{name}')",
    ):
        wanted = {"rankedu/__init__.py", "rankedu/ranks.py", "rankedu/_fast/packed.py"}
        assert wanted <= names(tmp_path, code), code


def test_what_only_a_type_checker_reads_and_rooms_that_are_not_imported_are_left_out(tmp_path):
    code = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rankedu.losses import APLoss"
    assert names(tmp_path, code) == set()
    found = names(tmp_path, "import rankedu\nfrom rankedu.metrics import ndcg")
    assert "rankedu/metrics/graded.py" in found and not [name for name in found if "losses" in name]


def test_data_are_part_of_it(tmp_path):
    for file in ("effects.json", "printed"):
        found = names(tmp_path, f"path = root / 'book' / 'data' / {file!r}")
        assert found and all(name.startswith(f"book/data/{file}") for name in found)


def test_cells_of_a_text_are_read_and_its_prose_is_not_and_any_other_file_stands_for_itself(tmp_path):
    text = (
        "import rankedu.cli\n\n"
        "```{code-cell} ipython3\n---\ntags: [a]\n---\n%matplotlib inline\nimport rankedu.ranks\n```\n"
        "```{code-cell} ipython3\n:tags: [b]\n\nimport rankedu.hierarchy\n```\n"
    )
    found = names(tmp_path, text, "x.md")
    assert {"rankedu/ranks.py", "rankedu/hierarchy.py"} <= found and "rankedu/cli.py" not in found
    assert names(tmp_path, ":root { font: 18px/1.5 }", "x.html") == set()


def test_versions_are_those_that_are_pinned_and_not_those_that_are_installed(monkeypatch):
    assert {line.partition("==")[0] for line in closure.pins().splitlines()} == closure.LIBRARIES
    before = closure.fingerprint(ROOT / "rankedu" / "ranks.py")
    monkeypatch.setattr(closure, "pins", lambda: "torch==0")
    assert closure.fingerprint(ROOT / "rankedu" / "ranks.py") != before

"""A lab's cells, run without a kernel: one takes seconds to start and to import what this process has imported."""

from __future__ import annotations

import nbformat
import pytest

from rankedu.lab.runs import find_labs, load_result, plan


@pytest.fixture
def execute(tmp_path, monkeypatch, capsys):
    """A function that runs a lab in an empty folder, the current one, and returns what it saved."""
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)

    def run(lab, preset, parameters):
        names = {}
        given = plan(lab, preset=preset, parameters=parameters, runs=tmp_path).parameters
        for cell in nbformat.read(find_labs() / f"{lab}.ipynb", 4).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{lab}.ipynb", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= given
        result = load_result(tmp_path / "result.json")
        assert result["parameters"] == given
        return result

    return run

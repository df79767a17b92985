"""The runs of HAPPIER along α and λ."""

from __future__ import annotations

import json

from rankedu.lab.training import happier


def test_the_grid_is_written_and_sorted(tmp_path, monkeypatch):
    monkeypatch.setattr(happier, "GRID", {"alpha": (5.0, 1.0), "weight": (0.0, 0.1), "seed": (1, 0)})
    names = ("alpha", "weight", "seed")
    monkeypatch.setattr(happier, "one_run", lambda *cell, **rest: dict(zip(names, cell, strict=True)) | rest)
    out = tmp_path / "deep" / "runs.json"
    happier.main(["--out", str(out), "--steps", "7"])
    runs = json.loads(out.read_text())
    cells = [(5.0, 0.1), (1.0, 0.1), (1.0, 0.0)]
    assert [(run["seed"], run["alpha"], run["weight"]) for run in runs] == [
        (s, *cell) for s in (1, 0) for cell in cells
    ]
    found = happier.results(out, steps=7)
    assert {key: list(found[key]) for key in found} == {"alpha": [1.0, 5.0], "weight": [0.0, 0.1]}
    assert found["alpha"][1.0] == found["weight"][0.1] == [runs[4], runs[1]]
    assert happier.results(out) == {"alpha": {}, "weight": {}}


def test_a_run_repeats_itself():
    first, again = (happier.one_run(1.0, 0.1, 3, steps=2) for _ in range(2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}

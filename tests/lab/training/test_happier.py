"""The runs of HAPPIER along α and λ: resumed, repeated, written at once or not at all."""

from __future__ import annotations

import json

import pytest

from rankedu.lab.training import happier


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(happier, "GRID", {"alpha": (1.0, 5.0), "weight": (0.0, 0.1), "seed": (0,)})
    made = {**happier.SETTINGS, "steps": 1, "seconds": 0.0}
    monkeypatch.setattr(
        happier, "one_run", lambda alpha, weight, seed, **_: made | {"alpha": alpha, "weight": weight, "seed": seed}
    )
    return {"steps": 1, "progress": False}


def test_the_grid_resumes(tmp_path, quick):
    out = tmp_path / "deep" / "runs.json"
    before = happier.run_grid(out, limit=2, **quick)
    assert json.loads(out.read_text()) == before and len(before) == 2
    runs = happier.run_grid(out, **quick)
    assert runs[:2] == before
    assert [(run["alpha"], run["weight"]) for run in runs] == [(1.0, 0.1), (5.0, 0.1), (1.0, 0.0)]
    assert happier.run_grid(out, **quick) == runs
    assert [path.name for path in out.parent.iterdir()] == ["runs.json"]
    found = happier.results(out, steps=1)
    assert {key: list(found[key]) for key in found} == {"alpha": [1.0, 5.0], "weight": [0.0, 0.1]}
    assert found["alpha"][1.0] == found["weight"][0.1] == runs[:1]
    assert happier.results(out) == {"alpha": {}, "weight": {}}


def test_an_interrupted_write_keeps_the_file(tmp_path, quick, monkeypatch):
    out = tmp_path / "runs.json"
    happier.run_grid(out, limit=1, **quick)
    before = out.read_bytes()
    monkeypatch.setattr("rankedu._files.os.fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        happier.run_grid(out, limit=1, **quick)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["runs.json"]


def test_the_command_reads_its_line(tmp_path, monkeypatch):
    seen = {}
    monkeypatch.setattr(happier, "run_grid", lambda **chosen: seen.update(chosen))
    happier.main(["--out", str(tmp_path / "runs.json"), "--steps", "7", "--limit", "2"])
    assert seen == {"out": tmp_path / "runs.json", "steps": 7, "limit": 2}


def test_a_run_repeats_itself():
    first, again = (happier.one_run(1.0, 0.1, 3, steps=2) for _ in range(2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}

"""The lab `speed`: its transcriptions are the losses, and it says what it did not measure."""

import sys
from itertools import product

import pytest
import torch

from rankedu_lab.experiments import speed
from rankedu_lab.experiments.speed import contestants
from rankedu_lab.experiments.speed.contestants import LISTS, LOSSES, OURS, PML, VALUE, VALUES, WRITTEN, Batch, List
from rankedu_lab.experiments.speed.tables import compare, metrics_of, ratio_table, rows_of
from rankedu_lab.experiments.speed.timing import Limits, race
from rankedu_lab.runs.records import flatten

SMALL = {"lengths": [200, 2000], "batch": 16, "batch_sizes": [16, 32], "dim": 8, "seconds": 0.001}


@pytest.fixture
def steps(monkeypatch):
    """A function that does pieces of work and returns the value and gradient of each."""
    found = []

    def step(loss, start, gradient=None):
        leaf = start.double().requires_grad_()
        return lambda: found.append(((value := loss(leaf)).item(), torch.autograd.grad(value, leaf)[0]))

    def do(of, *names):
        found.clear()
        for work in of.works(names).values():
            work()
        return list(found)

    monkeypatch.setattr(contestants, "step", step)
    return do


def test_a_transcription_is_the_loss_with_its_gradient(steps):
    for name, per_class in product(LOSSES, (2, 4)):
        (value, found), (other, expected) = steps(Batch(32, per_class, dim=8), (name, OURS), (name, WRITTEN))
        assert value == pytest.approx(other, abs=1e-6) and expected.abs().max() > 0, name
        assert (found - expected).abs().max() < 1e-5 * expected.abs().max(), name


def test_everybody_has_the_same_loss(steps):
    for name in [name for name in LISTS if name[0] in ("AP", "recall", "rank layer") and name[1] != OURS]:
        (value, found), (other, expected) = steps(List(500, 0.1, seed=3), (name[0], OURS), name)
        assert value == pytest.approx(other, abs=1e-6), name
        assert torch.allclose(found, expected, atol=1e-7) and expected.count_nonzero() > 20, name
    found = [float(work()) for work in Batch(32, 4, dim=8).works((VALUE, who) for who in VALUES).values()]
    assert len(found) == 3 and max(found) - min(found) < 1e-6, "all libraries find the same average precision"


def test_what_would_not_fit_is_said_and_not_tried():
    calls = []
    works = lambda size: {("AP", "ours"): lambda: calls.append(size)}  # noqa: E731
    rows = race([10, 100], works, Limits(0.001, 1e6, 1e3), lambda name, size: 20.0 * size)
    assert rows[0]["seconds"] > 0 and not rows[0]["note"] and set(calls) == {10}
    assert rows[1]["seconds"] is None and rows[1]["note"].startswith("not timed: it needs about 1.86e-06 GiB")
    [row] = race([10], works, Limits(0.001, budget=-1.0))
    assert row["seconds"] is None and row["note"] == "not timed: the budget would be used up"


def row(work="AP", who="ours", size=128, seconds=1.0, part="batches"):
    names = {"device": "cpu", "part": part, "work": work, "contender": who, "size": size}
    return {**names, "seconds": seconds, "note": ""}


def test_ratios_are_to_the_same_work_and_to_the_limits_alone_and_a_record_gives_its_rows_back():
    rows = [
        row(seconds=2.0),
        row(who="theirs", seconds=8.0),
        row(who="theirs", size=256, seconds=1.0),
        row(work="FastAP", who="transcription", seconds=1.0),
        row(work="limit", who="product", seconds=1.0),
        row(who="same", seconds=2.05),
        row(who="untried", seconds=None),
        row(work="AP, value alone", seconds=1.0),
    ]
    found = {(r["work"], r["against"]): (r["ratio"], r["verdict"]) for r in compare(rows)}
    assert found.pop(("AP", "same")) == (pytest.approx(2 / 2.05), "level")
    assert found == {("AP", "theirs"): (0.25, "ahead"), ("AP", "product"): (2.0, "behind")}
    lines = ratio_table(compare(rows))
    assert {"ours": "AP", "over": "product", "on": "cpu", "128": "2.0 behind"} in lines and len(lines) == 3
    given_back = rows_of(flatten(metrics_of(rows[:2])))
    assert [{k: v for k, v in r.items() if k != "note"} for r in rows[:2]] == given_back


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_quick_lab_runs(execute):
    found = execute("speed", "speed_quick", {**SMALL, "devices": ["cpu"]})
    assert found["machine"]["threads"] == 1 and "cores" in found["machine"]["device"]
    rows = rows_of(flatten(found["metrics"]))
    assert {(r["device"], r["part"]) for r in rows} == {("cpu", part) for part in speed.PARTS}
    assert all(r["seconds"] > 0 for r in rows)
    ratios = {(r["work"], r["against"]) for r in compare(rows)}
    assert {("AP", "two np.argsort"), ("Smooth-AP", PML), ("RaMBO AP", "transcription")} < ratios


def test_without_a_budget_or_a_library_everything_is_said_to_be_missing(monkeypatch):
    found = speed.run({**SMALL, "devices": ["cpu"], "budget": 1e-9})
    assert all(r.get("seconds") is None and r["note"] for r in found.rows)
    assert len(found.notes()) == len(found.rows)
    assert {line["here"] for line in found.backbone_table("cpu")} == {"not measured"}
    monkeypatch.setitem(sys.modules, "pytorch_metric_learning", None)
    works = lambda size: Batch(size, dim=4).works([("FastAP", OURS), ("FastAP", PML)])  # noqa: E731
    rows = race([16], works, Limits(0.001))
    assert rows[0]["seconds"] > 0 and rows[1]["seconds"] is None and "pytorch_metric_learning" in rows[1]["note"]

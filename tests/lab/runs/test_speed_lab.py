"""The lab `speed`: Algorithm 1 as printed gives our losses, and what was not timed is named."""

import pytest
import torch

from rankedu_lab.experiments import speed
from rankedu_lab.experiments.speed import contestants
from rankedu_lab.experiments.speed.contestants import OURS, PML, VALUE, WRITTEN, on_batch, on_list
from rankedu_lab.experiments.speed.tables import metrics_of, ratios, rows_of
from rankedu_lab.experiments.speed.timing import Limits, race
from rankedu_lab.runs.results import flatten

SMALL = {"lengths": [200, 2000], "batch": 16, "batch_sizes": [16, 32], "dim": 8, "seconds": 0.001}


def of_step(monkeypatch, make):
    """Make contestants whose steps return the value and the gradient in double precision."""

    def step(loss, start, *others, gradient=None):
        leaf = start.double().requires_grad_()
        return lambda: ((value := loss(leaf, *others)).sum().item(), torch.autograd.grad(value, leaf, gradient)[0])

    monkeypatch.setattr(contestants, "step", step)
    return make()


@pytest.mark.parametrize(
    "make", [lambda: on_list(500, 0.1, seed=3), lambda: on_batch(32, 4, 8), lambda: on_batch(32, 2, 8)]
)
def test_algorithm_1_as_printed_gives_our_losses_and_gradients(monkeypatch, make):
    works = of_step(monkeypatch, make)
    names = [work for work, who in works if who == WRITTEN]
    assert len(names) == 2
    for name in names:
        (value, found), (other, expected) = works[name, OURS](), works[name, WRITTEN]()
        assert value == pytest.approx(other, abs=1e-6) and expected.count_nonzero() > 20, name
        assert (found - expected).abs().max() < 1e-5 * expected.abs().max(), name


def test_all_libraries_find_the_same_average_precision():
    found = [float(work()) for (work_name, _), work in on_batch(32, 4, 8).items() if work_name == VALUE]
    assert len(found) == 3 and max(found) - min(found) < 1e-6


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
    names = {"ours": "AP", "on": "cpu"}
    assert ratios(rows, "batches") == [
        names | {"over": "theirs", "128": "0.25"},
        names | {"over": "product", "128": "2"},
        names | {"over": "same", "128": "0.98"},
    ]
    given_back = rows_of(flatten(metrics_of(rows[:2])))
    assert [{k: v for k, v in r.items() if k != "note"} for r in rows[:2]] == given_back


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_quick_lab_runs(execute):
    found = execute("speed", "speed_quick", {**SMALL, "devices": ["cpu"]})
    assert found["machine"]["threads"] == 1 and "cores" in found["machine"]["device"]
    rows = rows_of(flatten(found["metrics"]))
    assert {(r["device"], r["part"]) for r in rows} == {("cpu", part) for part in speed.PARTS}
    assert all(r["seconds"] > 0 for r in rows)
    pairs = {(line["ours"], line["over"]) for part in speed.PARTS for line in ratios(rows, part)}
    assert {("AP", "two np.argsort"), ("Smooth-AP", PML), ("RaMBO AP", "transcription")} < pairs


def test_without_a_budget_everything_is_said_to_be_missing_and_what_cannot_be_measured_is_refused(refused):
    found = speed.run({**SMALL, "devices": ["cpu"], "budget": 1e-9})
    assert all(r.get("seconds") is None and r["note"] for r in found.rows)
    assert len(found.notes()) == len(found.rows)
    assert {line["here"] for line in found.backbone_table("cpu")} == {"not measured"}
    wrong = {"parts": ["growth"], "batch": 0, "lengths": [1], "share": 1.0, "batch_sizes": [18]}
    refused(
        [
            (lambda name=name, odd=odd: speed.check(speed.DEFAULTS | {name: odd}), ValueError, name)
            for name, odd in wrong.items()
        ]
    )

"""The lab `speed`: its transcriptions are the losses, its intervals hold what they promise, its race is fair."""

import math
import re
import sys
from itertools import product

import numpy as np
import pytest
import torch

from ranklab.experiments import speed
from ranklab.experiments.speed import contestants, stopwatch
from ranklab.experiments.speed.contestants import ALONE, LISTS, LOSSES, OURS, PML, VALUE, VALUES, WRITTEN, Batch, List
from ranklab.experiments.speed.growth import ALGORITHMS, exponents
from ranklab.experiments.speed.stopwatch import Limits, race
from ranklab.experiments.speed.tables import compare, metrics_of, ratio_table, rows_of
from ranklab.runs.records import flatten

SMALL = {"lengths": [200, 2000], "memory_length": 0, "scale": 0.01, "batch": 16, "batch_sizes": [16, 32], "dim": 8}


@pytest.fixture
def steps(monkeypatch):
    """A function that does pieces of work and returns the value and gradient of each."""
    found = []

    def step(loss, start):
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
    for name, whos in {"Smooth-AP": [ALONE], "SupAP": [ALONE], "H-AP": [ALONE, "query by query"]}.items():
        values = [value for value, _ in steps(Batch(32, 4, dim=8, halves=True), *((name, w) for w in (OURS, *whos)))]
        assert values == pytest.approx([values[0]] * (1 + len(whos)), abs=1e-6), name
    found = [float(work()) for work in Batch(32, 4, dim=8).works((VALUE, who) for who in VALUES).values()]
    assert len(found) == 3 and max(found) - min(found) < 1e-6, "all libraries find the same average precision"


def test_the_intervals_hold_the_truth_as_often_as_they_promise():
    """1,000 experiments with known exponents: medians of five rounds, whose noise is skewed, on cells that deviate."""
    random, held = np.random.default_rng(0), np.zeros(2)
    pairs = [(n, p) for n in (1e3, 2e3, 4e3, 8e3) for p in (10, 20, 40, 80)]
    for _ in range(1000):
        medians = np.median(random.gamma(9.0, 0.03, (len(pairs), 5)), 1) + random.normal(0, 0.03, len(pairs))
        cells = [(n, p, n**1.3 * p**0.4 * math.exp(x)) for (n, p), x in zip(pairs, medians, strict=True)]
        (a, a_margin), (b, b_margin) = exponents(cells)
        held += abs(a - 1.3) < a_margin, abs(b - 0.4) < b_margin
    assert (abs(held / 1000 - 0.95) < 0.02).all()  # three standard deviations of 1,000 draws


@pytest.fixture
def clockwork(monkeypatch):
    """A clock that a contender winds: each call of `work(s)` takes s seconds; the order of the calls."""
    calls, now = [], [0.0]

    def works(**takes):
        def work(name, seconds):
            return lambda: (calls.append(name), now.__setitem__(0, now[0] + seconds))

        return lambda size: {("AP", name): work(name, s * size) for name, s in takes.items()}

    for clock in ("process_time", "monotonic"):
        monkeypatch.setattr(stopwatch.time, clock, lambda: now[0])
    monkeypatch.setattr(stopwatch, "peak_of", lambda work, device: (work(), 2.0**30))
    return works, calls


def test_contenders_run_in_turn_and_short_ones_are_warmed_up(clockwork):
    works, calls = clockwork
    rows = race([1], works(ours=1.0, theirs=10.0), Limits(rounds=3, seconds=2.0, budget=1e3))
    assert calls == ["ours", "theirs", "ours", "ours"], "10 s are more than three times the 2 s: no more rounds"
    found = [tuple(row[key] for key in ("contender", "seconds", "rounds")) for row in rows]
    assert found == [("ours", 1.0, 2), ("theirs", 10.0, 1)]


def test_what_would_not_fit_is_told_and_not_tried(clockwork):
    works, calls = clockwork
    for limits, note in (
        ({"longest": {"ours": 50}}, "longest is 50"),
        ({"memory": 2.0**31}, "10 GiB would be needed, 2 may be used"),
        ({"budget": 90.0}, "it would take about 100.0 s, and the budget ends before"),
    ):
        calls.clear()
        limits = Limits(**{"rounds": 1, "seconds": 100.0, "budget": 1e6, "memory": 1e12, **limits})
        rows = race([10, 100], works(ours=1.0), limits, growth={("AP", "ours"): (1.0, 1.0)})
        assert rows[1]["seconds"] is None and rows[1]["rounds"] == 0 and len(calls) == 2, note
        assert note in rows[1]["note"]
    (row,) = race([1], works(ours=2.0), Limits(rounds=3, seconds=9.0, budget=1.0))
    assert (row["seconds"], row["rounds"]) == (2.0, 1)
    assert row["note"] == "one call, not warmed up: the budget is used up"


def row(work="AP", who="ours", size=128, seconds=1.0, part="batches", **more):
    names = {"device": "cpu", "part": part, "work": work, "contender": who, "size": size}
    return {**names, "seconds": seconds, "note": "", **more}


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
    rows = [*rows[:2], row("RaMBO", "", 0, part="growth", n=1.05, **{"n margin": 0.1})]
    given_back = rows_of(flatten(metrics_of(rows)))
    assert [{k: v for k, v in r.items() if k != "note"} for r in rows] == given_back


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_quick_lab_runs(execute):
    found = execute("speed", "speed_quick", {**SMALL, "rounds": 1, "seconds": 0.01, "devices": ["cpu"]})
    assert found["machine"]["threads"] == 1 and "cores" in found["machine"]["device"]
    rows = rows_of(flatten(found["metrics"]))
    assert {(r["device"], r["part"]) for r in rows} == {("cpu", part) for part in speed.PARTS}
    timed = [r for r in rows if r["part"] != "growth"]
    assert all(r["seconds"] > 0 and r["rounds"] == 1 for r in timed)
    assert {r["work"] for r in rows if r["part"] == "growth" and math.isfinite(r["n"])} == set(ALGORITHMS)
    ratios = {(r["work"], r["against"]) for r in compare(rows)}
    assert {("AP", "two np.argsort"), ("Smooth-AP", PML), ("RaMBO AP", "transcription")} < ratios


def test_without_a_budget_or_a_library_everything_is_told_to_be_missing(monkeypatch):
    found = speed.run({**SMALL, "devices": ["cpu"], "budget": 1e-9, "memory_length": 1000})
    assert all(r.get("seconds") is None and r["note"] for r in found.rows)
    assert len(found.notes()) == len(found.rows) and not found.growth_table("cpu") and not found.memory_table()
    assert {line["here"] for line in found.backbone_table("cpu")} == {"not measured"}
    monkeypatch.setitem(sys.modules, "pytorch_metric_learning", None)
    rows = race([16], lambda size: Batch(size, dim=4).works([("FastAP", OURS), ("FastAP", PML)]), Limits(1))
    assert rows[0]["seconds"] > 0 and rows[1]["seconds"] is None
    assert re.match("not measured: .*pytorch_metric_learning", rows[1]["note"])

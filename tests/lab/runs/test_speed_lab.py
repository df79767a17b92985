"""The lab `speed`: its transcriptions are the losses, its intervals hold what they promise, its race is fair."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from rankedu.losses import FastAPLoss, SmoothAPLoss
from ranklab import models
from ranklab.experiments import speed
from ranklab.experiments.speed import contestants, published, stopwatch
from ranklab.experiments.speed.contestants import ALONE, LISTS, LOSSES, OURS, VALUE, VALUES, WRITTEN, Batch, List
from ranklab.experiments.speed.growth import ALGORITHMS, cells_of, exponents
from ranklab.experiments.speed.published import PRINTED_MS
from ranklab.experiments.speed.stopwatch import Limits, race
from ranklab.experiments.speed.tables import (
    beside,
    compare,
    duration,
    metrics_of,
    ratio_table,
    rows_of,
    seconds_of,
)
from ranklab.runs import find_labs, list_presets, plan
from ranklab.runs.parameters import read_parameters
from ranklab.runs.records import flatten

LABS = find_labs()
PRINTED = Path(__file__).resolve().parents[3] / "book" / "data" / "printed"


# --- The transcriptions -----------------------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch):
    """Value and gradient of every step that a contender has taken."""
    found = []

    def step(loss, start):
        leaf = start.double().requires_grad_()

        def take():
            value = loss(leaf)
            found.append((value.item(), torch.autograd.grad(value, leaf)[0]))

        return take

    monkeypatch.setattr(contestants, "step", step)
    return found


@pytest.mark.parametrize("per_class", [2, 4])
@pytest.mark.parametrize("name", LOSSES)
def test_a_transcription_is_the_loss_with_its_gradient(steps, name, per_class):
    for work in Batch(32, per_class, dim=8).works([(name, OURS), (name, WRITTEN)]).values():
        work()
    (value, gradient), (other, expected) = steps
    assert value == pytest.approx(other, abs=1e-6) and expected.abs().max() > 0
    assert (gradient - expected).abs().max() < 1e-5 * expected.abs().max()


@pytest.mark.parametrize("name", ["Smooth-AP", "SupAP", "H-AP"])
def test_the_loss_alone_has_the_value_of_the_whole(steps, name):
    whos = [OURS, ALONE, *(["query by query"] if name == "H-AP" else [])]
    for work in Batch(32, 4, dim=8, halves=True).works((name, who) for who in whos).values():
        work()
    assert [value for value, _ in steps] == pytest.approx([steps[0][0]] * len(whos), abs=1e-6)


@pytest.mark.parametrize("name", [name for name in LISTS if name[0] in ("AP", "recall", "rank layer")], ids=" ".join)
def test_everybody_has_the_same_loss_of_a_list(steps, name):
    for work in List(500, 0.1, seed=3).works([(name[0], OURS), name]).values():
        work()
    (value, gradient), (other, expected) = steps[0], steps[-1]
    assert value == pytest.approx(other, abs=1e-6)
    assert torch.allclose(gradient, expected, atol=1e-7) and expected.count_nonzero() > 20


@pytest.mark.parametrize("written", [published.published_smooth_ap, published.published_fast_ap])
def test_queries_without_a_positive_do_not_count(written):
    scores = torch.rand(3, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    relevance = torch.tensor([[1, 0, 0, 1, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0]]).bool()
    where = torch.arange(6) < 5
    loss = {"published_smooth_ap": SmoothAPLoss(), "published_fast_ap": FastAPLoss(10)}[written.__name__]
    where = where.expand(3, 6)
    value = written(scores, relevance, where)
    assert value.item() == pytest.approx(loss(scores, relevance, where=where).item(), abs=1e-6)
    value.backward()
    assert scores.grad.isfinite().all() and not scores.grad[1].any() and not scores.grad[:, 5].any()


@pytest.mark.filterwarnings("ignore::ranklab.models.StandInWarning")
def test_all_libraries_find_the_same_average_precision():
    works = Batch(32, 4, dim=8).works((VALUE, who) for who in VALUES)
    found = [float(work()) for work in works.values()]
    assert len(found) == 3 and max(found) - min(found) < 1e-6


# --- The intervals ----------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("method", ALGORITHMS.values(), ids=ALGORITHMS)
def test_a_grid_has_lengths_and_counts_that_vary_by_themselves(method):
    for scale in (0.01, 1.0, 3.0):
        cells = cells_of(method, scale)
        assert len({n for n, _ in cells}) == len({p for _, p in cells}) == 4 and len(set(cells)) == 16
        assert all(2 <= p <= n / 2 for n, p in cells)
        exponents([(n, p, method.claim(n, p)) for n, p in cells])


# --- The race ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def clockwork(monkeypatch):
    """A clock that a contender winds: each call of `work(s)` takes s seconds; the order of the calls."""
    calls, now = [], [0.0]

    def works(**takes):
        def work(name, seconds):
            return lambda: (calls.append(name), now.__setitem__(0, now[0] + seconds))

        return lambda size: {("AP", name): work(name, s * size) for name, s in takes.items()}

    monkeypatch.setattr(stopwatch.time, "process_time", lambda: now[0])
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(stopwatch, "peak_of", lambda work, device: (work(), 2.0**30))
    return works, calls


def test_contenders_run_in_turn_and_short_ones_are_warmed_up(clockwork):
    works, calls = clockwork
    rows = race([1], works(ours=1.0, theirs=10.0), Limits(rounds=3, seconds=2.0, budget=1e3))
    assert calls == ["ours", "theirs", "ours", "ours"], "10 s are more than three times the 2 s: no more rounds"
    assert [(row["contender"], row["seconds"], row["rounds"]) for row in rows] == [
        ("ours", 1.0, 2),
        ("theirs", 10.0, 1),
    ]


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        ({"longest": {"ours": 50}}, "longest is 50"),
        ({"memory": 2.0**31}, "10 GiB would be needed, 2 may be used"),
        ({"budget": 90.0}, "it would take about 100.0 s, and the budget ends before"),
    ],
)
def test_what_would_not_fit_is_told_and_not_tried(clockwork, limits, note):
    works, calls = clockwork
    setting = {"rounds": 1, "seconds": 100.0, "budget": 1e6, "memory": 1e12, **limits}
    rows = race([10, 100], works(ours=1.0), Limits(**setting), growth={("AP", "ours"): (1.0, 1.0)})
    assert rows[1]["seconds"] is None and rows[1]["rounds"] == 0 and len(calls) == 2
    assert note in rows[1]["note"]


def test_a_contender_that_is_warm_when_the_budget_ends_is_told_with_its_one_call(clockwork):
    works, calls = clockwork
    (row,) = race([1], works(ours=2.0), Limits(rounds=3, seconds=9.0, budget=1.0))
    assert (row["seconds"], row["rounds"], calls) == (2.0, 1, ["ours"])
    assert row["note"] == "one call, not warmed up: the budget is used up"


def test_who_is_not_installed_says_so_and_others_are_timed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytorch_metric_learning", None)
    batch = Batch(16, dim=4)
    rows = race([16], lambda size: batch.works([("FastAP", OURS), ("FastAP", "pytorch-metric-learning")]), Limits(1))
    assert rows[0]["seconds"] > 0 and rows[1]["seconds"] is None
    assert rows[1]["note"].startswith("not measured: ") and "pytorch_metric_learning" in rows[1]["note"]


def test_the_expectation_goes_on_from_what_was_not_tried(clockwork):
    works, _ = clockwork
    limits = Limits(rounds=1, budget=1e6, memory=2.0**31)
    rows = race([1, 10, 100], works(ours=1.0), limits, growth={("AP", "ours"): (1.0, 3.0)})
    assert [row.get("expected bytes") for row in rows] == [None, 1e3 * 2**30, 1e6 * 2**30]


CHILD = """
import torch
from ranklab.experiments.speed.stopwatch import peak_of
for numbers in (1 << 24, 3 << 24):
    print(*peak_of(lambda: torch.ones(numbers).sum().item()))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak from Linux's /proc")
def test_memory_is_counted():
    said = subprocess.check_output([sys.executable, "-c", CHILD], text=True)  # here, others may free some meanwhile
    (small, taken), (large, more) = (map(float, line.split()) for line in said.splitlines())
    assert (small, large) == (1 << 24, 3 << 24)
    assert 6e7 < taken < 8e7 and 1.8e8 < more < 2.6e8


def test_free_memory_is_limited_by_the_container(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatch, "_CGROUP", tmp_path)
    (tmp_path / "memory.current").write_text("1000")
    for most, free in (("3000", 2000.0), ("500", 0.0)):
        (tmp_path / "memory.max").write_text(most)
        assert stopwatch.free_memory() == free
    (tmp_path / "memory.max").write_text("max")
    assert stopwatch.free_memory() > 1e6


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak from Linux's /proc")
def test_bytes_of_a_list_are_counted_in_a_process_of_their_own():
    names = [(loss, who) for loss in ("AP", "recall") for who in (OURS, WRITTEN)]
    found = contestants.bytes_a_score(names, 500_000, 0.01, 0)
    assert list(found) == names
    for loss in ("AP", "recall"):
        assert 4 < found[loss, OURS] < found[loss, WRITTEN] < 100


# --- What is told -----------------------------------------------------------------------------------------------------


def row(work="AP", who="ours", size=128, seconds=1.0, part="batches", device="cpu", **more):
    names = {"device": device, "part": part, "work": work, "contender": who, "size": size}
    return {**names, "seconds": seconds, "note": "", **more}


def test_a_record_gives_its_rows_back():
    rows = [
        row(),
        row(who="theirs", size=4096, seconds=None),
        row("RaMBO", "", 0, part="growth", n=1.05, **{"n margin": 0.1}),
    ]
    found = rows_of(flatten(metrics_of(rows)))
    assert [{k: v for k, v in r.items() if k != "note"} for r in rows] == found


def test_ratios_are_to_the_same_work_and_to_the_limits_alone():
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


@pytest.mark.parametrize("text", ["350 µs", "1.30 ms", "33.0 ms", "9.99 s", "36.4 s", "331 ms"])
def test_durations_are_read_as_they_are_written(text):
    assert duration(seconds_of(text)) == text


def test_the_numbers_that_the_package_holds_are_the_printed_ones():
    table_6, table_s2, table_1 = (
        yaml.safe_load((PRINTED / f"{name}.yaml").read_text(encoding="utf-8"))
        for name in ("rambo_tab_6", "smooth_ap_tab_s2", "rambo_tab_1")
    )
    for line in table_6["rows"]:
        assert [seconds_of(text) for text in line["values"]] == list(speed.PRINTED[line["ours"]].values())
    found = {line["ours"]: seconds_of(line["values"][2]) for line in table_s2["rows"]}
    assert {name: 1e3 * s for name, s in found.items()} == pytest.approx(
        {name: ms for name, ms in PRINTED_MS.items() if name != "backbone"}
    )
    assert {seconds_of(line["values"][1]) for line in table_s2["rows"]} == {PRINTED_MS["backbone"] / 1e3}
    for line in table_1["rows"]:
        assert ALGORITHMS[line["ours"]].printed.startswith(line["values"][0])


# --- The lab ----------------------------------------------------------------------------------------------------------

SMALL = {"lengths": [200, 2000], "memory_length": 0, "scale": 0.01, "batch": 16, "batch_sizes": [16, 32], "dim": 8}


def test_the_notebook_has_the_defaults_of_the_module():
    declared = read_parameters(LABS / "speed.ipynb")
    assert {name: parameter.default for name, parameter in declared.items()} == speed.DEFAULTS


def test_the_presets_are_this_labs_alone_and_can_be_planned(tmp_path):
    assert list_presets("speed", LABS) == ["speed_cpu", "speed_gpu", "speed_quick"]
    for preset in list_presets("speed", LABS):
        parameters = plan("speed", preset=preset, runs=tmp_path).parameters
        assert parameters["parts"] == list(speed.PARTS)
        speed._check(parameters)
        if preset != "speed_quick":
            assert parameters["lengths"] == list(speed.PRINTED["cpu"]) and parameters["batch"] == 112


def test_the_quick_lab_runs(execute):
    found = execute("speed", "speed_quick", {**SMALL, "rounds": 1, "seconds": 0.01, "devices": ["cpu"]})
    assert found["machine"]["threads"] == 1 and "cores" in found["machine"]["device"]
    rows = rows_of(flatten(found["metrics"]))
    assert {(r["device"], r["part"]) for r in rows} == {("cpu", part) for part in speed.PARTS}
    timed = [r for r in rows if r["part"] != "growth"]
    assert all(r["seconds"] > 0 and r["rounds"] == 1 for r in timed)
    assert {r["work"] for r in rows if r["part"] == "growth" and math.isfinite(r["n"])} == set(ALGORITHMS)
    ratios = {(r["work"], r["against"]) for r in compare(rows)}
    assert {("AP", "two np.argsort"), ("Smooth-AP", "pytorch-metric-learning"), ("RaMBO AP", "transcription")} < ratios


def test_without_a_budget_everything_is_told_to_be_missing():
    found = speed.run({**SMALL, "devices": ["cpu"], "budget": 1e-9, "memory_length": 1000})
    assert all(r.get("seconds") is None and r["note"] for r in found.rows)
    assert len(found.notes()) == len(found.rows) and not found.growth_table("cpu") and not found.memory_table()
    assert {line["here"] for line in found.backbone_table("cpu")} == {"not measured"}


def test_a_resnet_that_cannot_be_had_is_told(monkeypatch):
    def refuse(name, **options):
        raise ImportError("torchvision is needed for the ResNets and can't be imported (no such module)")

    monkeypatch.setattr(models, "build", refuse)
    rows = speed.beside_backbone({**speed.DEFAULTS, **SMALL, "model": "resnet50"}, Limits(rounds=1), "cpu")
    assert rows[0]["contender"] == "resnet50" and rows[0]["note"].startswith(
        "not measured: ImportError: torchvision is"
    )
    assert [line["here"] == "not measured" for line in beside(rows)] == [True] + [False] * 6
    assert not any(line["of the network"] for line in beside(rows))


def test_a_loss_is_told_as_a_part_of_the_network():
    rows = speed.beside_backbone({**speed.DEFAULTS, **SMALL}, Limits(rounds=1), "cpu")
    line = beside(rows)[1]
    assert line["by"] == "ours" and line["of the network"].endswith("(printed: 0.5 %)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parts": ["long list"]}, "parts must be one of"),
        ({"devices": ["gpu"]}, "devices must be one of"),
        ({"rounds": 0}, "rounds must be > 0, got 0"),
        ({"lengths": [1]}, "lengths must be 2 or more each"),
        ({"share": 1.0}, "share must be between 0 and 1, got 1.0"),
        ({"batch_sizes": [126]}, "multiples of per_class=4, got 126"),
        ({"longest": ["transcripton=10"]}, "did you mean 'transcription'"),
        ({"longest": ["ours:10"]}, "longest must name a contender"),
        ({"longest": ["ours=ten"]}, "texts such as 'transcription=1000000', got 'ours=ten'"),
    ],
)
def test_bad_parameters_are_named_before_anything_is_measured(change, message):
    with pytest.raises(ValueError, match=message):
        speed.run({"devices": ["cpu"], **change})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_told():
    with pytest.raises(ValueError, match="got 'cuda' and no GPU"):
        speed.run({"devices": ["cuda"]})
    assert speed._devices(["auto", "cpu"]) == ["cpu"]

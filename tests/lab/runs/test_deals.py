"""The second round: a search in every deal of the letters, and what is said of their differences."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ranklab.claims import deals as running
from ranklab.claims.answers import answers, as_text, networks
from ranklab.claims.deals import DEFAULT, LABS, ROUNDS, Deals, crowded, read_round, widened
from ranklab.claims.protocol import RANDOM, read_arms
from ranklab.claims.spread import Mean, levels, mean_of_deals, say
from ranklab.datasets import held_out
from ranklab.methods import METHODS
from ranklab.runs import collect_runs
from ranklab.runs.folders import find_records
from ranklab.runs.planning import plan
from ranklab.runs.search import Between

TINY = {"steps": 2, "batch_size": 16, "dim": 8, "letters": True, "test_images": 400, "pictures": False}
ARMS = {
    "smooth_ap": {"measure": [16]},
    "its rate again": {"method": "smooth_ap", "like": "smooth_ap", "search": ["lr"], "hold": {"margin": 0.0}},
    "later": {"method": "fast_ap", "after": "smooth_ap", "times": {"steps": 2}},
}
FAMILY = {
    "rate": {"plus": "smooth_ap", "minus": ["its rate again", "later"], "metric": "mAP@R"},
    "first": {"plus": "smooth_ap", "minus": ["later"], "metric": "R@1"},
    "batches": {"of": "smooth_ap", "metrics": ["mAP of batches of 16", "mAP"]},
    "never": {"plus": "smooth_ap", "minus": ["nobody"], "metric": "mAP@R"},
}


def test_the_mean_of_deals_is_a_t_test_to_which_the_spread_of_letters_is_added():
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, 12)
    alone = mean_of_deals(values)
    assert alone.p_different() == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert alone.half_width(0.05) == pytest.approx(
        alone.value - stats.t.interval(0.95, 11, alone.value, alone.error)[0]
    )
    one_sided = [
        stats.ttest_1samp(values, bound, alternative=side).pvalue for bound, side in ((-1, "greater"), (1, "less"))
    ]
    assert alone.p_equal(1) == mean_of_deals(-values).p_equal(1) == pytest.approx(max(one_sided))
    by_letter, counts = rng.normal(0.3, 2, 40), np.full(40, 10.0)
    both = mean_of_deals(values, by_letter * counts, counts)
    assert both.error**2 == pytest.approx(alone.error**2 + by_letter.var(ddof=1) / 40)
    assert 11 < both.freedom < 11 + 39 and both.value == alone.value
    assert mean_of_deals([1.0, 1.0]).p_different() == 0 and mean_of_deals([1.0, 1.0]).p_equal(0.5) == 1


def test_what_is_said_and_at_which_level():
    assert levels({"a": 0.001, "b": 0.02, "c": 0.9}) == {"a": 0.05 / 3, "b": 0.05 / 2, "c": 0.05}
    assert levels({"a": 0.02, "b": 0.03}) == {"a": 0.025, "b": 0.05}
    assert levels({"a": 0.03, "b": 0.04}) == {"a": 0.025, "b": 0.025}
    sharp, blurred, far = Mean(0.3, 0.01, 15), Mean(0.3, 0.5, 15), Mean(-3, 0.1, 15)
    told = [say(mean, different=0.05, equal=0.05, delta=0.5) for mean in (sharp, blurred, far)]
    assert told == ["above, by less than matters here", "undecided here", "below"]
    assert say(Mean(0.001, 0.01, 15), different=0.05, equal=0.05, delta=0.5) == "no difference that matters here"
    assert say(Mean(0.001, 0.01, 15), different=0.05, equal=0.05, delta=None) == "undecided here"


def test_a_box_whose_edge_is_crowded_is_widened():
    space = {
        "lr": Between(1e-4, 1e-2, log=True),
        "margin": Between(0.0, 0.2),
        "bins": Between(4, 64, log=True, whole=True),
    }
    best = [{"lr": 1.2e-4, "margin": 0.0, "bins": 16}] * 3 + [{"lr": 1e-3, "margin": 0.0, "bins": 16}] * 5
    assert crowded(space, best) == ["lr"] and crowded(space, best[1:]) == ["lr"] and crowded(space, best[2:]) == []
    assert (widened(space["lr"]).low, widened(space["lr"]).high) == pytest.approx((1e-5, 1e-1))
    assert (widened(space["bins"]).low, widened(space["bins"]).high) == (1, 256)


@pytest.fixture(scope="module")
def here():
    """Trainings are small, and done in this process."""

    class Pool:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        map = staticmethod(map)

    def small(lab, *, preset=None, parameters=None, runs="runs", **more):
        split = {"train_split": "pretrain" if preset == "start" else "fit", "test_split": "val"}
        return plan(lab, parameters=TINY | split | (parameters or {}), runs=runs, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "plan", small)
        patch.setattr(running, "ProcessPoolExecutor", Pool)
        patch.setattr(running, "MANY", 1.0)
        patch.setattr(running, "DRAWN", 3200)
        yield


@pytest.fixture(scope="module")
def done(here, tmp_path_factory, opened_once):
    """A round of two deals, searched and measured."""
    folder, real = tmp_path_factory.mktemp("round"), read_round(find_records())
    presets = {"start": "start", "retrieval": ""}
    design = replace(real, deals=2, trials=1, presets=presets, arms=read_arms(ARMS), families={"all": FAMILY})
    deals = Deals(design, folder / "runs")
    for arm in deals.run():
        with pytest.raises(PermissionError, match="choose on 'val'"):
            deals.measure(arm, folder / "table.jsonl")
        with held_out.opened():
            deals.measure(arm, folder / "table.jsonl")
    return deals, folder / "table.jsonl"


def test_every_deal_has_letters_start_and_search_of_its_own(done):
    deals, table = done
    records, skipped = collect_runs(table)
    assert not skipped and {record.parameters["test_split"] for record in records} == {"held_out"}
    found = [deals.read("smooth_ap", deal) for deal in range(2)]
    asked = [of["parameters"]["mAP@R"] for of in found]
    for name in ("salt", "weights", "seed", "lr", "temperature"):
        assert asked[0][name] != asked[1][name], name
    told = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))["smooth_ap"]
    for of, kept in zip(found, told, strict=True):
        assert kept["space"] == of["space"] and kept["chosen"] == of["chosen"]
        assert [one["mAP@R"] for one in kept["trials"]] == [trial["val"]["mAP@R"] for trial in of["trials"]]
    points = [trial["point"] for of in found for trial in of["trials"]]
    assert [point for point in points if point == DEFAULT] == [DEFAULT] * 2 and len(points) == 2 * (3 + 1)
    for deal, of in enumerate(found):
        values = [trial["val"]["mAP@R"] for trial in of["trials"][:-1]]
        assert of["chosen"]["mAP@R"] == int(np.argmax(values)) and of["chosen"][DEFAULT] == 3
        again, later = (deals.read(name, deal) for name in ("its rate again", "later"))
        assert again["parameters"]["mAP@R"]["temperature"] == of["settings"]["mAP@R"]["temperature"]
        assert again["parameters"]["mAP@R"]["margin"] == 0.0 and again["space"].keys() == {"lr"}
        assert later["parameters"]["R@1"]["weights"] == of["networks"]["mAP@R"]
        assert later["parameters"]["R@1"]["steps"] == 4 and len(later["trials"]) == 3
    measured = {record.run: record for record in records}
    one = measured[f"smooth_ap-0-{found[0]['chosen']['mAP@R']}"]
    assert (
        "mAP@R" in one.evidence["chosen"]
        and one.evidence["val"] == found[0]["trials"][found[0]["chosen"]["mAP@R"]]["val"]
    )
    seconds = [trial["seconds"] for trial in found[0]["trials"]]
    assert one.seconds in seconds and one.evidence["search seconds"] == pytest.approx(sum(seconds), abs=0.1)
    assert "mAP of batches of 16" in one.metrics and one.metrics["mAP@R"] != one.evidence["val"]["mAP@R"]


def test_what_is_done_is_not_done_again_and_a_crowded_box_is(done, monkeypatch):
    deals, table = done
    monkeypatch.setitem(LABS, "retrieval", None)
    assert [arm.name for arm in deals.run()] == list(ARMS), "nothing was trained"
    kept = {arm: of_deals for (arm, metric), of_deals in networks(table).items() if metric == "mAP@R"}
    assert [arm.name for arm in deals.run({name: kept[name] for name in ("smooth_ap", "later")})] == ["its rate again"]
    assert not list(Deals(deals.design, table.parent / "elsewhere").run(kept)), "nor where no search is"
    assert [deals.measure(arm, table) for arm in deals.design.arms.values()] == [0] * len(ARMS)
    monkeypatch.undo()
    arm, before = deals.design.arms["later"], deals.read("later", 1)
    (deals.runs / "wider").mkdir()
    (deals.runs / "wider" / "later.json").write_text(json.dumps(["lr"]), encoding="utf-8")
    assert not deals._is_done(arm, 1) and deals.space(arm)["lr"].high > arm.space["lr"].high
    deals.search(arm, 1)
    assert deals._is_done(arm, 1) and deals.read("later", 1)["space"]["lr"] != before["space"]["lr"]


def test_what_an_arm_needs_of_one_that_is_done_is_trained_by_its_record_and_not_searched_for(done, tmp_path):
    deals, table = done
    record = networks(table)["smooth_ap", "mAP@R"]
    elsewhere = Deals(deals.design, tmp_path)
    ran = elsewhere.run({"smooth_ap": record})
    assert [next(ran).name, next(ran).name] == ["its rate again", "later"]
    for deal in range(2):
        searched, again = (of.read("smooth_ap", deal) for of in (deals, elsewhere))
        assert again["networks"] == {"mAP@R": searched["networks"]["mAP@R"]}, "to the digit, on one machine"
        assert again["settings"]["mAP@R"] == searched["settings"]["mAP@R"]
        assert again["val"]["now"] == again["val"]["then"] == record[deal].evidence["val"]["mAP@R"]
        then, now = (of.read("its rate again", deal) for of in (deals, elsewhere))
        assert [one["val"]["mAP@R"] for one in then["trials"]] == [one["val"]["mAP@R"] for one in now["trials"]]
        begun = elsewhere.read("later", deal)["parameters"]["mAP@R"]["weights"]
        assert begun == again["networks"]["mAP@R"]
    assert not elsewhere._is_done(deals.design.arms["smooth_ap"], 0), "it was not searched for"


def test_answers_are_of_the_records(done):
    deals, table = done
    design = replace(deals.design, arms=read_arms({**ARMS, "nobody": {"method": "roadmap"}}))
    told = answers(design, table)["all"]
    assert set(told) == {"rate", "first", "batches"}
    by = {
        (r.evidence["arm"], r.evidence["deal"], metric): r
        for r in collect_runs(table)[0]
        for metric in r.evidence["chosen"]
    }
    for deal in range(2):
        rivals = [by[arm, deal, "mAP@R"] for arm in ("its rate again", "later")]
        best = max(rivals, key=lambda record: record.evidence["val"]["mAP@R"])
        expected = 100 * (by["smooth_ap", deal, "mAP@R"].metrics["mAP@R"] - best.metrics["mAP@R"])
        assert told["rate"].by_deal[deal] == pytest.approx(expected)
        expected = 100 * (by["smooth_ap", deal, "R@1"].metrics["R@1"] - by["later", deal, "R@1"].metrics["R@1"])
        assert told["first"].by_deal[deal] == pytest.approx(expected)
    spread = np.std(told["rate"].by_deal, ddof=1) / np.sqrt(2)
    assert told["rate"].mean.error > spread, "the letters are in the interval"
    assert told["batches"].delta is None and told["rate"].delta == 0.5 and told["first"].delta == 1.0
    lines = as_text({"all": told}).splitlines()
    assert len(lines) == 3 and "no question" in as_text({})
    assert lines[0].startswith("mAP@R: smooth_ap − best of its rate again, later: ")


@pytest.mark.parametrize("name", ROUNDS)
def test_the_committed_rounds_name_what_there_is(name):
    design = read_round(find_records(), name)
    before = {RANDOM}
    for arm in design.arms.values():
        assert arm.method in METHODS and set(arm.needs) <= before, arm.name
        before.add(arm.name)
        if arm.searched:
            assert arm.space, arm.name
    asked = set()
    for questions in design.families.values():
        for one in questions.values():
            asked |= {one["of"]} if "of" in one else {one["plus"], *one["minus"]}
            assert set(one) in ({"of", "metrics"}, {"plus", "minus", "metric"})
    assert asked <= set(design.known)
    needed = {name for arm in design.arms.values() for name in arm.needs}
    assert set(design.arms) == (asked | needed) - set(design.before)

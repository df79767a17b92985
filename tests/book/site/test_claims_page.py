"""The page of the claims, made from records that were made up."""

import itertools
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from scipy import stats
from tools.notebooks import pairs
from tools.results import answers, claims, later

from rankbook.claims.live import verdicts
from ranklab.claims import read_protocol, read_searches
from ranklab.claims import verdicts as judged_by
from ranklab.claims.answers import all_answers
from ranklab.claims.deals import ROUNDS
from ranklab.claims.protocol import DEALT
from ranklab.claims.spread import ABOVE, BELOW, EQUAL, FURTHER, OPEN, redrawn
from ranklab.runs import Record, collect_runs, keep_runs
from ranklab.runs.packing import pack
from ranklab.runs.results import write_json

#: mAP@R of an arm.
MADE_UP = {"rambo_log": 0.30, "fast_ap": 0.20, "contrastive": 0.35, "triplet_semihard": 0.25}
#: Of every arm's networks.
BATCHES = {"mAP of batches of 32": 0.6, "mAP of batches of 128": 0.5, "mAP of batches of 512": 0.4, "mAP": 0.3}


@pytest.fixture
def data(tmp_path):
    """The book's claims with records of four arms, and a search of three trials for each, the last of which failed."""
    for name in ("claims.yaml", "claims_plan.yaml", "deals.yaml", "since.yaml", "deals_forecast.txt"):
        shutil.copy(claims.RECORDS / name, tmp_path)
    rng, records, arms, protocol = np.random.default_rng(0), [], {}, read_protocol("cpu", tmp_path)
    about = {"preset": None, "seconds": 36.0, "machine": {}, "versions": {}, "git": None, "started": ""}
    for arm, value in MADE_UP.items():
        for seed in range(protocol.seeds):
            evidence = {"arm": arm, "code": "abc", "levels": 3, "first": pack([3, 3, 1, 0], "uint8")}
            evidence |= {"letters": pack([0, 1], "int32"), "queries": pack([2, 2], "uint16")}
            evidence["means"] = {"mAP@R": pack(value + 0.001 * rng.normal(size=2), "float32")}
            given = {"parameters": {**DEALT, "seed": seed}, "metrics": BATCHES, "evidence": evidence}
            records.append(Record("retrieval", f"{arm}-{seed}", **given, **about))
        middle = {name: between.high for name, between in protocol.arms[arm].space.items()}
        tried = [(1e-4, value / 2), (1e-3, value), (1e-2, None)]
        spread = {"best": value, "upper quartile": value, "median": 0.75 * value, "worst": value / 2, "failed": 1}
        trials = [{"point": middle | {"lr": rate}, "value": found} for rate, found in tried]
        found = {"parameters": {}, "value": value, "val": {"mAP@R": value}, "seconds": 720.0}
        arms[arm] = found | {"spread": spread, "trials": trials}
    keep_runs(records, tmp_path / "claims_cpu.jsonl")
    write_json(tmp_path / "searches_cpu.json", {"code": "abc", "starts": [], "arms": arms})
    return tmp_path


def rows(text):
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].removeprefix("*").partition(":*")[0]: cells[1:] for cells in lines[1:]}


def test_verdicts_stand_in_the_table_on_the_first_screen_and_in_the_picture(data, tmp_path):
    plan = data / "claims_plan.yaml"
    told = plan.read_text(encoding="utf-8").replace("missing: {}", "missing: {margin-in-detection: a telescope}")
    plan.write_text(told, encoding="utf-8")
    blocks = claims.blocks(tmp_path, data)
    found = rows(blocks["claims"])
    fastap, pairs = found["recall-above-fastap"], found["recall-above-pairs"]
    assert fastap[0] == "**confirmed here**, not signed today" and fastap[3] == "mAP@R"
    moved = 200 * np.hypot(0.15, 0.10) * np.sqrt((2 / 3) ** 3 * (1 - (2 / 3) ** 3))
    assert float(fastap[2].split()[1]) == pytest.approx(moved, abs=0.01) and moved > 10
    assert float(fastap[1].split()[0]) == pytest.approx(10, abs=0.1)
    assert pairs[0] == "**refuted here**, not signed today" and pairs[1].startswith("−5.0"), (
        "against contrastive, the better on val"
    )
    batches = found["batch-estimates-are-optimistic"]
    assert batches[0] == "**confirmed here**" and batches[2] == "—; —; —"
    assert [part.split()[0] for part in batches[1].split("; ")] == ["+10.00"] * 3 and batches[3] == "mAP"
    assert found["loglog-not-below-log"][0] == "not judged yet"
    assert found["margin-in-detection"][0] == "cannot be tested here: a telescope"
    assert (tmp_path / "searches_cpu.png").exists()
    state = json.loads(re.search(r'application/json">(.*?)</script>', blocks["claims_live"])[1])["state"]
    drawn = {one["row"]: verdicts.judged(one, 1, 1, 0.05, 0) for one in state["rows"]}
    for name, cell in {"FastAP": fastap, "pair losses": pairs}.items():
        mean, half = (float(cell[1].replace("−", "-").replace("\xa0", " ").split()[at]) for at in (0, 2))
        one = drawn[f"recall loss − {name}"]
        assert one["kind"] == "cannot be told" and one["mean"] == pytest.approx(mean, abs=0.006)
        assert one["half"] == pytest.approx(np.hypot(half, float(cell[2].split()[1])), rel=2e-3), "as in the table"
    assert drawn["batches of 32 − of 128"]["kind"] == "above" and "matters" in blocks["claims_live"]
    assert "224,256 weights" in blocks["claims_take_home"]
    heads = [line.split(" | ")[1:] for line in blocks["claims_answers"].splitlines() if line.startswith("| RaMBO |")]
    said = {claim: (here, points.replace("\xa0", " ").rstrip("| ")) for claim, here, points in heads}
    here, points = said["The recall loss retrieves better than FastAP"]
    assert here == "cannot be told" and re.fullmatch(r"mAP@R \+\d+\.\d\d ± \d+\.\d\d, first round", points), (
        "another search would move more than the difference"
    )
    here, points = said["The mAP of batches of 32 is above that of batches of 128, of the same networks"]
    assert here == "**holds**" and points.startswith("mAP +10.00")
    searches = rows(blocks["claims_searches"])
    assert searches["fast_ap"] == ["20.0 ± 4.6", "20.0", "15.0", "10.0", "1", "lr 0.001, bins 50"]


def found(mean, said, *, asked=0.0, row=""):
    return answers.Found("A", "B", "R@1", mean, 0.4, said, False, asked, row)


@pytest.mark.parametrize(
    ("verdict", "one"),
    [
        (answers.HOLDS, found(0.5, ABOVE)),
        (answers.ALIKE, found(0.5, f"{ABOVE}, {FURTHER}")),
        (answers.FALLS, found(-0.5, f"{BELOW}, {FURTHER}")),
        (answers.ALIKE, found(0.3, EQUAL)),
        (answers.UNTOLD, found(0.3, OPEN)),
        (answers.HOLDS, found(-0.5, f"{BELOW}, {FURTHER}", asked=-1)),
        (answers.UNTOLD, found(-0.7, BELOW, asked=-1)),
        (answers.FALLS, found(-1.5, BELOW, asked=-1)),
    ],
)
def test_a_sentence_holds_if_the_whole_interval_lies_where_it_wants_it(verdict, one):
    assert one.verdict == verdict


def test_a_sentence_under_several_conditions_falls_with_one_and_holds_with_all():
    up, down, wide = found(5, ABOVE), found(-5, BELOW), found(0.3, OPEN)
    told = [("A", "x", [up]), ("A", "… y", [wide]), ("B", "z", [wide]), ("B", "… u", [down]), ("C", "v", [up])]
    table = answers.table(told, claims.RECORDS)
    both = answers.Found("A", "B", "mAP@R", -5, 0.4, BELOW, False)
    assert "**R@1: cannot be told; mAP@R: falls**" in answers.table([("A", "x", [wide, both])], claims.RECORDS)
    counted = answers.take_home(told, claims.RECORDS)
    assert "Of 3 sentences of the papers 1 hold and 1 fall." in counted and "for 1 it cannot be told" in counted
    assert [line.split(" | ")[1] for line in table.splitlines() if " | " in line][1:] == ["v", "z", "… u", "x", "… y"]


def test_the_list_at_the_head_is_of_the_networks_chosen_by_r1_in_the_same_deals():
    of = later.of_round(ROUNDS[0])
    fastap, recall, preset = (
        np.array([100 * of[arm, by][deal].metrics["R@1"] for deal in range(16)])
        for arm, by in (("fast_ap", "R@1"), ("rambo_log", "R@1"), ("fast_ap", "default"))
    )
    cells = {row["loss"]: row for row in answers._reached(claims.RECORDS)}
    plain = stats.ttest_1samp(fastap - recall, 0).confidence_interval(0.95)
    assert cells["FastAP"]["R@1"] == f"{fastap.mean():.1f}" != f"{preset.mean():.1f}"
    assert cells["FastAP"]["R@1, published settings"] == f"{preset.mean():.1f}"
    less = f"{(fastap - recall).mean():+.2f}\u00a0±\u00a0{(plain.high - plain.low) / 2:.2f}"
    assert cells["FastAP"]["above the recall loss"] == less and cells["the recall loss"]["above the recall loss"] == "–"


def test_the_other_round_and_the_presets_stand_beside_an_answer(tmp_path):
    table = claims.blocks(tmp_path)["claims_answers"].replace("\u00a0", " ")
    points = {line.split(" | ")[1]: line.split(" | ")[3] for line in table.splitlines() if line.startswith("| ")}
    fastap = points["The recall loss retrieves better than FastAP"]
    assert re.fullmatch(r"R@1 −\S+ ± \S+; mAP@R −\S+ ± \S+ \(first round −\S+ ± \S+\) \|", fastap), fastap
    identity = points["The recall loss does as well with the gradient of the identity as with the interpolation"]
    of_presets = [part.strip() for part in re.findall(r"with their presets ([^)]*)\)", identity)]
    said = later.presets().replace("\u00a0", " ")
    assert len(of_presets) == 2 and all(one in said for one in of_presets), "as the protocol says it"


def test_what_another_search_moves_is_that_of_all_sides_and_a_slope_weighs_them():
    tried, flat = [{"value": value} for value in (0.1, 0.2, 0.4)], [{"value": 0.3}] * 3
    moved, chosen = redrawn([0.1, 0.2, 0.4]), {"a": {"trials": tried}, "b": {"trials": flat}, "c": {}}
    of = {"minus": ["b"], "metric": "AP50"}
    assert answers.by_another_search({"plus": "a", **of}, chosen) == pytest.approx(2 * moved)
    assert answers.by_another_search({"plus": "c", **of}, chosen) is None
    slope = {"slope": {1: "b", 2: "b", 5: "a"}, "metric": "AP"}
    assert answers.by_another_search(slope, chosen) == pytest.approx(2 * moved * np.polyfit([1, 2, 5], [0, 0, 1], 1)[0])


def test_a_side_without_a_search_of_its_own_moves_as_much_as_the_one_whose_settings_it_has():
    plan = read_protocol("detection")
    tried = {"rambo_map": {"trials": [{"value": 0.1}]}, "rambo_map with a fifth of λ": {"seconds": 1.0}}
    both = claims._with_trials(plan, tried)
    assert both["rambo_map with a fifth of λ"] == {"trials": [{"value": 0.1}], "seconds": 1.0}
    assert both["rambo_map"] == tried["rambo_map"]


def test_what_the_second_round_did_not_come_to_is_said_where_its_answers_are_not():
    clauses = [one for of in answers._words()["papers"] for one in of["clauses"]]
    asked = [(one["row"], one["second"]) for one in clauses if "second" in one]
    there = {name for questions in all_answers(claims.RECORDS).values() for name in questions}
    said = re.search(r"again were \*(.*?)\*;", answers.ended(claims.RECORDS))[1].split("; ")
    assert said == [row for row, name in asked if name not in there] and "memory, both slow and long" in said


def test_what_is_to_be_taken_home_is_refused_when_the_records_say_otherwise():
    rows = {row: verb for one in answers._words()["take_home"] for row, verb in one["holds"].items()}
    said = {verb: of for of, verb in answers.IS.items()}
    kept = [("RaMBO", "", [found(5, said[verb], row=row)]) for row, verb in rows.items()]
    assert "5.00\u00a0±\u00a00.40" in answers.take_home(kept, claims.RECORDS)
    with pytest.raises(ValueError, match=r"take_home in .* must say what was found of recall loss − FastAP, R@1"):
        answers.take_home([*kept, ("RaMBO", "", [found(5, ABOVE, row="recall loss − FastAP, R@1")])], claims.RECORDS)


def test_the_softmax_is_told_to_rise_where_the_deals_say_so():
    steps, twice = "normalized_softmax", "softmax of twice the steps"
    assert answers._rising({steps: [1, 2, 3]}) == ""
    assert "is not final" in answers._rising({steps: [1, 2, 3], twice: [5, 6.1, 7]})
    assert "was not seen to rise any more" in answers._rising({steps: [1, 2, 3], twice: [3, 1, 2]})


def test_smooth_ap_alone_is_above_the_softmax_of_twice_its_steps_as_the_protocol_says():
    of = answers.by_deal(claims.RECORDS, "mAP@R", "mAP@R")
    assert stats.ttest_rel(of["smooth_ap"], of["softmax of twice the steps"]).confidence_interval(0.99).low > 0


def test_on_the_letters_tree_all_but_csl_are_alike_as_the_protocol_says():
    reached = {arm: np.mean(values) for arm, values in answers.by_deal(claims.RECORDS, "H-AP", "H-AP").items()}
    assert min(reached, key=reached.get) == "csl" and np.ptp(list(reached.values())) > 1
    assert np.ptp([value for arm, value in reached.items() if arm != "csl"]) < 1
    pairs_of = [
        one.said for one in all_answers(claims.RECORDS)["hierarchy, in H-AP"].values() if "csl" not in one.asked
    ]
    assert sorted(pairs_of) == [ABOVE, EQUAL, EQUAL, EQUAL]


def test_how_far_the_best_of_a_search_moves_is_that_of_all_draws():
    values = [0.1, 0.4, None]
    best = [max(drawn) for drawn in itertools.product([0.1, 0.4, 0.1], repeat=3)]
    assert redrawn(values) == pytest.approx(np.std(best))


RECORDS = pairs.ROOT / "lab" / "records"
#: Where the rules and the records lie, and where they lay before.
RULES = ("lab/records/claims.yaml", "book/data/claims.yaml")
TABLES = ("lab/records/claims_*.jsonl", "book/data/claims")


def commits(*arguments: str) -> list[int]:
    """Their seconds, the last first."""
    command = ["git", "log", "--format=%ct", *arguments]
    return [int(line) for line in subprocess.check_output(command, cwd=pairs.ROOT, text=True).split()]


def test_no_rule_is_younger_than_the_first_of_its_records():
    changed = commits("-M", "-G", "^  rule:", "--", *RULES)  # a file that moved, and stayed as it was, did not change
    records = commits("--", *TABLES)
    assert changed and records and changed[0] <= records[-1]


def test_the_lists_of_the_page_hold_no_record_that_the_verdicts_leave_out():
    for protocol in map(read_protocol, ("cpu", "detection")):
        assert read_searches(protocol)["arms"] and collect_runs(RECORDS / protocol.records)[0]
        assert judged_by([], protocol, RECORDS).left_out == []


@pytest.mark.parametrize("name", ROUNDS)
def test_later_rounds_were_designed_before_their_first_records(name):
    design, records = (commits("--", f"lab/records/{file}") for file in (f"{name}.yaml", f"claims_{name}.jsonl"))
    assert design and (not records or design[0] <= records[-1])


def test_the_protocol_says_what_networks_come_to_that_are_trained_again_on_another_device():
    again = json.loads((later.RECORDS / "deals_again.json").read_text(encoding="utf-8"))
    kept = {record.run: record for record in collect_runs(later.RECORDS / "claims_deals.jsonl")[0]}
    assert all(kept[one["run"]].metrics[name] == value for one in again for name, value in one["was"].items())
    by_r1 = [one for one in again if "R@1" in kept[one["run"]].evidence["chosen"]]
    moved = [100 * (one["now"]["R@1"] - one["was"]["R@1"]) for one in by_r1]
    half = stats.t.ppf(0.975, 15) * np.std(moved, ddof=1) / 4
    assert len({kept[one["run"]].evidence["deal"] for one in by_r1}) == len(by_r1) == 16
    assert f"{np.mean(moved):+.2f}\u00a0±\u00a0{half:.2f} of R@1".replace("-", "−") in later.devices()
    chosen = {
        (one.evidence["arm"], one.evidence["deal"]): one for one in kept.values() if "R@1" in one.evidence["chosen"]
    }
    new = {kept[one["run"]].evidence["deal"]: one["now"]["R@1"] for one in by_r1}
    less = np.mean([100 * (new[deal] - chosen["rambo_ap", deal].metrics["R@1"]) for deal in range(16)])
    signed = f"{less:+.2f}".replace("-", "−")
    assert re.search(rf"{re.escape(signed)}\s±\s[\d.]+ of R@1 for `ap-loss-for-retrieval`", later.devices())


def test_what_came_stands_beside_the_forecast_with_the_same_pairs_and_no_more_spread():
    rows = [line.strip("| ").split(" | ") for line in later.came().splitlines()[2:]]
    of = later.of_round(ROUNDS[0])
    fastap = [
        100 * (of["rambo_log", "mAP@R"][deal].metrics["mAP@R"] - of["fast_ap", "mAP@R"][deal].metrics["mAP@R"])
        for deal in range(16)
    ]
    forecast = (claims.RECORDS / "deals_forecast.txt").read_text(encoding="utf-8")
    assert all(pair.split(",")[0] in forecast for pair, *_ in rows)
    assert rows[0][2:] == [f"{np.std(fastap, ddof=1):.2f}", f"{np.mean(fastap):+.2f}".replace("-", "−")]
    assert all(float(came) < float(told) for _, told, came, _ in rows), "the protocol says so"


def test_every_arm_that_is_done_stands_in_the_list_with_its_search_and_its_preset():
    rows = [line.strip("| ").split(" | ") for line in later.arms().split("\n\n")[0].splitlines()]
    listed = {name: (trials, *map(float, cells)) for name, trials, *cells in rows[2:]}
    found = [record for record in collect_runs(later.RECORDS / "claims_since.jsonl")[0] if "identity-" in record.run]
    expected = []
    for metric, by in itertools.product(("mAP@R", "R@1"), ("", "default")):
        values = [100 * one.metrics[metric] for one in found if (by or metric) in one.evidence["chosen"]]
        assert len(values) == 16
        expected.append(round(float(np.mean(values)), 2))
    assert listed["Identity"] == ("10", *expected) and rows[0][2:] == ["mAP@R", "mAP@R, preset", "R@1", "R@1, preset"]
    _, mapr, mapr_preset, r1, r1_preset = listed["Identity"]
    _, recall_mapr, _, recall_r1, _ = listed["RaMBO log"]
    assert mapr < mapr_preset < recall_mapr and r1 < r1_preset < recall_r1, "the protocol says so"

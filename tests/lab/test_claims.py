"""The claims: whose sentence each is, when its rule was written, and what intervals and verdicts follow from."""

import subprocess
from dataclasses import replace
from pathlib import Path

import long_runs
import numpy as np
import pytest
from scipy import stats

from rankedu_lab import claims

ROOT = Path(__file__).resolve().parents[2]
#: Files of rules, where they were before, and the tables of the runs that they are about.
DESIGNS = {
    ("lab/records/claims.yaml", "book/data/claims.yaml"): ("lab/records/claims_cpu.jsonl", "book/data/claims"),
    ("lab/records/deals.yaml",): ("lab/records/claims_deals.jsonl",),
    ("lab/records/since.yaml",): ("lab/records/claims_since.jsonl",),
}


def commits(*paths):
    """Second and name of each commit that touches a path, the first one first."""
    command = ["git", "log", "--diff-filter=AM", "--format=%ct %h", "--abbrev=8", "--", *paths]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted((int(line.split()[0]), line.split()[1]) for line in lines if line)


@pytest.mark.parametrize("rules", DESIGNS)
def test_no_rule_is_younger_than_its_runs_unless_the_protocol_names_the_change(rules):
    told = (ROOT / "book" / "claims-protocol.md").read_text(encoding="utf-8")
    changed, made = commits(*rules), commits(*DESIGNS[rules])
    assert changed and made and changed[0] < made[0]
    assert [name for when, name in changed if when >= made[0][0] and f"`{name}`" not in told] == []


def test_every_question_has_the_words_of_a_paper_or_is_a_question_of_ours():
    found, listed = claims.quotations(), claims.read("claims_questions")
    assert {row["claim"] for row in listed} == set(found)
    for name, one in found.items():
        words = [one["words"], *([one["also"]["words"]] if "also" in one else [])]
        assert all(0 < len(of.split()) <= 25 for of in words), name
        assert one["ours"] and one["place"] and one["metric"] and one["in_paper"] in ("yes", "differs", "no"), name
        assert one["checked"] and (one["in_paper"] != "yes" or "seen" not in one), name  # a verdict needs the full text
        assert one["in_paper"] == "yes" or one["remark"], name


def test_holm_gives_the_first_that_is_not_significant_and_all_later_ones_the_same_level():
    assert claims.holm({"a": 0.5, "b": 0.001, "c": 0.03}) == {"b": 0.05 / 3, "c": 0.05 / 2, "a": 0.05 / 2}


def test_letters_widen_an_interval_and_the_first_round_adds_another_search():
    found = {one.question: one for one in claims.results()}
    rows = {row["question"]: row for row in claims.read("claims_questions")}
    one, row = found["recall-above-fastap, R@1"], rows["recall-above-fastap, R@1"]
    points = [float(r["difference"]) for r in claims.read("claims_differences") if r["question"] == one.question]
    plain = np.var(points, ddof=1) / len(points)
    total = plain + float(row["letters_variance"])
    freedom = total**2 / (plain**2 / 15 + float(row["letters_variance"]) ** 2 / float(row["letters_freedom"]))
    assert one.half == pytest.approx(stats.t.isf(one.level / 2, freedom) * total**0.5)
    first, row = found["memory-helps, part 1, mAP@R, first round"], rows["memory-helps, part 1, mAP@R, first round"]
    inner = stats.t.isf(first.level / 2, float(row["freedom"])) * float(row["error"])
    assert first.half**2 == pytest.approx(inner**2 + float(row["search"]) ** 2)


@pytest.mark.parametrize(
    ("mean", "asked", "small", "verdict", "answer"),
    [
        (2.0, 0.0, False, claims.SUPPORTED, claims.BETTER),
        (-2.0, 0.0, False, claims.CONTRADICTED, claims.WORSE),
        (0.5, 0.0, False, claims.OPEN, claims.OPEN),
        (-2.0, 0.0, True, claims.SMALL, claims.SMALL),
        (0.5, -1.0, True, claims.SUPPORTED, claims.SMALL),
    ],
)
def test_a_verdict_is_the_side_of_the_rule_on_which_the_whole_interval_is(mean, asked, small, verdict, answer):
    one = replace(claims.results()[0], mean=mean, half=1.0, asked=asked, small=small)
    assert (one.verdict, one.answer) == (verdict, answer)


def test_a_claim_needs_all_of_its_parts_and_is_contradicted_by_one():
    found = claims.shown(claims.results())
    assert [one.verdict for one in found["own-metric-best"]] == [claims.SUPPORTED, claims.CONTRADICTED]
    assert claims.verdict(found["own-metric-best"]) == claims.CONTRADICTED
    assert claims.verdict(found["happier-above-sums"]) == claims.OPEN


def test_the_first_round_is_shown_where_no_later_one_has_an_answer():
    found = claims.shown(claims.results())
    places = [(one.claim, one.condition, one.metric) for parts in found.values() for one in parts]
    assert len(set(places)) == len(places)
    assert set(found) == set(claims.quotations())


def test_the_long_runs_are_counted_as_they_are_asked_and_a_split_has_one_start():
    rows = claims.read("long")
    assert len(long_runs.all_jobs()) == claims.ASKED and list(claims.METHODS) == long_runs.METHODS
    assert claims.long_runs().made == len({(row["method"], row["split"], row["factor"]) for row in rows})
    starts = {(row["split"], row["start"]) for row in rows if row["method"] != "untrained"}
    assert len(starts) == len({split for split, _ in starts})


def test_the_rate_is_chosen_on_val_as_soon_as_four_splits_have_three(tmp_path):
    rows = [row for row in claims.read("long") if row["factor"] in ("0", "1") and int(row["split"]) < 4]
    for factor, more in (("0.3333", -0.1), ("3", 0.1)):
        for row in [row for row in rows if row["factor"] == "1"]:
            moved = {key: str(float(row[key]) + more) for key in row if key.startswith(("val", "test"))}
            rows.append({**row, **moved, "factor": factor})
    found = []
    for part in ([row for row in rows if (row["split"], row["factor"]) != ("3", "3")], rows):
        long_runs.add_rows(tmp_path / "long.csv", part)
        found.append(claims.long_runs(tmp_path))
    assert [(one.rates, one.splits) for one in found] == [(1, [0, 1, 2, 3]), (3, [0, 1, 2, 3])]
    assert found[1].at("roadmap") == pytest.approx(found[0].at("roadmap") + 10)

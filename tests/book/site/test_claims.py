"""The claims of the papers: each with its rule, and no rule younger than the records that it decides."""

from __future__ import annotations

import re
import subprocess

import yaml
from tools.notebooks import pairs

from ranklab.claims import read_protocol, read_searches, verdicts
from ranklab.experiments._weights import KEPT, weights_hash
from ranklab.methods import METHODS
from ranklab.models.build import read_state
from ranklab.runs import collect_runs

RECORDS = pairs.ROOT / "lab" / "records"
CLAIMS = yaml.safe_load((RECORDS / "claims.yaml").read_text(encoding="utf-8"))
#: Where the rules and the records lie, and where they lay before.
RULES = ("lab/records/claims.yaml", "book/data/claims.yaml")
TABLES = ("lab/records/claims_*.jsonl", "book/data/claims")


def test_every_claim_has_a_source_methods_that_exist_and_a_rule_that_can_fail():
    assert len(CLAIMS) >= 20 and len({claim["id"] for claim in CLAIMS}) == len(CLAIMS)
    known = {*METHODS, "held_out", "rambo_map", "cross_entropy", "minibatch_statistics"}
    for claim in CLAIMS:
        assert set(claim) == {"id", "family", "source", "claim", "experiment", "rule"}, claim["id"]
        assert re.match(r"(RaMBO|Smooth-AP|HAPPIER)\b.*(Table|Figure|Section|abstract)", claim["source"]), claim["id"]
        assert re.search(r"larger than (0|-1 point)", claim["rule"]), claim["id"]
        assert {*re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", claim["experiment"])} <= known, claim["id"]


def commits(*arguments: str) -> list[int]:
    """When the commits that git lists were made, in seconds, the last first."""
    command = ["git", "log", "--format=%ct", *arguments]
    return [int(line) for line in subprocess.check_output(command, cwd=pairs.ROOT, text=True).split()]


def test_no_rule_is_younger_than_the_first_of_its_records():
    changed = commits("-M", "-G", "^  rule:", "--", *RULES)  # a file that moved, and stayed as it was, did not change
    records = commits("--", *TABLES)
    assert changed and records and changed[0] <= records[-1]


def test_the_starts_that_are_kept_are_those_of_the_sums():
    kept = {KEPT + path.stem: path for path in (RECORDS / "weights").glob("*.pt")}
    assert len(kept) == 3 and all(KEPT + weights_hash(read_state(path)) == name for name, path in kept.items())
    found, _ = collect_runs(RECORDS / "claims_cpu.jsonl")
    for arm in ("happier beside the sums", "sum_triplet_semihard", "sum_normalized_softmax", "sum_proxy_nca_pp", "csl"):
        records = [record for record in found if record.evidence["arm"] == arm]
        assert len(records) == 10 and {record.parameters["weights"] for record in records} == set(kept), arm
    page = (pairs.ROOT / "book" / "claims.md").read_text(encoding="utf-8")
    assert (named := set(re.findall(KEPT + r"\w{16}", page))) and named <= set(kept)


def test_the_lists_of_the_page_hold_no_record_that_the_verdicts_leave_out():
    for protocol in map(read_protocol, ("cpu", "detection")):
        assert read_searches(protocol)["arms"] and collect_runs(RECORDS / protocol.records)[0]
        assert verdicts([], protocol, RECORDS).left_out == []

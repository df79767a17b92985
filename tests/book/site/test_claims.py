"""The claims of the papers: each with its rule, and no rule younger than the records that it decides."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
import yaml
from tools.notebooks import pairs

from ranklab.claims import read_protocol, verdicts
from ranklab.experiments._weights import KEPT, weights_hash
from ranklab.models.build import read_state

FILE = pairs.ROOT / "book" / "data" / "claims.yaml"
RECORDS = pairs.ROOT / "book" / "data" / "claims"
CLAIMS = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_every_claim_has_a_source_an_experiment_and_a_rule_that_can_fail():
    assert len(CLAIMS) >= 20 and len({claim["id"] for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert set(claim) == {"id", "family", "source", "claim", "experiment", "rule"}, claim["id"]
        assert re.match(r"(RaMBO|Smooth-AP|HAPPIER)\b.*(Table|Figure|Section|abstract)", claim["source"]), claim["id"]
        assert re.search(r"larger than (0|-1 point)", claim["rule"]), claim["id"]
    assert {claim["source"].split()[0].rstrip(",") for claim in CLAIMS} == {"RaMBO", "Smooth-AP", "HAPPIER"}


def test_every_method_that_a_claim_names_exists():
    from ranklab.methods import METHODS

    named = {word for claim in CLAIMS for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", claim["experiment"])}
    known = {*METHODS, "held_out", "rambo_map", "cross_entropy", "minibatch_statistics"}
    assert named and named <= known, named - known


def commits(*arguments: str) -> list[int]:
    """When the commits that git lists were made, in seconds, the last first."""
    command = ["git", "log", "--format=%ct", *arguments]
    return [int(line) for line in subprocess.check_output(command, cwd=pairs.ROOT, text=True).split()]


@pytest.mark.skipif(not RECORDS.exists(), reason="no claim has been put to the test yet")
def test_no_rule_is_younger_than_the_first_of_its_records():
    changed = commits("-G", "^  rule:", "--", str(FILE))
    records = commits("--", str(RECORDS))
    assert changed and records and changed[0] <= records[-1]


def test_the_starts_that_are_kept_are_those_of_the_sums():
    kept = {KEPT + path.stem: path for path in (pairs.ROOT / "book" / "data" / "weights").glob("*.pt")}
    assert len(kept) == 3 and all(KEPT + weights_hash(read_state(path)) == name for name, path in kept.items())
    for arm in ("happier beside the sums", "sum_triplet_semihard", "sum_normalized_softmax", "sum_proxy_nca_pp", "csl"):
        records = [json.loads(path.read_text(encoding="utf-8")) for path in RECORDS.glob(f"cpu/*/{arm}-?.json")]
        assert len(records) == 10 and {record["parameters"]["weights"] for record in records} == set(kept), arm
    page = (pairs.ROOT / "book" / "claims.md").read_text(encoding="utf-8")
    assert (named := set(re.findall(KEPT + r"\w{16}", page))) and named <= set(kept)


@pytest.mark.parametrize("scale", ["cpu", "detection"])
def test_the_lists_of_the_page_hold_no_record_that_the_verdicts_leave_out(scale):
    assert (RECORDS / scale / "chosen.json").exists()
    assert verdicts([], read_protocol(scale), RECORDS / scale).left_out == []

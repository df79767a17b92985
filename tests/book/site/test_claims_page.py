"""The claims page says in few words what its tables have."""

from tools.results import claims as page

from rankedu_lab import claims


def test_the_head_is_short_and_each_of_its_items_has_a_number(tmp_path):
    text = page.blocks(tmp_path)["claims_head"]
    assert len(text.replace("* ", "").split()) <= 200
    items = [line for line in text.splitlines() if line.startswith("* ")]
    assert len(items) >= 5 and all(any(letter.isdigit() for letter in item) for item in items)
    assert (tmp_path / "claims_curves.png").stat().st_size > 10_000


def test_each_answer_is_in_one_table_and_only_claims_of_papers_have_verdicts():
    found, papers = claims.shown(claims.results()), claims.quotations()
    theirs, ours = page.table(found), page.questions(found)
    assert theirs.count("#claim-") + ours.count("#claim-") == len(found)
    for one in found:
        claimed = papers[one.claim]["in_paper"] == "yes"
        assert (f"#claim-{one.claim})" in theirs) == claimed and (f"#claim-{one.claim})" in ours) == (not claimed)
        assert f"[`{one.claim}`]{{#claim-{one.claim}}}" in page.rules()
    assert "contradicted" not in ours and "supported" not in ours

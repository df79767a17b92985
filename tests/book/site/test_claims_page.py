"""The claims page says in few words what its tables have, whatever the long runs find."""

from dataclasses import replace

from tools.results import claims as page

from rankedu_lab import claims


def test_the_head_is_short_and_each_of_its_items_has_a_number(tmp_path):
    text = page.blocks(tmp_path)["claims_head"]
    assert len(text.replace("* ", "").split()) <= 200
    items = [line for line in text.splitlines() if line.startswith("* ")]
    assert len(items) >= 5 and all(any(letter.isdigit() for letter in item) for item in items)
    assert (tmp_path / "claims_curves.png").stat().st_size > 10_000


def test_each_claim_is_in_one_table_once_and_only_claims_of_papers_have_verdicts():
    found, papers = claims.shown(claims.results()), claims.quotations()
    theirs, ours = page.table(found, ours=False), page.table(found, ours=True)
    for name in found:
        claimed = papers[name]["in_paper"] == "yes"
        assert (theirs.count(f"#claim-{name})"), ours.count(f"#claim-{name})")) == (claimed, not claimed)
        assert f"[`{name}`]{{#claim-{name}}}" in page.rules()
    assert "contradicted" not in ours and "supported" not in ours


def test_every_loss_is_in_the_head_beside_its_answer():
    answers = claims.long_runs().answers("R@1", page.LOSSES)
    for k, pair in enumerate(answers):
        answers[pair] = replace(answers[pair], mean=9.0 - 3 * k, half=4.0, small=k == 2)
    for (method, _), one in answers.items():
        said = page.compared(answers).split(f"*{one.answer}* for ")[1].split(";")[0]
        assert page.NAMES[method] in said

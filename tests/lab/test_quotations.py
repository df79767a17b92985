"""Every sentence that is tested has the paper's own words, or is called a question of ours."""

import yaml
from long_runs import HERE


def read(name):
    return yaml.safe_load((HERE / "records" / name).read_text(encoding="utf-8"))


def test_every_tested_sentence_has_one_quotation_that_says_whose_sentence_it_is():
    found = {one["id"]: one for one in read("quotations.yaml")}
    asked = {claim["id"] for claim in read("claims.yaml")}
    for design in ("deals.yaml", "since.yaml"):
        asked |= {name.partition(",")[0] for of in read(design)["families"].values() for name in of}
    assert asked == set(found) and len(found) == len(read("quotations.yaml"))
    for name, one in found.items():
        quoted = [one["words"], *([one["also"]["words"]] if "also" in one else [])]
        assert all(0 < len(words.split()) <= 25 for words in quoted), name
        assert one["in_paper"] in ("yes", "differs", "no") and one["ours"] and one["place"] and one["metric"], name
        assert (one.get("question") == "ours") == (one["in_paper"] == "no"), name
        assert one["in_paper"] == "yes" or one["remark"], name

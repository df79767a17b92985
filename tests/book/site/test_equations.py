"""The equation index has no gap: all that the papers number is treated, with function and test, or says why not."""

import re
from dataclasses import replace

import equation_gaps
import yaml
from tools.notebooks import pairs
from tools.site import equation_index, equation_page

from rankedu import reference
from rankedu_book.kit.figures import show_source

PRESETS = pairs.ROOT / "notebooks" / "labs" / "presets"
CHAPTERS = sorted((pairs.ROOT / "book" / "chapters").glob("*.md"))


def test_there_is_no_gap_and_every_row_leads_to_a_function_a_test_and_a_place():
    assert equation_gaps.gaps() == []
    rows = equation_index.paper_maps()
    assert {row.page for row in rows} >= {"results", "labs/retrieval", "labs/minibatch_statistics"}
    assert [lost for row in rows if (lost := equation_gaps.unresolved(row))] == []
    wrong = {"function": "rankedu.rang", "test": "tests/library/test_ranks.py::test_nothing", "here": "chapter 1"}
    assert all(equation_gaps.unresolved(replace(rows[0], **{part: lost})) for part, lost in wrong.items())


def test_the_page_has_every_item_once_and_every_link_a_target_and_parts_lead_to_no_circle():
    text, known = equation_page.markdown(), {item.source: item for item in equation_index.items()}
    anchors = re.findall(r"\]\{#([\w-]+)\}", text)
    assert len(anchors) == len(set(anchors)) == len(known) == len(equation_index.items())
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= set(anchors) and "None" not in text

    def below(item, seen=()):
        assert item.source not in seen, seen
        for part in item.parts:
            below(known[f"{item.paper} {part}"], (*seen, item.source))

    for item in known.values():
        below(item)


def test_every_definition_of_the_reference_is_shown_in_one_chapter_as_it_stands_there():
    texts = "\n".join(path.read_text(encoding="utf-8") for path in CHAPTERS)
    cells = re.findall(r"^show_source\((.*?)\)$", texts, re.DOTALL | re.MULTILINE)
    shown = [name for cell in cells for name in re.findall(r"reference\.([a-zA-Z]\w*)", cell)]
    with open(reference.__file__, encoding="utf-8") as file:
        assert sorted(shown) == sorted(re.findall(r"^def ([a-zA-Z]\w*)", file.read(), re.MULTILINE))
    source = show_source(reference.rank_among, reference.mean).data
    assert source.startswith("```python\ndef rank_among(y, members):\n") and "\n\n\ndef mean(values):" in source


def test_presets_have_the_printed_settings():
    """RaMBO supp. Tab. 1 and Sec. A; Smooth-AP supp. Sec. 4."""
    rambo = {
        "sop": {"lr": 3e-6, "margin": 0.02, "lam": 4, "per_class": 4},
        "inshop": {"lr": 1e-5, "margin": 0.05, "lam": 0.2, "per_class": 8},
        "cub": {"lr": 5e-6, "margin": 0.02, "lam": 0.2, "per_class": 4},
    }
    shared = {"weight_decay": 4e-4, "batch_size": 128, "memory": 3, "decay": 0.3}
    printed = {f"{data}_rambo_{loss}": about | shared for data, about in rambo.items() for loss in ("log", "loglog")}
    printed["inat_rambo_ap"] = {"lam": 4, "margin": 0.02, "head_lr": 2}
    printed["inat_fast_ap"] = {"settings": "bins=20", "head_lr": 2}
    for preset, wanted in printed.items():
        found = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text(encoding="utf-8"))
        assert found.items() >= wanted.items(), preset

"""The equation index has no gap: all that the papers number is treated, with function and test, or says why not."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import equation_gaps
import pytest
import yaml
from tools.notebooks import pairs
from tools.site import equation_index, equation_page
from tools.site.equation_index import Item, MapRow

PRESETS = pairs.ROOT / "notebooks" / "labs" / "presets"
#: What is known of each paper beside the list: its last numbers.
LAST = {
    "RaMBO": {"Eq.": 23, "Thm.": 1, "Prop.": 1, "Alg.": 1, "Fig.": 4, "Tab.": 8, "Sec.": 6, "Fn.": 2},
    "RaMBO supp.": {"Eq.": 5, "Lemma": 1, "Prop.": 2, "Fig.": 2, "Tab.": 1, "Sec.": "C"},
    "Smooth-AP supp.": {"Eq.": 1, "Fig.": "S7", "Tab.": "S2", "Sec.": 5},
    "HAPPIER": {"Eq.": 7, "Fig.": 6, "Tab.": 6, "Sec.": 5, "Fn.": 2},
}


def test_there_is_no_gap():
    assert equation_gaps.gaps() == []


EQ_1 = Item("RaMBO", "Eq. 1", "the ranking")
ROW = MapRow("chapters/01", "RaMBO Eq. 1", "{eq}`eq-sorted`", "rankedu.rank", "tests/library/test_ranks.py::test_rank")
CLAIM = ("RaMBO Eq. 1", "rankedu.ranks.rank")


@pytest.mark.parametrize(
    ("items", "rows", "claims", "message"),
    [
        ([EQ_1], [ROW], [CLAIM], None),
        ([EQ_1, Item("RaMBO", "Eq. 2", "the rank")], [ROW], [CLAIM], "Eq. 2: no paper map has it"),
        ([EQ_1, Item("RaMBO", "Sec. 2", "a survey", why="A survey.")], [ROW], [CLAIM], None),
        ([Item("RaMBO", "Eq. 1", "the ranking", why="Not now.")], [ROW], [CLAIM], "and yet it is"),
        ([EQ_1, Item("RaMBO", "Sec. 3", "all", parts=("Eq. 1",))], [ROW], [CLAIM], None),
        ([EQ_1, Item("RaMBO", "Sec. 3", "all", parts=("Eq. 9",))], [ROW], [CLAIM], "its parts Eq. 9 are not in"),
        ([EQ_1], [ROW], [CLAIM, ("RaMBO Eq. 99", "rankedu.rank")], "docstring: RaMBO Eq. 99 is not in sources.yaml"),
        ([EQ_1], [ROW, MapRow("chapters/01", "RaMBO Sec. 9", "", "", "")], [CLAIM], "map: RaMBO Sec. 9 is not in"),
        (
            [EQ_1],
            [ROW],
            [("RaMBO Eq. 1", "rankedu.ranks.other")],
            "rankedu.rank does not have RaMBO Eq. 1",
        ),
    ],
)
def test_what_is_missing_or_contradicts_itself_is_found(items, rows, claims, message):
    found = equation_gaps.gaps(items, rows, claims)
    assert (found == []) if message is None else any(message in gap for gap in found), found


def test_the_list_has_every_number_up_to_the_last():
    numbers = defaultdict(set)
    for item in equation_index.items():
        kind, _, number = item.number.partition(" ")
        numbers[item.paper, kind].add(number)
    assert {paper: {kind for of, kind in numbers if of == paper} for paper in LAST} == {
        paper: set(kinds) for paper, kinds in LAST.items()
    }
    for (paper, kind), found in numbers.items():
        letter, last = re.fullmatch(r"(S?)(\w+)", str(LAST[paper][kind])).groups()
        first = 2 if (paper, kind) == ("RaMBO supp.", "Prop.") else 1  # the other one is in the paper
        wanted = "ABC" if last == "C" else [f"{letter}{number}" for number in range(first, int(last) + 1)]
        assert {number for number in found if re.fullmatch(r"S?\d+|[A-Z]", number)} == set(wanted), (paper, kind)


def test_no_item_is_listed_twice_and_parts_lead_to_no_circle():
    listed = equation_index.items()
    known = {item.source: item for item in listed}
    assert len(known) == len(listed)

    def below(item, seen=()):
        assert item.source not in seen, seen
        for part in item.parts:
            below(known[f"{item.paper} {part}"], (*seen, item.source))

    for item in listed:
        below(item)
        assert len(item.name.split()) <= 12 and not item.name.endswith("."), item.name
        assert not item.why or len(item.why.split()) > 3


def test_rows_outside_of_the_chapters_resolve_too():
    rows = [row for row in equation_index.paper_maps() if not row.page.startswith("chapters/")]
    assert {row.page for row in rows} >= {"results", "labs/retrieval", "labs/minibatch_statistics"}
    assert [lost for row in rows if (lost := equation_gaps.unresolved(row))] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"function": "rankedu.rang"}, "rankedu.rang cannot be imported"),
        ({"test": "tests/library/test_ranks.py::test_nothing"}, "there is no test"),
        ({"test": "tests/test_rangs.py::test_rank_is_eq_2"}, "there is no test"),
        ({"here": "the first chapter"}, "the first chapter is no cross-reference"),
    ],
)
def test_a_row_that_leads_nowhere_is_found(change, message):
    whole = replace(ROW, test="tests/library/test_ranks.py::test_rank_is_eq_2")
    assert equation_gaps.unresolved(whole) == ""
    assert message in equation_gaps.unresolved(replace(whole, **change))


def test_the_page_has_every_item_once_and_every_link_a_target():
    text = equation_page.markdown()
    anchors = re.findall(r"\]\{#([\w-]+)\}", text)
    assert len(anchors) == len(set(anchors)) == len(equation_index.items())
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= set(anchors)
    assert all(paper.versions in text for paper, _ in equation_index.printed())
    assert "None" not in text


@pytest.mark.parametrize(
    ("preset", "printed"),
    [
        *((f"sop_rambo_{loss}", {"lr": 3e-6, "margin": 0.02, "lam": 4, "per_class": 4}) for loss in ("log", "loglog")),
        *(
            (f"inshop_rambo_{loss}", {"lr": 1e-5, "margin": 0.05, "lam": 0.2, "per_class": 8})
            for loss in ("log", "loglog")
        ),
        *(
            (f"cub_rambo_{loss}", {"lr": 5e-6, "margin": 0.02, "lam": 0.2, "per_class": 4})
            for loss in ("log", "loglog")
        ),
        ("inat_rambo_ap", {"lam": 4, "margin": 0.02, "head_lr": 2}),
        ("inat_fast_ap", {"settings": "bins=20", "head_lr": 2}),
    ],
)
def test_presets_have_the_printed_settings(preset, printed):
    """RaMBO supp. Tab. 1 and Sec. A; Smooth-AP supp. Sec. 4."""
    found = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text(encoding="utf-8"))
    if "rambo_log" in preset:
        printed = printed | {"weight_decay": 4e-4, "batch_size": 128, "memory": 3, "decay": 0.3}
    assert {name: found[name] for name in printed} == printed

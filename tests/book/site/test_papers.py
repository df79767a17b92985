"""The tables of the results page are frozen: their numbers are those of the papers and of our records."""

import itertools
import json
import re
from functools import cache
from typing import NamedTuple

import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from bs4.element import Tag
from scipy.stats import pearsonr, spearmanr
from tools.notebooks import pairs

from rankedu_book.ch14_happier.study import arms, recorded
from rankedu_lab import claims
from rankedu_lab.experiments.speed import tables as speed
from rankedu_lab.methods import METHODS
from rankedu_lab.runs import plan_sweep
from rankedu_lab.runs.tables import best, find_runs, metrics_of, summarise, text_of

BOOK = pairs.ROOT / "book"
TABLE = pairs.ROOT / "lab" / "records" / "results.jsonl"
RECORDS = [*find_runs([TABLE])[0].itertuples()]
GPU = json.loads((BOOK / "data" / "speed_gpu.json").read_text(encoding="utf-8"))["rows"]
MEASURES = ("H-AP", "AP of characters", "R@1 of characters", "AP of scripts")


def frozen(name: str) -> str:
    return (BOOK / "_generated" / f"{name}.md").read_text(encoding="utf-8").replace("\u00a0", " ")


TABLES = [path.stem for path in sorted((BOOK / "_generated").glob("*_tab_*.md")) if "<table" in frozen(path.stem)]
EACH = pytest.mark.parametrize("name", TABLES)


def rows(name: str) -> list[list[str]]:
    """The cells of all tables in Markdown, and their heads."""
    return [[cell.strip() for cell in line.split(" | ")] for line in re.findall(r"^\| (.*) \|$", frozen(name), re.M)]


@cache
def runs(lab: str, preset: str, named: str = "") -> pd.DataFrame:
    """The runs of one setting, such as "loss=rambo_log margin=0.02", which differ in nothing but their seed."""
    found = find_runs([TABLE], lab, dict(one.split("=") for one in named.split()))[0]
    [(_, found)] = summarise(found[found["preset"] == preset])
    assert len(found) == 3
    return found


class Column(NamedTuple):
    """A column of a table, and for each cell the number that it should show, or the word in place of a number."""

    group: str
    heading: str
    cells: list[Tag]
    values: list[pd.Series | str]


@cache
def columns(name: str) -> list[Column]:
    """The columns of a table. A row names its runs, a column its metric, and a column of a variant some of the runs."""
    printed = yaml.safe_load((BOOK / "data" / "printed" / f"{name}.yaml").read_text(encoding="utf-8"))["rows"]
    table = BeautifulSoup(frozen(name), "html.parser").table
    (_, *groups), heads = (line.find_all("th") for line in table.select("thead tr"))
    groups = [group.get_text() for group in groups for _ in range(int(group["colspan"]))]
    lines = table.select("tbody tr")

    def value(row: int, place: int) -> pd.Series | str:
        line, head = lines[row], heads[place]
        if groups[place].endswith(", printed"):
            number = printed[row]["values"][place] if row < len(printed) else None
            return "–" if number is None else pd.Series([number / 100])
        if "data-runs" not in line.attrs:
            return "–"
        if "data-metric" not in head.attrs:
            return "not run"
        named = f"{line['data-runs']} {head.get('data-runs', '')}"
        return metrics_of(runs(table["data-lab"], table["data-preset"], named))[head["data-metric"]]

    return [
        Column(
            groups[place],
            head.get_text(),
            [line.find_all("td")[place] for line in lines],
            [value(row, place) for row in range(len(lines))],
        )
        for place, head in enumerate(heads)
    ]


@EACH
def test_every_number_of_a_table_is_printed_or_that_of_its_runs(name):
    for column in columns(name):
        for cell, value in zip(column.cells, column.values, strict=True):
            shown = cell.get_text()
            if isinstance(value, str):
                assert shown == value
            elif column.group.endswith(", printed"):
                assert float(shown) == pytest.approx(100 * value.mean(), abs=1e-9)
            else:
                assert shown == text_of(value, 100, 1)
        bold = {row for row, cell in enumerate(column.cells) if cell.strong}
        assert bold == best([[] if isinstance(one, str) else one for one in column.values]), column.heading


@EACH
def test_the_orders_of_the_paper_and_of_our_runs_agree_as_the_text_says(name):
    of = {(one.group, one.heading): one.values for one in columns(name)}
    ours = {heading: values for (group, heading), values in of.items() if group in ("glyphs, here", "scenes, here")}
    [said] = re.findall(r"^Rank correlation .*? here\): (.*)\.$", frozen(name), re.MULTILINE) or [""]
    for part in filter(None, said.split("; ")):
        heading, data, measured, rho, count = re.fullmatch(
            r"(.+) on (.+) against (.+), (\S+) \((\d+) methods\)", part
        ).groups()
        both = zip(of[f"{data}, printed", heading], ours[measured], strict=True)
        means = [(one.mean(), other.mean()) for one, other in both if not isinstance(one, str) and len(other) > 1]
        assert len(means) == int(count)
        assert f"{spearmanr(means).statistic:.2f}".replace("-", "−") == rho, part


def test_a_lab_takes_every_command_and_makes_as_many_runs_as_the_page_says():
    found = re.findall(r"seeds, (\d+) runs\.\n\n```sh\n(rankedu sweep .*?)\n```", frozen("sweeps"), re.DOTALL)
    assert len(found) > 15
    for number, command in found:
        _, _, lab, _, preset, _, seeds, *more = command.replace("\\\n", "").split()
        given = {kind: [more[at + 1] for at, one in enumerate(more) if one == kind] for kind in ("-p", "--grid")}
        planned = plan_sweep(lab, given["--grid"], seeds=int(seeds), preset=preset, assignments=given["-p"])
        assert len(planned) == int(number), command


def test_the_other_tables_of_trainings_are_those_of_their_records():
    found = metrics_of(runs("minibatch_statistics", "glyphs_minibatch_cpu"))
    _, _, *batches, whole = rows("mini_batches")
    for size, *cells in batches:
        names = ("mAP of batches of", "R@1 of batches of", "P of batches of", "P of a run with batches of")
        assert cells == [text_of(found[f"{name} {size}"], 100, 1) for name in names]
    assert whole[1:3] == [text_of(found[name], 100, 1) for name in ("mAP", "R@1")]
    found, cells = metrics_of(runs("retrieval", "glyphs_cpu")), rows("longer")[-1]
    percent = {place: text_of(found[name], 100, 1) for place, name in ((2, "R@1"), (3, "mAP@R"), (5, "loss share"))}
    assert {place: cells[place] for place in percent} == percent and cells[4] == text_of(found["seconds"], digits=0)
    settings = [(f"{symbol} = {value:g}", recorded()[arm]) for symbol in "αλ" for value, arm in arms(symbol).items()]
    for line, (setting, found) in zip(rows("happier_fig_4")[1:], settings, strict=True):
        values = [text_of([float(one[name]) for one in found], 100, 1) for name in MEASURES]
        assert line == [setting, str(len(found)), *values]


def test_mistakes_are_counted_by_what_they_share_with_the_query():
    losses = {METHODS[loss].title: f"loss={loss}" for loss in METHODS} | {"nothing": "loss=contrastive steps=0"}
    places = ("characters", "base letters", "scripts")
    for title, _, *cells in rows("mistakes")[1:]:
        found = runs("hierarchical_retrieval", "glyphs_happier_short", losses[title])
        right = [[0.0, *(one[f"R@1 of {place}"] for place in places), 1.0] for one in found["metrics"]]
        shares = zip(*([far - near for near, far in itertools.pairwise(one)] for one in right), strict=True)
        assert cells == [text_of(share, 100, 1) for share in shares], title


@pytest.mark.parametrize("name", ["effects", "effects_trained"])
def test_margin_and_memory_are_those_of_their_runs(name):
    found = json.loads((BOOK / "data" / f"{name}.json").read_text(encoding="utf-8"))
    for margin, memory, number, *cells, _ in rows(name)[1:]:
        of = [one for one in found if (one["margin"], one["memory"]) == (float(margin), int(memory))]
        assert number == str(len(of)) and cells == [text_of(one[m] for one in of) for m in ("R@1", "mAP")]


def test_the_tables_of_speed_have_the_times_of_their_records():
    [cpu] = [speed.rows_of(one.metrics) for one in RECORDS if one.lab == "speed"]
    lines = {name: [set(line) for line in rows(name)] for name in ("rambo_tab_6", "speed_batches", "speed_gpu")}
    for device, measured in (("cpu", cpu), ("cuda", GPU)):
        parts = {"rambo_tab_6": "long lists", "speed_batches": "batches"} | (
            {"speed_gpu": "step"} if device == "cuda" else {}
        )
        for name, part in parts.items():
            for line in speed.pivot(measured, part, device):
                assert any(set(list(line.values())[2:]) - {"–"} <= one for one in lines[name]), (name, line)
    fitted = {one["work"]: one for one in cpu if one["part"] == "growth" and one.get("n") is not None}
    for work, *_, n, _, largest in rows("rambo_tab_1")[1:]:
        assert n.startswith(f"{fitted[work]['n']:.2f} ±") and largest.startswith(
            speed.duration(fitted[work]["seconds"])
        )


def test_a_page_includes_every_block():
    text = "".join(page.read_text(encoding="utf-8") for page in BOOK.glob("*.md"))
    assert all(f"_generated/{path.name}" in text for path in (BOOK / "_generated").glob("*.md"))


def test_what_the_page_says_of_a_gpu_stands_in_its_record():
    found = {(row["work"], row["contender"], row["size"]): row["seconds"] for row in GPU if row["part"] != "step"}
    for loss in ("RaMBO AP", "RaMBO recall", "FastAP"):
        faster = [found[loss, "ours", n] < found[loss, "transcription", n] for n in (512, 1024, 2048, 4096, 8192)]
        assert (
            faster == [False, False, False, True, True] and found[loss, "ours", 2048] < 1.3 * found[loss, "ours", 512]
        )
    assert found["AP", "ours", 10**8] < found["AP", "transcription", 10**8]
    for loss in ("Smooth-AP", "SupAP", "H-AP"):
        assert found[loss, "transcription", 1024] and found[loss, "transcription", 2048] is None


def test_what_the_page_says_of_trainings_stands_in_their_records():
    text = " ".join((BOOK / "results.md").read_text(encoding="utf-8").split())
    trained = [one for one in RECORDS if one.lab == "hierarchical_retrieval" and one.parameters["steps"]]
    for some in (trained, [one for one in trained if one.metrics["H-AP"] > 0.15]):
        measured = ([one.metrics[name] for one in some] for name in ("H-AP", "AP of characters"))
        assert re.search(rf"Over the {len(some)} runs .{{,60}} is {pearsonr(*measured).statistic:.3f}\.", text)
    of = {(one.parameters["loss"], one.parameters["seed"]): one.metrics for one in trained}
    mean = {loss: sum(of[loss, seed]["H-AP"] for seed in range(3)) for loss, _ in of}
    above = sum(found > mean["happier"] for found in mean.values())
    assert f"{above} of the {len(mean) - 1} other losses have a larger" in text
    for metric in ("ASI", "AP of scripts"):
        assert all(of["roadmap", seed][metric] < of["hap", seed][metric] for seed in range(3))
    rates = {float(row["loss_lr"]) for row in claims.read("claims_first")} - {1.0}
    assert f"{min(rates):.0f} to {max(rates):.0f} times as large" in text

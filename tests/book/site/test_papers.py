"""The papers' tables: transcribed without slips, and set beside runs that the sweeps make."""

import itertools
import json

import pytest
from bs4 import BeautifulSoup
from scipy.stats import pearsonr, spearmanr
from tools.results import papers, papers_lists, papers_page, papers_speed

from rankedu_lab import claims
from rankedu_lab.datasets.published import PUBLISHED
from rankedu_lab.experiments.detection import LOSSES
from rankedu_lab.experiments.hierarchical_retrieval import level_names
from rankedu_lab.methods import METHODS
from rankedu_lab.runs import Record, collect_runs, plan

TABLES = {table.name: table for table in papers.tables()}
SWEEPS = papers.sweeps()
ABOUT = ({"device": "abacus", "threads": 1}, {"torch": "2.13.0"}, {"revision": "0123456789abcdef", "modified": True})


def column(name: str, data: str, metric: str) -> dict[str, float]:
    """A printed column, by what we call the method."""
    table = TABLES[name]
    heads = [(group, head) for group, heads in table.printed["columns"].items() for head in heads]
    place = heads.index((data, metric))
    return {row["ours"] or row["method"]: row["values"][place] for row in table.printed["rows"]}


def test_a_lab_takes_every_point_of_a_sweep():
    for sweep in SWEEPS:
        point = sweep.points()[-1]
        assert plan(sweep.lab, preset=sweep.preset, parameters=point).parameters.items() >= point.items(), sweep.name
        assert set(sweep.grid["loss"]) <= set(LOSSES if sweep.lab == "detection" else METHODS), sweep.name
        assert sweep.seeds >= 3


def test_every_row_of_a_table_is_a_point_of_its_sweeps():
    for name, table in TABLES.items():
        assert set(table.beside["data"]) == set(table.printed["columns"]), name
        for scale in table.scales():
            points = [sweep.shared() | point for sweep in table.sweeps(scale) for point in sweep.points()]
            for row in table.rows():
                for variant in table.variants().values():
                    wanted = table.on_ours(row, variant, scale)
                    found = [point for point in points if all(wanted.get(n, v) == v for n, v in point.items())]
                    assert (row["ours"] is None) or len(found) == 1, (name, row["method"])


def test_the_labs_measure_what_the_tables_show():
    for table in TABLES.values():
        for data in (None, *table.printed["columns"]):
            name = table.beside["data"][data]["dataset"] if data else "glyphs"
            if table.beside["lab"] == "detection":
                measured = {"AP50", "AP50 of frequent classes", "AP50 of rare classes"}
            elif table.beside["lab"] == "retrieval":
                measured = {"mAP", "mAP@R", *(f"R@{k}" for k in papers.preset(f"{name}_rambo_log")["recall_at"])}
            else:
                places = [", mean of levels", *(f" of {level}" for level in level_names(PUBLISHED[name].levels))]
                measured = {"H-AP", "ASI", "NDCG", *("R@1" + place for place in places), *("AP" + at for at in places)}
            assert set(table.metrics(data).values()) <= measured, (table.name, data)


def made_up(table, value, *, data=None, seeds=3, more=None):
    """Runs of every row of a table; their metrics are `value(row number) + seed / 1000`."""
    lab, here = table.beside["lab"], table.metrics(data).values()
    [scale, *_] = table.scales()
    for place, row in enumerate(table.rows()):
        for variant in table.variants().values() if row["ours"] else ():
            on = table.elsewhere(row, variant, data) if data else table.on_ours(row, variant, scale)
            for seed in range(seeds):
                parameters = {**on, **(more or {}), "seed": seed}
                metrics = dict.fromkeys(here, value(place) + seed / 1000)
                yield Record(lab, f"{on} {more} {seed}", "glyphs", parameters, metrics, 60.0, *ABOUT, "2026")


def cells(text):
    rows = BeautifulSoup(text, "html.parser").select("tbody tr")
    return [[cell.get_text().replace("\u00a0", " ") for cell in row.find_all(["th", "td"])] for row in rows]


def test_without_runs_the_cells_say_so():
    for name, table in TABLES.items():
        text = papers_page.block(table, [])
        found, printed = cells(text), sum(map(len, table.printed["columns"].values()))
        assert {len(row) for row in found} == {len(found[0])} and len(found) == len(table.rows()), name
        for row, line in zip(table.rows(), found, strict=True):
            assert [float(cell) if cell != "–" else None for cell in line[1 : printed + 1]] == row["values"], name
            assert set(line[printed + 1 :]) == {"not run" if row["ours"] else "–"}, name
        assert "No run of this is kept" in text and "rankedu sweep" in text and table.printed["note"] in text, name


def test_runs_stand_beside_what_is_printed():
    table = TABLES["happier_tab_1"]
    printed = len(table.printed["rows"])
    text = papers_page.block(table, list(made_up(table, lambda place: (0.3 + place / 50) * (place < printed))))
    found = cells(text)
    assert found[0][10:13] == ["30.1 ± 0.1"] * 3 and found[1][12] == "32.1 ± 0.1"
    assert [row[13:] for row in found] == [["not run"] * 3] * len(found), "the published data sets"
    assert f"{3 * len(found)} runs" in text and "revision 0123456789 with changes." in text
    bold = BeautifulSoup(text, "html.parser").select("tbody tr")[printed - 1].find_all("strong")
    assert len(bold) == len(found[0]) - 1 - 3, "HAPPIER leads everywhere, or shares the lead"
    for data in table.printed["columns"]:
        rho = spearmanr(list(column("happier_tab_1", data, "H-AP").values()), range(10)).statistic
        assert f"H-AP on {data} against H-AP, {rho:.2f} (10 methods)" in text


def test_runs_of_two_settings_are_no_row():
    table = TABLES["happier_tab_5"]
    twice = [run for clip in (0.1, 0.2) for run in made_up(table, lambda _: 0.5, more={"clip": clip})]
    with pytest.raises(ValueError, match=r"happier_tab_5, sigmoids.*differ in clip; keep those of one setting"):
        papers_page.block(table, twice)


def test_mistakes_are_told_by_what_they_share_with_the_query():
    sweeps = [sweep for sweep in SWEEPS if sweep.lab == "hierarchical_retrieval"]
    points = [(sweep, point) for sweep in sweeps if sweep.scale == sweeps[0].scale for point in sweep.points()]
    places, found = ("characters", "base letters", "scripts"), []
    for (sweep, point), (seed, hits) in itertools.product(points, enumerate([(0.3, 0.5, 0.8), (0.4, 0.6, 0.8)])):
        metrics = {f"R@1 of {place}": hit for place, hit in zip(places, hits, strict=True)}
        given = sweep.preset, {**sweep.shared(), **point, "seed": seed}, metrics
        found.append(Record(sweep.lab, f"{point} {seed}", *given, 60.0, *ABOUT, "2026"))
    told = papers_lists.severity(found).replace("\u00a0", " ")
    assert told.count("| 2 | 35.0 ± 7.1 | 20.0 ± 0.0 | 25.0 ± 7.1 | 20.0 ± 0.0 |\n") == len(points)


def test_the_page_includes_every_block():
    pages = (papers.ROOT / "book" / f"{name}.md" for name in ("results", "results-pictures"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert all(f"_generated/{name}.md" in text for name in papers_page.blocks())


def test_what_the_page_says_of_a_gpu_stands_in_its_record():
    rows = json.loads(papers_speed.GPU.read_text(encoding="utf-8"))["rows"]
    found = {(row["work"], row["contender"], row["size"]): row["seconds"] for row in rows if row["part"] != "step"}
    for loss in ("RaMBO AP", "RaMBO recall", "FastAP"):
        faster = [found[loss, "ours", n] < found[loss, "transcription", n] for n in (512, 1024, 2048, 4096, 8192)]
        assert (
            faster == [False, False, False, True, True] and found[loss, "ours", 2048] < 1.3 * found[loss, "ours", 512]
        )
    assert found["AP", "ours", 10**8] < found["AP", "transcription", 10**8]
    for loss in ("Smooth-AP", "SupAP", "H-AP"):
        assert found[loss, "transcription", 1024] and found[loss, "transcription", 2048] is None


def test_what_the_page_says_of_trainings_stands_in_their_records():
    text, records = (papers.ROOT / "book" / "results.md").read_text(encoding="utf-8"), collect_runs(papers.RUNS)[0]
    trained = [r.metrics for r in records if r.lab == "hierarchical_retrieval" and r.parameters["steps"]]
    level = pearsonr([m["H-AP"] for m in trained], [m["AP of characters"] for m in trained]).statistic
    assert f"over the {len(trained)} runs the two correlate at {level:.3f}" in text
    high = [m for m in trained if m["H-AP"] > 0.15]
    level = pearsonr([m["H-AP"] for m in high], [m["AP of characters"] for m in high]).statistic
    assert f"over the {len(high)} runs\n  above 15 % at {level:.3f}" in text
    of = {(r.parameters["loss"], r.parameters["seed"]): r.metrics for r in records if r.metrics in trained}
    mean = {loss: sum(of[loss, seed]["H-AP"] for seed in range(3)) for loss, _ in of}
    above = sum(found > mean["happier"] for found in mean.values())
    assert f"{above} of the {len(mean) - 1} other losses are above it in H-AP" in text
    for metric in ("ASI", "AP of scripts"):
        assert all(of["roadmap", seed][metric] < of["hap", seed][metric] for seed in range(3))
    rates = {float(row["loss_lr"]) for row in claims.read("claims_first")} - {1.0}
    assert f"the first searches of the claims found rates {min(rates):.0f} to {max(rates):.0f} times as large" in text

"""Retrieval over a whole test set: against the metrics of one query, other libraries, and itself cut to pieces."""

import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
import torch
from cases import METRICS
from drawn import random, refused, seeded
from torch.nn.functional import normalize

from rankedu import hierarchy, reference
from rankedu._fast import packed
from rankedu.hierarchy import InvertedRelevanceWarning
from rankedu.metrics import RetrievalMetrics, UndefinedMetricWarning, _relevant, _similarities, _streaming, names
from rankedu.metrics import evaluate_retrieval as evaluate
from rankedu.metrics._similarities import Similarities, full_precision

OF_ONE_LEVEL = ("ap@2", "recall@2", "recall share@2", "precision@2", "map@r", "r-precision", "mrr")
BINARY = {name: METRICS[name].plain for name in OF_ONE_LEVEL} | {"average_precision": reference.average_precision}
GRADED = {
    "asi": METRICS["asi"].plain,
    "ndcg": lambda y, levels: reference.ndcg(y, [2.0**level - 1 for level in levels]),
    "ndcg@4": lambda y, levels: reference.ndcg(y, [2.0**level - 1 for level in levels], 4),
}
ALL = (*BINARY, *GRADED, "h_ap")
nan = float("nan")


pytestmark = pytest.mark.filterwarnings(
    "ignore::rankedu.metrics.UndefinedMetricWarning", "ignore::rankedu.hierarchy.InvertedRelevanceWarning"
)


def points(kind, n, seed=0):
    """Embeddings: all similarities differ; many are equal, and exact in float32; or all are equal."""
    if kind == "distinct":
        return random(n, 12, seed=seed, dtype=torch.float32)
    if kind == "tied":
        return torch.randint(0, 2, (n, 16), generator=seeded(seed)) * 2.0 - 1.0
    return torch.ones(n, 16)


def paths(kind, n, seed=0):
    """Labels; the last item is alone in its class."""
    top, mid, leaf = (torch.randint(0, high, (n,), generator=seeded(seed + i)) for i, high in enumerate((3, 3, 4)))
    labels = torch.stack([top, mid, leaf], dim=1)
    if kind == "flat":
        return (labels * torch.tensor([12, 4, 1])).sum(1).index_fill(0, torch.tensor([n - 1]), 99)
    if kind == "ragged":
        labels[::5, 2] = -1
        labels[::7, 1:] = -1
        labels[3] = -1
    labels[n - 1] = torch.tensor([99, 0, 0])
    return labels


def by_query(scores, levels, n_levels, where, alpha=1.0, monotone=False):
    """Each query's values, by the definitions; where says who is a candidate."""
    values = {name: [] for name in ALL}
    for row, of_row, here in zip(scores.tolist(), levels.tolist(), where.tolist(), strict=True):
        y, own = ([value for value, takes in zip(x, here, strict=True) if takes] for x in (row, of_row))
        for name in BINARY:
            values[name].append([BINARY[name](y, [v >= at for v in own]) for at in range(1, n_levels + 1)])
        for name in GRADED:
            values[name].append(GRADED[name](y, own) if y else nan)
        rel = reference.relevance(own, alpha, n_levels, monotone) if y else []
        values["h_ap"].append(reference.hierarchical_average_precision(y, rel))
    return {name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()}


def others(n):
    return ~torch.eye(n, dtype=torch.bool)


def assert_values(result, expected):
    for name in result["per_query"]:
        torch.testing.assert_close(result["per_query"][name], expected[name], rtol=1e-9, atol=1e-12, equal_nan=True)
        at_finest = expected[name] if expected[name].ndim == 1 else expected[name][:, -1]
        assert result[name] == pytest.approx(at_finest.nanmean().item(), rel=1e-9)


def similarities(embeddings, gallery=None, kind="cosine"):
    """As they are computed, all at once."""
    tiles = Similarities(embeddings, embeddings if gallery is None else gallery, torch.device("cpu"), kind)
    starts = range(0, len(embeddings), tiles.height)
    return torch.cat([tiles.tile(start, out=tiles.buffer()).clone() for start in starts])


def same(result, other):
    """Equal to the last bit, nan included."""
    assert list(result) == list(other)
    assert result["per_query"].keys() == other["per_query"].keys()
    for name, values in result["per_query"].items():
        assert torch.equal(values.view(torch.int64), other["per_query"][name].view(torch.int64)), name
    for key in ("levels", "table"):
        np.testing.assert_equal(result[key], other[key])


@pytest.fixture(params=["as it comes", "count", "sort", "readable"])
def way(request, monkeypatch):
    """Each way to the ranks, and each cut into small pieces; with a mask, if only of ones, it is the readable one."""
    if request.param != "as it comes":
        monkeypatch.setattr(_relevant, "SORT", {"count": 10**9, "sort": -1}.get(request.param, 0))
        monkeypatch.setattr(_streaming, "LIST", 64)
        monkeypatch.setattr(_similarities, "TILE", 16)
    return lambda n, g: {"where": torch.ones(n, g, dtype=torch.bool)} if request.param == "readable" else {}


@pytest.mark.parametrize("labelled", ["flat", "hierarchy", "ragged"])
@pytest.mark.parametrize("separate", [False, True], ids=["own", "gallery"])
def test_each_query_gets_the_value_of_the_metric_for_one_query(way, labelled, separate):
    for kind, settings in {"distinct": (0.5, False), "tied": (4.0, True), "collapsed": (1.0, False)}.items():
        embeddings, labels = points(kind, 33), paths(labelled, 33)
        gallery, gallery_labels = (points(kind, 41, 5), paths(labelled, 41, 5)) if separate else (None, None)
        where = torch.ones(33, 41, dtype=torch.bool) if separate else others(33)
        scores, levels = similarities(embeddings, gallery), hierarchy.levels(labels, gallery_labels)
        expected = by_query(scores, levels, 1 if labels.ndim == 1 else 3, where, *settings)
        options = dict(zip(("alpha", "monotone"), settings, strict=True)) | way(*where.shape)
        options |= {"gallery": gallery, "gallery_labels": gallery_labels}
        result = evaluate(embeddings, labels, metrics=ALL, **options)
        assert list(result["per_query"]) == list(ALL)
        assert_values(result, expected)


@pytest.mark.parametrize("kind", ["distinct", "tied"])
def test_where_leaves_candidates_out(kind):
    """Re-identification: what the same camera saw of the same person does not count, neither for nor against."""
    embeddings, labels, camera = points(kind, 40), torch.arange(40) % 7, torch.arange(40) % 3
    where = (labels[:, None] != labels) | (camera[:, None] != camera)
    expected = by_query(similarities(embeddings), hierarchy.levels(labels), 1, where & others(40))
    for given in (where, lambda queries: where[queries]):
        assert_values(evaluate(embeddings, labels, where=given, metrics=ALL), expected)
    assert evaluate(embeddings, labels, where=where & False, metrics=ALL)["left_out"] == 40


def test_items_that_share_one_of_several_classes_are_relevant():
    embeddings, labels = points("distinct", 30), torch.rand(30, 8, generator=seeded(0)) < 0.15
    gallery, gallery_labels = points("distinct", 35, 5), torch.rand(35, 8, generator=seeded(1)) < 0.15
    separate = {"gallery": gallery, "gallery_labels": gallery_labels}
    for options, where in (({}, others(30)), (separate, torch.ones(30, 35, dtype=torch.bool))):
        items, classes = options.values() if options else (embeddings, labels)
        levels = torch.tensor([[int(any(own & other)) for other in classes] for own in labels])
        expected = by_query(similarities(embeddings, items), levels, 1, where)
        assert_values(evaluate(embeddings, labels, metrics=ALL, **options), expected)


@pytest.mark.parametrize("kind", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_similarity_and_dtype(kind, dtype):
    """Of integers, so that the last two are exact; 16 bits are ranked in float32, and not rounded once more."""
    embeddings, gallery = (torch.randint(-9, 10, (n, 6), generator=seeded(n)).to(dtype) for n in (30, 50))
    if kind == "cosine":
        embeddings, gallery = (100 * points("distinct", 30)).to(dtype), points("distinct", 50, 5).to(dtype)
        embeddings[7] = 0  # has no direction: similar to none
    labels, gallery_labels = paths("flat", 30), paths("flat", 50)
    x, g = embeddings.double(), gallery.double()
    scores = normalize(x, dim=1) @ normalize(g, dim=1).T if kind == "cosine" else x @ g.T
    if kind == "euclidean":
        scores = -(x[:, None] - g).square().sum(2)
    found = similarities(embeddings, gallery, kind)
    if kind == "cosine":
        torch.testing.assert_close(found.double(), scores, rtol=0, atol=1e-6)
        scores = found.double()  # two that are as good as equal stand as they are rounded
    assert torch.equal(found.argsort(stable=True), scores.argsort(stable=True))
    expected = by_query(scores, hierarchy.levels(labels, gallery_labels), 1, torch.ones(30, 50, dtype=torch.bool))
    given = {"gallery": gallery, "gallery_labels": gallery_labels, "metrics": ALL}
    assert_values(evaluate(embeddings, labels, similarity=kind, **given), expected)


def test_in_a_large_gallery_few_are_counted_and_many_are_sorted():
    n = 1500
    labels = torch.stack([torch.arange(n) % 3, torch.arange(n) % 500], dim=1)
    labels[::10, 0] = 7 + torch.arange(150) // 4  # some queries have few relevant items in all
    size = _relevant.Tree(labels).size[0]
    few = size * (_relevant.CALL + n) <= _relevant.SORT * n
    assert few.any() and not few.all()
    for seed in range(3):
        embeddings = points("tied", n, seed)
        readable = evaluate(embeddings, labels, metrics=ALL, where=torch.ones(n, n, dtype=torch.bool))
        same(evaluate(embeddings, labels, metrics=ALL), readable)


def test_metrics_of_batches_are_those_of_the_whole():
    embeddings, labels = points("distinct", 50), paths("hierarchy", 50)
    gallery, gallery_labels = points("distinct", 60, 5), paths("hierarchy", 60, 5)
    metric = RetrievalMetrics(ALL, alpha=2.0)
    for rows in torch.arange(50).split(17):
        metric.update(embeddings[rows], labels[rows])
    same(metric.compute(), evaluate(embeddings, labels, metrics=ALL, alpha=2.0))
    for rows in torch.arange(60).split(25):
        metric.update(gallery[rows], gallery_labels[rows], gallery=True)
    options = {"gallery": gallery, "gallery_labels": gallery_labels, "alpha": 2.0}
    same(metric.compute(), evaluate(embeddings, labels, metrics=ALL, **options))
    metric.reset()
    with pytest.raises(ValueError, match="needs queries, got none: call update"):
        metric.compute()


def test_descending_is_a_stable_sort():
    inf = float("inf")
    special = torch.tensor([0.0, -0.0, 1.0, inf, -inf, -1.0, 1e-45, -1e-45, 0.0, 1.0, -inf, 3.4e38, -3.4e38])
    for dtype in (torch.float32, torch.float64):
        for scores in (special.to(dtype), torch.randint(-9, 9, (999,), generator=seeded(0)).to(dtype) / 7):
            expected = (scores + 0.0).sort(descending=True, stable=True).indices
            assert packed.order(scores.numpy()).tolist() == expected.tolist()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
def test_the_gpu_agrees():
    embeddings, labels = points("tied", 70), paths("ragged", 70)
    expected = evaluate(embeddings, labels, metrics=ALL)
    same(evaluate(embeddings, labels, metrics=ALL, device="cuda"), expected)
    same(evaluate(embeddings.cuda(), labels.cuda(), metrics=ALL), expected)


def test_the_result_has_the_finest_level_on_top_and_a_row_for_each():
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2], [1, 3], [-1, -1]])
    result = evaluate(points("distinct", 6), labels, metrics=("h_ap", "recall_at_1"))
    assert list(result) == ["h_ap", "recall_at_1", "queries", "left_out", "levels", "table", "per_query"]
    counts = [(row["level"], row["queries"], row["left_out"], "recall_at_1" in row) for row in result["table"]]
    assert counts == [(1, 5, 1, True), (2, 2, 4, True), ("all", 5, 1, False)]
    assert list(result["levels"]) == [1, 2] and (result["queries"], result["left_out"]) == (2, 4)
    assert result["recall_at_1"] == result["levels"][2]["recall_at_1"]
    assert result["h_ap"] == result["table"][-1]["h_ap"]
    assert {m: tuple(v.shape) for m, v in result["per_query"].items()} == {"h_ap": (6,), "recall_at_1": (6, 2)}
    json.dumps({key: value for key, value in result.items() if key != "per_query"})


@pytest.mark.parametrize("alone", [2, -1])
def test_queries_without_a_relevant_item_are_left_out_counted_and_warned_of_once(alone):
    said = "^1 at level 1, 1 at level all of 5 queries have no relevant item"
    with pytest.warns(UndefinedMetricWarning, match=said) as caught:
        result = evaluate(points("distinct", 5), torch.tensor([0, 0, 1, 1, alone]), metrics=ALL)
    assert [w.filename for w in caught] == [__file__] and result["left_out"] == 1
    assert all(values[4].isnan().all() and not values[:4].isnan().any() for values in result["per_query"].values())


def test_inverted_relevance_is_warned_of_once_and_monotone_cures_it():
    labels = torch.tensor([[0, 0]] * 9 + [[0, 1]])  # the first nine have eight leaves and one cousin
    embeddings = points("distinct", 10)
    with pytest.warns(InvertedRelevanceWarning, match=r"in 9 of 10 queries: .*\(use monotone=True"):
        evaluate(embeddings, labels, metrics=("h_ap",))
    for options in ({"metrics": ("h_ap",), "monotone": True}, {"metrics": ("asi", "ndcg")}):
        with warnings.catch_warnings():
            warnings.simplefilter("error", InvertedRelevanceWarning)
            evaluate(embeddings, labels, **options)


#: Twenty tiles of 16, the last one not full; similarities that differ in their last bits only.
LARGE = points("distinct", 313, 2) + 3e4 * points("distinct", 1, 3), paths("ragged", 313)


def test_chunks_and_threads_change_nothing_and_the_threads_stay_as_they_were(monkeypatch):
    monkeypatch.setattr(_similarities, "TILE", 16)
    before, whole = torch.get_num_threads(), evaluate(*LARGE, metrics=ALL)
    try:
        for threads, chunk_size in ((1, 1), (1, 33), (3, 7), (3, 16), (3, 48), (3, 10_000)):
            torch.set_num_threads(threads)
            same(evaluate(*LARGE, metrics=ALL, chunk_size=chunk_size), whole)
            assert torch.get_num_threads() == threads
        with ThreadPoolExecutor() as later:
            assert later.submit(torch.get_num_threads).result() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("dim", "kind"), [(5, "cosine"), (64, "euclidean"), (100, "cosine"), (100, "dot")])
def test_equal_embeddings_tie_wherever_they_stand(dim, kind):
    """A last bit that depends on the place would rank one of two equal items first, and not by position."""
    for dtype, queries in product((torch.float32, torch.float64), (1, 3, 8, 257)):
        embeddings = torch.randn(queries, dim, generator=seeded(0), dtype=dtype)
        for items in [*range(1, 20), 33, 1003]:
            same_item = torch.randn(1, dim, generator=seeded(1), dtype=dtype).expand(items, -1)
            scores = similarities(embeddings, same_item, kind)
            assert torch.equal(scores, scores[:, :1].expand(-1, items)), (dtype, queries, items)


TWO_PROCESSES = """
import sys, warnings, torch
from rankedu.metrics import evaluate_retrieval
rank, store, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
warnings.simplefilter("ignore")
torch.set_num_threads(rank + 1)
torch.distributed.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
data = torch.load(out + "/data.pt")
mine = slice(0, 201) if rank == 0 else slice(201, None)
for name, keys in {"own": ("x", "y"), "gallery": ("x", "y", "gallery", "gallery_labels")}.items():
    x, y, *gallery = (data[key][mine] for key in keys)
    options = dict(zip(("gallery", "gallery_labels"), gallery))
    result = evaluate_retrieval(x, y, metrics=data["metrics"], distributed=True, **options)
    torch.save(result, f"{out}/{name}-{rank}.pt")
for x in (data["x"][:, : 12 - rank], data["x"]):
    try:
        evaluate_retrieval(x, data["y"], distributed=True)
    except ValueError as error:
        print(error)
torch.distributed.destroy_process_group()
"""


def test_two_processes_are_one(tmp_path):
    """Each has its own part, the parts are not of equal size, nor do the processes have as many threads."""
    gallery = {"gallery": points("distinct", 401, 4), "gallery_labels": paths("ragged", 401, 4)}
    data = {"x": LARGE[0].to(torch.bfloat16), "y": LARGE[1], "metrics": ALL} | gallery
    torch.save(data, tmp_path / "data.pt")
    command = [sys.executable, "-W", "ignore", "-c", TWO_PROCESSES]
    options = {"stdout": subprocess.PIPE, "text": True, "env": {**os.environ, "OMP_NUM_THREADS": "1"}}
    places = str(tmp_path / "store"), str(tmp_path)
    processes = [subprocess.Popen([*command, str(rank), *places], **options) for rank in range(2)]
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    for unlike, alike in (text.splitlines() for text in said):
        assert unlike.startswith("embeddings must differ between processes in the number of rows alone, got (313, 12)")
        assert "must be another part of the whole in each process, got the same 313 rows and labels" in alike
    for name, more in {"own": {}, "gallery": gallery}.items():
        whole = evaluate(data["x"], data["y"], metrics=ALL, **more)
        for rank in range(2):
            same(torch.load(tmp_path / f"{name}-{rank}.pt"), whole)


def test_nothing_given_is_changed_no_graph_is_made_and_products_have_full_precision_whatever_is_set():
    embeddings, labels = points("distinct", 90).requires_grad_(), paths("flat", 90)
    given, before = embeddings.detach().clone(), torch.get_float32_matmul_precision()
    result = evaluate(embeddings, labels)
    assert torch.equal(embeddings.detach(), given) and not result["per_query"]["map_at_r"].requires_grad
    same(evaluate(torch.stack([given, given], dim=2)[..., 0], labels), result)
    try:
        torch.set_float32_matmul_precision("medium")
        with full_precision(torch.device("cpu")):
            assert torch.get_float32_matmul_precision() == "highest"
        same(evaluate(embeddings, labels), result)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        same(evaluate(embeddings, labels), result)


def test_the_progress_bar_waits_two_seconds_can_be_turned_off_and_needs_tqdm(monkeypatch):
    import tqdm

    bars = []
    monkeypatch.setattr(tqdm, "tqdm", lambda tiles, *told, **options: bars.append((*told, options)) or tiles)
    for progress in (True, False):
        evaluate(points("distinct", 30), paths("flat", 30), progress=progress)
        bar = bars[-1][2]
        assert bars[-1][1] * bar["unit_scale"] >= 30 and bar["delay"] == 2 and bar["disable"] == (not progress or None)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    evaluate(points("distinct", 30), paths("flat", 30))


def test_metrics_have_the_names_that_people_use_and_a_wrong_one_is_answered_by_the_nearest():
    asked = ("Average Precision", "ap_at_5", "R@10", "recall_share@10", "p@5", "R-precision", "MRR", "nDCG@5", "mAP@R")
    known = ("average_precision", "average_precision", "recall", "recall_share", "precision", "r_precision", "mrr")
    places = (None, 5, 10, 10, 5, None, None, 5, None)
    assert [*names.parse(asked).values()] == [*zip((*known, "ndcg", "map_at_r"), places, strict=True)]
    near = {"mpa": "map@r", "recal@1": "recall@1", "recall@0": "recall@10", "hapier": "h_ap"}
    refused(*((lambda name=name: names.parse([name]), ValueError, f"did you mean '{near[name]}'") for name in near))

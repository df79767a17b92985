"""Retrieval over a whole test set: against the metrics of one query, other libraries, and itself cut to pieces."""

import json
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
import torch
from cases import METRICS
from drawn import coin, random, refused, seeded
from torch.nn.functional import normalize
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rankedu import hierarchy, reference
from rankedu.hierarchy import InvertedRelevanceWarning
from rankedu.metrics import (
    DuplicateItemsWarning,
    RetrievalMetrics,
    UndefinedMetricWarning,
    _ranking,
    _similarities,
    names,
    retrieval,
)
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
    "ignore::rankedu.metrics.UndefinedMetricWarning",
    "ignore::rankedu.metrics.DuplicateItemsWarning",
    "ignore::rankedu.hierarchy.InvertedRelevanceWarning",
)


def points(kind, n, seed=0):
    """Embeddings: all similarities differ; many are equal, and exact in float32; or all are equal."""
    if kind == "distinct":
        return random(n, 12, seed=seed, dtype=torch.float32)
    if kind == "tied":
        return torch.randint(0, 2, (n, 16), generator=seeded(seed)) * 2.0 - 1.0
    return torch.ones(n, 16)


def paths(kind, n, seed=0):
    """Labels; the last item is alone in its class. Or tags."""
    if kind == "tags":
        return torch.rand(n, 8, generator=seeded(seed)) < 0.15
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
    """Each query's values, by the definitions, with ties by position; where says which items are candidates."""
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
        values, close = result["per_query"][name], 1e-6 if result["per_query"][name].dtype == torch.float32 else 1e-12
        torch.testing.assert_close(values.double(), expected[name], rtol=close, atol=close, equal_nan=True)
        at_finest = expected[name] if expected[name].ndim == 1 else expected[name][:, -1]
        assert result[name] == pytest.approx(at_finest.nanmean().item(), rel=1e-9)


def similarities(embeddings, gallery=None, kind="cosine"):
    """As they are computed, all at once."""
    tiles = Similarities(embeddings, embeddings if gallery is None else gallery, torch.device("cpu"), kind)
    starts = range(0, len(embeddings), tiles.height)
    return torch.cat([tiles.tile(start).clone() for start in starts])


def same(result, other):
    """Equal to the last bit, nan included."""
    assert list(result) == list(other)
    assert result["per_query"].keys() == other["per_query"].keys()
    for name, values in result["per_query"].items():
        assert torch.equal(values.view(torch.int32), other["per_query"][name].view(torch.int32)), name
    for key in ("levels", "table"):
        np.testing.assert_equal(result[key], other[key])


@pytest.fixture(params=["as it comes", "count", "sort"])
def way(request, monkeypatch):
    """Each way to the counts, with the work cut into small pieces."""
    if request.param != "as it comes":
        monkeypatch.setattr(_ranking, "SORT", {"count": 10**9, "sort": -(10**9)}[request.param])
        monkeypatch.setattr(retrieval, "LIST", 64)
        monkeypatch.setattr(_similarities, "TILE", 16)


@pytest.mark.parametrize("labelled", ["flat", "hierarchy", "ragged", "tags"])
@pytest.mark.parametrize("separate", [False, True], ids=["own", "gallery"])
def test_each_query_gets_the_value_of_the_metric_for_one_query(way, labelled, separate):
    """Of all candidates; or of those that are left, as where one camera saw one person twice."""
    for kind, settings in {"distinct": (0.5, False), "tied": (4.0, True), "collapsed": (1.0, False)}.items():
        embeddings, labels = points(kind, 33), paths(labelled, 33)
        gallery, gallery_labels = (points(kind, 41, 5), paths(labelled, 41, 5)) if separate else (None, None)
        every = torch.ones(33, 41, dtype=torch.bool) if separate else others(33)
        if labelled == "tags":
            levels = (labels.unsqueeze(1) & (gallery_labels if separate else labels)).any(2).long()
        else:
            levels = hierarchy.levels(labels, gallery_labels)
        options = dict(zip(("alpha", "monotone"), settings, strict=True)) | {"ties": "ordinal"}
        options |= {"gallery": gallery, "gallery_labels": gallery_labels}
        some, n_levels = coin(*every.shape, p=0.7) | (kind == "distinct"), 1 if labelled in ("flat", "tags") else 3
        expected = by_query(similarities(embeddings, gallery), levels, n_levels, every & some, *settings)
        for where in (None,) if kind == "distinct" else (some, lambda queries: some[queries]):  # noqa: B023
            result = evaluate(embeddings, labels, metrics=ALL, where=where, **options)
            assert list(result["per_query"]) == list(ALL)
            assert_values(result, expected)
    assert evaluate(embeddings, labels, where=some & False, **options)["left_out"] == 33


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
    assert_values(evaluate(embeddings, labels, similarity=kind, ties="ordinal", **given), expected)


def test_distances_keep_their_digits_far_from_the_origin():
    x = 1e4 + random(60, 8, dtype=torch.float32)
    exact = (x.double()[:, None] - x.double()).square().sum(2).sqrt()
    torch.testing.assert_close(similarities(x, kind="euclidean").double(), -exact, rtol=1e-6, atol=0)


def test_counting_sorting_and_torch_find_the_same_counts(monkeypatch):
    generator = seeded(0)
    for dtype, several in product((torch.float32, torch.float64, torch.int64), (3, 10**6)):
        rows = torch.randint(-several, several, (20, 700), generator=generator).to(dtype)
        query, item = (x.numpy() for x in (torch.rand(20, 700, generator=generator) < 0.2).nonzero(as_tuple=True))
        chosen = rows[query, item, None]
        expected = (rows[query] > chosen).sum(1), (rows[query] == chosen).sum(1)
        ways = [_ranking._count_by_torch(rows, query, item)]
        for sort in (10**9, -(10**9)):
            monkeypatch.setattr(_ranking, "SORT", sort)
            ways.append(_ranking._count(rows, query, item))
        for found in ways:
            assert all(np.array_equal(x, y.numpy()) for x, y in zip(found, expected, strict=True))


@pytest.mark.parametrize("ties", [{}, {"ties": "pessimistic"}, {"ties": "optimistic"}], ids=str)
def test_the_order_of_queries_and_of_items_does_not_matter(ties):
    for seed in range(3):
        (x, y), (g, z) = ((points("tied", n, seed), paths("ragged", n, seed)) for n in (30, 45))
        q, i = (torch.randperm(n, generator=seeded(seed)) for n in (30, 45))
        found = evaluate(x, y, gallery=g, gallery_labels=z, metrics=ALL, **ties)["per_query"]
        again = evaluate(x[q], y[q], gallery=g[i], gallery_labels=z[i], metrics=ALL, **ties)["per_query"]
        alone = evaluate(x[q], y[q], metrics=ALL, **ties)["per_query"]
        for name, values in evaluate(x, y, metrics=ALL, **ties)["per_query"].items():
            torch.testing.assert_close(again[name], found[name][q], equal_nan=True)
            torch.testing.assert_close(alone[name], values[q], equal_nan=True)


def test_an_item_is_never_its_own_partner_and_counts_once():
    x, y, item = points("distinct", 30), paths("ragged", 30), 7 * torch.arange(30, dtype=torch.int16)
    once = evaluate(x, y, metrics=ALL)
    seen = torch.cat([torch.arange(30), torch.tensor([3, 4, 4])])  # a padded sampler
    with pytest.warns(DuplicateItemsWarning, match="3 of 33 rows repeat an item of the same ids"):
        found = evaluate(x[seen], y[seen], ids=item[seen], metrics=ALL)
    assert_same_but_rows(found, once, 30)
    metric = RetrievalMetrics(ALL)
    for rows in seen.split(10):
        metric.update(x[rows], y[rows], ids=item[rows])
    assert_same_but_rows(metric.compute(), once, 30)
    with pytest.raises(ValueError, match="ids must be given with every batch"):
        metric.update(x, y)
    order = torch.randperm(30, generator=seeded(0))
    gallery = {"gallery": x[order], "gallery_labels": y[order]}
    found = evaluate(x[:9], y[:9], ids=item[:9], gallery_ids=item[order], metrics=ALL, ties="expected", **gallery)
    for name, values in found["per_query"].items():
        torch.testing.assert_close(values, once["per_query"][name][:9], equal_nan=True)
    same(evaluate(x, y, gallery=x.clone(), gallery_labels=y.clone(), metrics=ALL), once)


def assert_same_but_rows(found, once, n):
    assert {**found, "per_query": None} == {**once, "per_query": None}
    for name, values in found["per_query"].items():
        assert values[n:].isnan().all() and torch.equal(values[:n].nan_to_num(), once["per_query"][name].nan_to_num())


@pytest.mark.parametrize("tags", [False, True], ids=["classes", "tags"])
def test_copies_of_queries_are_counted(tags):
    x, y = points("distinct", 20), torch.arange(20) // 2
    x[5], x[11], x[13] = x[4], x[10], x[0]  # two pairs of one class, and one of two
    y[10:12] = -1 if not tags else y[10:12]
    y = torch.nn.functional.one_hot(y).bool() if tags else y
    with pytest.warns(DuplicateItemsWarning, match=f"{4 if tags else 2} of 20 queries have an exact copy"):
        evaluate(x, y)
    with pytest.warns(DuplicateItemsWarning, match="3 of 3 queries have an exact copy"):
        evaluate(x[:3].half(), y[:3], gallery=x.half().double(), gallery_labels=y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DuplicateItemsWarning)
        evaluate(x[:5], y[:5], ids=torch.arange(5))
        evaluate(x[:5], y[:5], gallery=x[5:10], gallery_labels=y[5:10].roll(1, 0))


class NoFloat64(TorchDispatchMode):
    """A device without float64."""

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        found = function(*arguments, **(options or {}))
        assert torch.float64 not in [x.dtype for x in tree_leaves(found) if isinstance(x, torch.Tensor)], function
        return found


@contextmanager
def default_device(name):
    try:
        torch.set_default_device(name)
        yield
    finally:
        torch.set_default_device(None)


@contextmanager
def deterministic():
    try:
        torch.use_deterministic_algorithms(True)
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("setting", [NoFloat64, lambda: default_device("meta"), deterministic])
def test_what_a_device_lacks_and_what_is_set_elsewhere_changes_nothing(setting):
    x, y, g, z = points("tied", 40), paths("ragged", 40), points("distinct", 50)[:, :12], paths("ragged", 50)
    scores, where = (
        torch.randint(0, 4, (5, 9), generator=seeded(0)).float(),
        torch.rand(5, 9, generator=seeded(1)) < 0.8,
    )
    labels = {"relevant": scores > 1, "gains": scores.flip(0), "levels": scores.flip(1).long()}
    batches = RetrievalMetrics(ALL)
    batches.update(x, y)

    def work():
        for kind in ("cosine", "dot", "euclidean"):
            yield evaluate(
                x, y, metrics=ALL, similarity=kind, where=lambda q: q[:, None] + torch.arange(40, device="cpu") > 9
            )
        yield evaluate(
            x[:, :12],
            y,
            gallery=g,
            gallery_labels=z,
            ids=torch.arange(40, device="cpu"),
            gallery_ids=torch.arange(50, device="cpu"),
            metrics=ALL,
        )
        yield batches.compute()
        for metric in METRICS.values():
            yield {"per_query": {"": metric.library(scores, labels[metric.labels], where=where)}}

    expected = list(work())
    with setting():
        found = list(work())
    for one, other in zip(found, expected, strict=True):
        for name, values in one["per_query"].items():
            assert torch.equal(values.nan_to_num(), other["per_query"][name].nan_to_num())


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


def test_two_columns_that_are_one_level_are_warned_of():
    with pytest.warns(hierarchy.FlatHierarchyWarning, match="a column 2 that splits no class of column 1"):
        evaluate(points("distinct", 20), paths("hierarchy", 20)[:, [0, 0, 1]])


def test_inverted_relevance_is_warned_of_once_and_monotone_cures_it():
    labels = torch.tensor([[1, 1]] * 9 + [[1, 2]])  # the first nine have eight leaves and one cousin
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

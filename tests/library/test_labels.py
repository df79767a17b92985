"""One reading of labels decides who is relevant, in losses and in metrics."""

import pytest
import torch
from drawn import random, refused, seeded

from rankedu import hierarchy
from rankedu.labels import check_labels, matches, same_items
from rankedu.losses import OnEmbeddings
from rankedu.metrics import evaluate_retrieval

WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)


def drawn(kind, n, seed):
    """Labels with several items of each class, some without one; or tags."""
    if kind == "tags":
        return torch.rand(n, 6, generator=seeded(seed)) < 0.2
    labels = torch.randint(0, 5, (n, 1 if kind == "classes" else 3), generator=seeded(seed))
    labels[::6, -1] = -1
    return labels[:, 0] if kind == "classes" else labels


def by_hand(own, other):
    """Whether two labels match, by the definition."""
    if isinstance(own, list) and isinstance(own[0], bool):
        return any(a and b for a, b in zip(own, other, strict=True))
    own, other = ([x] if isinstance(x, int) else x for x in (own, other))
    return own == other and own[-1] >= 0


@pytest.mark.parametrize("kind", ["classes", "paths", "tags"])
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_losses_and_metrics_find_the_same_items_relevant(kind):
    for seed in range(5):
        x, g = random(12, 4, seed=seed), random(15, 4, seed=seed + 50)
        y, z = (check_labels(drawn(kind, len(rows), seed + len(rows)), rows) for rows in (x, g))
        found = matches(y, z)
        assert found.tolist() == [[by_hand(own, other) for other in z.tolist()] for own in y.tolist()]
        if kind != "tags":
            assert torch.equal(found, hierarchy.levels(y, z) == (1 if kind == "classes" else 3))
            seen = OnEmbeddings(lambda scores, relevance, where: relevance)(x, y, ref_emb=g, ref_labels=z)
            assert torch.equal(seen, found)
        for j in range(15):  # a query without a relevant candidate has no AP
            result = evaluate_retrieval(x, y, gallery=g[[j]], gallery_labels=z[[j]], metrics=("ap",))
            assert torch.equal(~result["per_query"]["ap"][:, -1].isnan(), found[:, j])


def test_labels_of_any_dtypes_compare_exactly_or_are_refused():
    rows, labels = torch.zeros(4, 2), torch.tensor([3, 5, 3, 0])
    for dtype in WHOLE:
        assert torch.equal(check_labels(labels.to(dtype), rows), labels)
        assert check_labels(torch.stack([labels, labels], 1).to(dtype), rows).dtype == torch.int64
        if dtype.is_floating_point:
            most = int(2 / torch.finfo(dtype).eps)
            assert check_labels(torch.full((4,), most - 1, dtype=dtype), rows)[0] == most - 1
            rounded = torch.full((4,), most + 1).to(dtype)  # is equal to its neighbour
            refused((lambda y=rounded: check_labels(y, rows), TypeError, f"whole numbers below {most}"))
    large = (1 << 60) + labels
    assert matches(check_labels(large, rows), check_labels(large, rows)).sum() == 6
    assert not matches(check_labels(large, rows), check_labels(large + 1, rows)).any()


def test_labels_that_do_not_fit_are_refused():
    rows, of_tags = torch.zeros(3, 2), torch.eye(3).bool()
    known = torch.tensor([0, 1, 2])
    refused(
        (lambda: check_labels(known[:2], rows), ValueError, r"labels must have shape \(3,\) or \(3, L\).*\(2,\)"),
        (lambda: check_labels(known == 1, rows), ValueError, r"labels of bool .* \(n, C\), a column a class"),
        (lambda: check_labels(known - 2, rows), ValueError, "labels must be >= 0, or -1 for no label .*got -2"),
        (lambda: check_labels(of_tags, rows, name="ref_labels", like=known), TypeError, "ref_labels .* kind of labels"),
        (lambda: check_labels(known, rows, like=torch.stack([known] * 2, 1)), ValueError, "have 2 columns as labels"),
        (lambda: check_labels(known[:, None], rows, like=known), ValueError, "have one number for each item as labels"),
        (
            lambda: check_labels(torch.tensor([[1, -1, 2]] * 3), rows),
            ValueError,
            r"end where .*\[1, -1, 2\] at index 0",
        ),
    )


def test_a_gallery_that_equals_the_queries_is_found_in_any_dtype():
    x, y = random(6, 3).half(), torch.arange(6)
    for other in (x, x.clone(), x.float()):
        assert same_items(x, y, other, y.clone())
    for other, labels in ((x + 1, y), (x, y.flip(0)), (x[:4], y[:4])):
        assert not same_items(x, y, other, labels)

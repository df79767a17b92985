"""Cross-scale learning against its definition; with one level it is CosFace."""

import pytest
import torch
from drawn import DEVICES, random
from pytorch_metric_learning.losses import CosFaceLoss
from torch.nn.functional import normalize

from rankedu.losses import CSLLoss

nan, inf = float("nan"), float("inf")
#: The last class stands alone; a leaf id is used under two parents.
CLASSES = torch.tensor([[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 3], [1, 2, 0], [1, 2, 4], [2, 3, 5]])


def csl(classes=CLASSES, dim=6, dtype=torch.float64, **setting):
    loss = CSLLoss(classes, dim, **setting).to(dtype)
    loss.proxies.data = random(len(classes), dim, seed=1, dtype=dtype)
    return loss


def definition(embeddings, labels, proxies, classes, margins, scale):
    """Item by item, level by level, pair by pair."""
    total = 0.0
    for v, path in zip(embeddings, labels.tolist(), strict=True):
        cosines = [v @ p / (v.norm() * p.norm()) for p in proxies]
        for level, margin in enumerate(margins, start=1):
            pairs = torch.zeros((), dtype=torch.float64)
            for s_p, own in zip(cosines, classes.tolist(), strict=True):
                if own != path:
                    continue
                for s_n, other in zip(cosines, classes.tolist(), strict=True):
                    if other[:level] != path[:level]:
                        pairs = pairs + torch.exp(scale * (s_n - s_p + margin))
            total = total + torch.log1p(pairs)
    return total / len(embeddings)


SETTINGS = {
    "three levels": (CLASSES, None, (0.45, 0.35, 0.25)),
    "two levels": (CLASSES[:, :2].unique(dim=0), None, (0.45, 0.25)),
    "one level": (CLASSES[:, :1].unique(dim=0), None, (0.25,)),
    "other margins": (CLASSES, [0.0, 0.1, 0.2], (0.0, 0.1, 0.2)),
}


@pytest.mark.parametrize("scale", [1.0, 32.0])
@pytest.mark.parametrize(("classes", "margins", "expected_margins"), SETTINGS.values(), ids=SETTINGS)
def test_value_and_gradient_are_the_definition(classes, margins, expected_margins, scale):
    loss = csl(classes, margins=margins, scale=scale)
    labels = classes[torch.tensor([0, 0, 1, 2, 1])]
    mine, theirs = (random(5, 6).requires_grad_() for _ in range(2))
    proxies = loss.proxies.detach().clone().requires_grad_()
    expected = definition(theirs, labels, proxies, classes, expected_margins, scale)
    torch.testing.assert_close(loss(mine, labels), expected)
    (3 * loss(mine, labels)).backward()
    expected.backward()
    torch.testing.assert_close(mine.grad, 3 * theirs.grad)
    torch.testing.assert_close(loss.proxies.grad, 3 * proxies.grad)


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_with_one_level_it_is_the_softmax_with_an_additive_margin(margin):
    loss = csl(torch.arange(5), margins=[margin], dtype=torch.float32)
    oracle = CosFaceLoss(num_classes=5, embedding_size=6, margin=margin, scale=32)
    oracle.W.data = normalize(loss.proxies.data, dim=1).T.clone()
    embeddings, labels = random(7, 6, dtype=torch.float32), torch.tensor([0, 2, 4, 4, 1, 0, 2])
    torch.testing.assert_close(loss(embeddings, labels), oracle(embeddings, labels))


def test_cousins_push_at_the_fine_level_only():
    """Seven proxies at right angles: a cousin's weight is the same at any coarse margin, a stranger's grows with it."""
    near, far = (csl(dim=7, margins=[coarse, 0.1, 0.1], scale=1.0) for coarse in (0.1, 0.9))
    slopes = []
    for loss in (near, far):
        loss.proxies.data = torch.eye(7, dtype=torch.float64)
        embeddings = torch.ones(1, 7, dtype=torch.float64).requires_grad_()
        loss(embeddings, CLASSES[:1]).backward()
        slopes.append(loss.proxies.grad.norm(dim=1))
    torch.testing.assert_close(slopes[0][1:4], slopes[1][1:4])
    assert (slopes[1][4:] > 1.01 * slopes[0][4:]).all() and (slopes[0][2:4] > slopes[0][1]).all()


def test_a_level_without_negatives_adds_nothing():
    """All classes have one root: only the leaves are told apart."""
    both, fine = csl(CLASSES[:2]), csl(torch.tensor([0, 1]))
    embeddings = random(3, 6).requires_grad_()
    labels = CLASSES[torch.tensor([0, 1, 1])]
    torch.testing.assert_close(both(embeddings, labels), fine(embeddings, torch.tensor([0, 1, 1])))
    both(embeddings, labels).backward()
    assert embeddings.grad.isfinite().all() and embeddings.grad.any()
    alone = csl(CLASSES[:1])
    value = alone(embeddings, CLASSES[:1].expand(3, 3))
    value.backward()
    assert value.item() == 0 and not alone.proxies.grad.any()


def test_lengths_and_the_order_of_classes_do_not_matter():
    loss, embeddings, labels = csl(), random(4, 6), CLASSES[[0, 6, 3, 3]]
    expected = loss(embeddings, labels)
    turned = csl(CLASSES.flip(0))
    turned.proxies.data = 5 * loss.proxies.data.flip(0)
    torch.testing.assert_close(turned(0.1 * embeddings, labels), expected)


def test_far_scores_do_not_overflow():
    loss = csl(dtype=torch.float32, scale=1e4)
    value = loss(random(4, 6, dtype=torch.float32).requires_grad_(), CLASSES[[0, 6, 3, 3]])
    value.backward()
    assert value.isfinite() and loss.proxies.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_embeddings_are_compared_in_32(dtype):
    loss, embeddings = csl(dtype=torch.float32), random(7, 6, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(loss(embeddings, CLASSES), loss(embeddings.float(), CLASSES))


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(device):
    expected = csl()(random(7, 6), CLASSES)
    torch.testing.assert_close(csl().to(device)(random(7, 6).to(device), CLASSES.to(device)).cpu(), expected)


@pytest.mark.parametrize(("n_levels", "margins"), [(1, [0.25]), (2, [0.45, 0.25]), (3, [0.45, 0.35, 0.25])])
def test_published_margins(n_levels, margins):
    assert CSLLoss(torch.arange(n_levels).unsqueeze(0), 2).margins == pytest.approx(margins)


loss, e = csl(), random(2, 6)
BAD = {
    "unknown": (lambda: loss(e, CLASSES[:2] + 9), ValueError, r"labels must be among class_labels, got \[9, 9, 9\]"),
    "ended": (lambda: loss(e, torch.tensor([[0, 0, 0], [0, 0, -1]])), ValueError, r"got \[0, 0, -1\] at index 1"),
    "levels": (lambda: loss(e, CLASSES[:2, :2]), ValueError, r"shape \(batch, 3\) as class_labels, got \(2, 2\)"),
    "flat": (lambda: loss(e, CLASSES[:2, 0]), ValueError, r"shape \(batch, 3\) as class_labels, got \(2,\)"),
    "dim": (lambda: loss(e[:, :4], CLASSES[:2]), ValueError, r"shape \(batch, 6\), got \(2, 4\)"),
    "NaN": (lambda: loss(e * nan, CLASSES[:2]), ValueError, "embeddings must be finite, .* got nan in row 0"),
    "twice": (lambda: CSLLoss(CLASSES[[0, 1, 0]], 6), ValueError, "name each class once, got 3 rows of 2 classes"),
    "no leaf": (lambda: CSLLoss(torch.tensor([[0, 1], [2, -1]]), 6), ValueError, r"a leaf in every row, got \[2, -1\]"),
    "no paths": (lambda: CSLLoss(CLASSES / 2, 6), TypeError, "class_labels must be integer"),
    "margins": (
        lambda: CSLLoss(CLASSES, 6, [0.1]),
        ValueError,
        r"margins must be 3 finite numbers >= 0, .* got \[0.1\]",
    ),
    "negative": (lambda: CSLLoss(CLASSES, 6, [0.1, 0.1, -1.0]), ValueError, "margins must be 3 finite numbers >= 0"),
    "scale": (lambda: CSLLoss(CLASSES, 6, scale=0.0), ValueError, "scale must be finite and > 0, got 0.0"),
    "dims": (lambda: CSLLoss(CLASSES, 0), ValueError, "dim must be >= 1, got 0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()

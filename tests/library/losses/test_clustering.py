"""The clustering loss against its definition and pytorch-metric-learning's normalised softmax."""

import math

import pytest
import torch
from drawn import DEVICES, random
from pytorch_metric_learning.losses import NormalizedSoftmaxLoss

from rankedu.losses import ClusterLoss

nan = float("nan")
LABELS = torch.tensor([0, 2, 4, 4, 1, 0, 2])


def cluster(n_classes=5, dim=6, dtype=torch.float64, **setting):
    loss = ClusterLoss(n_classes, dim, **setting).to(dtype)
    loss.proxies.data = random(n_classes, dim, seed=1, dtype=dtype)
    return loss


def eq_6(embeddings, labels, proxies, temperature):
    """Item by item and proxy by proxy."""
    total = 0.0
    for v, y in zip(embeddings, labels.tolist(), strict=True):
        cosines = [v @ p / (v.norm() * p.norm()) for p in proxies]
        total = total - torch.log(
            torch.exp(cosines[y] / temperature) / sum(torch.exp(c / temperature) for c in cosines)
        )
    return total / len(embeddings)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 3.0])
def test_value_and_gradient_are_eq_6(temperature):
    loss, mine, theirs = cluster(temperature=temperature), *(random(7, 6).requires_grad_() for _ in range(2))
    proxies = loss.proxies.detach().clone().requires_grad_()
    expected = eq_6(theirs, LABELS, proxies, temperature)
    torch.testing.assert_close(loss(mine, LABELS), expected)
    (3 * loss(mine, LABELS)).backward()
    expected.backward()
    torch.testing.assert_close(mine.grad, 3 * theirs.grad)
    torch.testing.assert_close(loss.proxies.grad, 3 * proxies.grad)


def test_it_is_the_normalised_softmax():
    loss = cluster(dtype=torch.float32)
    oracle = NormalizedSoftmaxLoss(num_classes=5, embedding_size=6, temperature=0.05)
    oracle.W.data = loss.proxies.data.T.clone()
    embeddings = random(7, 6, dtype=torch.float32)
    torch.testing.assert_close(loss(embeddings, LABELS), oracle(embeddings, LABELS))


def test_lengths_do_not_matter():
    loss, embeddings = cluster(), random(7, 6)
    expected = loss(embeddings, LABELS)
    loss.proxies.data *= torch.arange(1.0, 6.0, dtype=torch.float64).unsqueeze(1)
    torch.testing.assert_close(loss(7 * embeddings, LABELS), expected)


def test_the_leaf_of_a_path_counts():
    loss, embeddings = cluster(), random(7, 6)
    parents = torch.tensor([3, 8, 3, 3, 8, 3, 8])
    assert torch.equal(loss(embeddings, torch.stack([parents, LABELS], dim=1)), loss(embeddings, LABELS))
    assert torch.equal(loss(embeddings, LABELS.to(torch.uint8)), loss(embeddings, LABELS))


def test_one_class_is_zero():
    loss, embeddings = ClusterLoss(1, 6), random(3, 6, dtype=torch.float32).requires_grad_()
    value = loss(embeddings, torch.zeros(3, dtype=torch.int64))
    value.backward()
    assert value.item() == 0 and not embeddings.grad.any() and not loss.proxies.grad.any()


def test_all_at_their_proxies_leaves_what_the_temperature_says():
    loss = ClusterLoss(4, 4, temperature=0.5)
    loss.proxies.data = torch.eye(4)
    assert loss(3 * torch.eye(4), torch.arange(4)).item() == pytest.approx(math.log(1 + 3 * math.exp(-2)), rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_embeddings_are_compared_in_32(dtype):
    loss, embeddings = cluster(dtype=torch.float32), random(7, 6, dtype=dtype).requires_grad_()
    assert torch.equal(loss(embeddings, LABELS), loss(embeddings.detach().float(), LABELS))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(loss(embeddings, LABELS), loss(embeddings.detach().float(), LABELS))
    loss(embeddings, LABELS).backward()
    assert embeddings.grad.dtype == dtype


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(device):
    expected = cluster()(random(7, 6), LABELS)
    torch.testing.assert_close(cluster().to(device)(random(7, 6).to(device), LABELS.to(device)).cpu(), expected)


def test_proxies_are_drawn_as_a_linear_layer_draws():
    torch.manual_seed(0)
    proxies = ClusterLoss(500, 16).proxies
    assert isinstance(proxies, torch.nn.Parameter) and proxies.shape == (500, 16)
    assert proxies.abs().max() <= 0.25 and proxies.std().item() == pytest.approx(0.25 / math.sqrt(3), rel=0.02)
    assert repr(ClusterLoss(5, 6)) == "ClusterLoss(n_classes=5, dim=6, temperature=0.05)"


loss, e = cluster(), random(2, 6)
paths = torch.tensor([[0, 1], [5, 1]])
BAD = {
    "bools": (lambda: loss(e, paths[:, 0].bool()), TypeError, "labels must be integers, got torch.bool"),
    "too large": (lambda: loss(e, paths[:, 0]), ValueError, r"labels must be class ids .* n_classes - 1 = 4, got 5"),
    "negative": (lambda: loss(e, -paths[:, 0]), ValueError, r"labels must be class ids .* n_classes - 1 = 4, got -5"),
    "ended": (lambda: loss(e, torch.tensor([[0, 1], [2, -1]])), ValueError, r"n_classes - 1 = 4, got -1"),
    "parents": (lambda: loss(e, paths), ValueError, "each leaf under one parent, got leaf 1 under several .*unique"),
    "dim": (lambda: loss(e[:, :4], paths[:, 1]), ValueError, r"shape \(batch, 6\), got \(2, 4\)"),
    "NaN": (lambda: loss(e * nan, paths[:, 1]), ValueError, "embeddings must be finite, .* got nan in row 0"),
    "n_classes": (lambda: ClusterLoss(0, 6), ValueError, "n_classes must be >= 1, got 0"),
    "dims": (lambda: ClusterLoss(5, 0), ValueError, "dim must be >= 1, got 0"),
    "temperature": (lambda: ClusterLoss(5, 6, 0.0), ValueError, "temperature must be finite and > 0, got 0.0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()

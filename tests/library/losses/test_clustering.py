"""The clustering loss against its definition and pytorch-metric-learning's normalised softmax."""

import math

import pytest
import torch
from drawn import random, value_and_gradients
from pytorch_metric_learning.losses import NormalizedSoftmaxLoss

from rankedu.losses import ClusterLoss

LABELS = torch.tensor([0, 2, 4, 4, 1, 0, 2])


def eq_6(embeddings, proxies, temperature):
    """Item by item and proxy by proxy."""
    total = 0.0
    for v, y in zip(embeddings, LABELS.tolist(), strict=True):
        cosines = [v @ p / (v.norm() * p.norm()) for p in proxies]
        shares = [torch.exp(c / temperature) for c in cosines]
        total = total - torch.log(shares[y] / sum(shares))
    return total / len(embeddings)


def test_value_and_gradient_are_eq_6():
    embeddings, proxies = random(7, 6), random(5, 6, seed=1)
    for temperature in (0.05, 0.5, 3.0):
        loss = ClusterLoss(5, 6, temperature=temperature)

        def ours(e, p, loss=loss):
            return torch.func.functional_call(loss, {"proxies": p}, (e, LABELS))

        found = value_and_gradients(ours, embeddings, proxies, weight=3.0)
        expected = value_and_gradients(lambda e, p, t=temperature: eq_6(e, p, t), embeddings, proxies, weight=3.0)
        torch.testing.assert_close(found, expected)
    oracle = NormalizedSoftmaxLoss(num_classes=5, embedding_size=6, temperature=3.0)
    oracle.W.data = proxies.T.float()
    torch.testing.assert_close(found[0].float(), oracle(embeddings.float(), LABELS))


def test_the_leaf_of_a_path_counts():
    loss, embeddings, parents = ClusterLoss(5, 6).double(), random(7, 6), torch.tensor([3, 8, 3, 3, 8, 3, 8])
    assert torch.equal(loss(embeddings, torch.stack([parents, LABELS], dim=1)), loss(embeddings, LABELS))
    assert torch.equal(loss(embeddings, LABELS.to(torch.uint8)), loss(embeddings, LABELS))


def test_one_class_is_zero():
    loss, embeddings = ClusterLoss(1, 6), random(3, 6, dtype=torch.float32).requires_grad_()
    value = loss(embeddings, torch.zeros(3, dtype=torch.int64))
    value.backward()
    assert value.item() == 0 and not embeddings.grad.any() and not loss.proxies.grad.any()


def test_proxies_are_drawn_as_a_linear_layer_draws():
    torch.manual_seed(0)
    proxies = ClusterLoss(500, 16).proxies
    assert isinstance(proxies, torch.nn.Parameter) and proxies.shape == (500, 16)
    assert proxies.abs().max() <= 0.25 and proxies.std().item() == pytest.approx(0.25 / math.sqrt(3), rel=0.02)

"""What chapter 20 computes: SOAP as released, gradients in two passes, averages of counts."""

import numpy as np
import torch

from rankedu_book.ch20_large_batches_and_memories import batches, figures
from rankedu_book.kit import style


def test_soap_with_nothing_remembered_is_the_gradient_of_minus_the_quotient():
    y = torch.randn(7, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    relevant = torch.tensor([1, 0, 0, 1, 0, 1, 0]).bool()
    hinge = (1 - (y[relevant, None] - y)).clamp(min=0).square()
    value = -(hinge[:, relevant].sum(1) / hinge.sum(1)).mean()
    moved, weights = batches.released_soap(y.tolist(), relevant.tolist(), [(9.0, 9.0)] * 3, gamma=1.0)
    weighted = (torch.tensor(weights) * hinge).mean()  # the loss that is released: a mean over all pairs
    found, expected = (torch.autograd.grad(one, y, retain_graph=True)[0] for one in (weighted, value))
    assert torch.allclose(found, expected)
    half, _ = batches.released_soap(y.tolist(), relevant.tolist(), [(9.0, 9.0)] * 3, gamma=0.5)
    assert np.allclose(half, (np.array(moved) + 9) / 2)


def test_two_passes_give_the_gradient_of_the_whole_batch_for_parts_of_any_size():
    torch.manual_seed(0)
    network, items = (
        torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)),
        torch.randn(11, 5),
    )

    def loss(z):
        return (z @ z.T).logsumexp(1).mean()  # every item depends on every other one

    loss(network(items)).backward()
    whole = [one.grad.clone() for one in network.parameters()]
    for sizes in ([11], [4, 4, 3], [1] * 11):
        network.zero_grad()
        batches.in_two_passes(network, items.split(sizes), loss)
        assert all(
            torch.allclose(one.grad, right, atol=1e-6) for one, right in zip(network.parameters(), whole, strict=True)
        )


def test_scaled_counts_are_right_in_the_mean_and_an_average_varies_less():
    plain = batches.averaged_ranks(1.0, steps=20_000)
    assert abs(plain.mean() - 31) < 4 * plain.std() / 20_000**0.5
    assert np.mean(1 / plain) > 2 / 31, "the mean of inverses is not the inverse of the mean"
    slow = batches.averaged_ranks(0.05, steps=20_000)[200:]
    assert slow.std() < plain.std() / 5 and np.mean(1 / slow) < 1.1 / 31
    assert "the true rank, 31" in style.description(figures.averages())

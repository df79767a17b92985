"""The error-driven AP loss: against its definition pair by pair, and what its update is not."""

from itertools import permutations, product

import pytest
import torch
from drawn import coin, gradient, random

from rankedu._fast import tiles
from rankedu.metrics import average_precision
from ranklab.contestants import ErrorDrivenAPLoss

nan, inf = float("nan"), float("inf")


def step(x, delta):
    if delta == 0:
        return 0.5 if x == 0 else float(x > 0)
    return min(max(x / (2 * delta) + 0.5, 0.0), 1.0)


def definition(y, positive, delta):
    """The value and the update of one list, by the sums over i, j and k."""
    y, n = y.tolist(), len(y)
    P, N = ([i for i in range(n) if bool(positive[i]) is kind] for kind in (True, False))
    error = {}
    for i in P:
        denominator = 1 + sum(step(y[k] - y[i], delta) for k in range(n) if k != i)
        error[i] = {j: step(y[j] - y[i], delta) / denominator for j in N}
    update = torch.zeros(n, dtype=torch.float64)
    for i, j in product(P, N):
        update[j] += error[i][j] / len(P)
        update[i] -= error[i][j] / len(P)
    return sum(sum(row.values()) for row in error.values()) / len(P), update


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("tile", [1, 30, 1 << 20])
def test_value_and_update_are_the_definition(monkeypatch, delta, ties, tile):
    monkeypatch.setitem(tiles.TILE, "cpu", tile)
    for seed, p in product(range(3), (0.1, 0.4, 0.9)):
        y, relevance = random(17, seed=seed), coin(17, seed=seed + 5, p=p)
        relevance[seed] = True
        y = (2 * y).round() / 2 if ties else y
        value, update = definition(y, relevance, delta)
        loss = ErrorDrivenAPLoss(delta)
        assert abs(loss(y, relevance).item() - value) < 1e-12
        torch.testing.assert_close(gradient(loss, y, relevance), update, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-9])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_without_width_it_is_average_precision(delta, n):
    loss = ErrorDrivenAPLoss(delta)
    orders = torch.tensor(list(permutations(range(n))), dtype=torch.float64)
    for p in range(1, n + 1):
        relevance = (torch.arange(n) < p).expand_as(orders)
        found = torch.stack([loss(y, r) for y, r in zip(orders, relevance, strict=True)])
        torch.testing.assert_close(found, 1 - average_precision(orders, relevance), rtol=0, atol=1e-7)


@pytest.mark.parametrize("delta", [0.0, 0.3, 1.0])
def test_update_sums_to_zero_and_is_bounded(delta):
    y, relevance = random(3, 40), coin(3, 40)
    found = gradient(ErrorDrivenAPLoss(delta), y, relevance)
    assert found.any() and found.sum(-1).abs().max() < 1e-12
    count = 3 * relevance.sum(-1, keepdim=True)
    assert ((found <= 0) | ~relevance).all() and ((found >= 0) | relevance).all()
    assert (found >= -1 / count).all()


@pytest.mark.parametrize("delta", [0.0, 0.1, 1.0])
def test_separation_beyond_delta_is_the_fixed_point(delta):
    relevance = torch.arange(6) < 3
    apart = torch.where(relevance, delta + 1e-3, 0.0) + torch.tensor([2.0, 0.0, 1.0, 0.0, -1.0, -3.0])
    loss = ErrorDrivenAPLoss(delta)
    assert loss(apart, relevance).item() == 0 and not gradient(loss, apart, relevance).any()
    if delta:
        closer = apart - 0.01 * relevance
        assert loss(closer, relevance).item() > 0 and gradient(loss, closer, relevance).any()


def test_descent_ends_at_the_fixed_point():
    loss, relevance = ErrorDrivenAPLoss(0.5), torch.arange(12) >= 8
    y = torch.linspace(1, -1, 12, dtype=torch.float64)  # the relevant ones are last
    assert loss(y, relevance).item() > 0.5
    for _ in range(400):
        y = y - 0.5 * gradient(loss, y, relevance)
    assert loss(y, relevance).item() < 1e-12
    assert y[relevance].min() - y[~relevance].max() > 0.5 - 1e-6


def test_update_is_not_the_gradient_of_the_value():
    y, relevance = torch.tensor([0.9, 0.5, 0.1], dtype=torch.float64), torch.tensor([False, True, False])
    loss = ErrorDrivenAPLoss(0.01)
    assert loss(y + 0.01 * random(3), relevance) == loss(y, relevance)  # the value is flat here
    torch.testing.assert_close(gradient(loss, y, relevance), torch.tensor([0.5, -0.5, 0.0]).double())


def test_update_is_the_gradient_of_no_function():
    y, relevance = random(5), torch.tensor([False, True, False, True, False])
    loss, move = ErrorDrivenAPLoss(2.0), 1e-6 * torch.eye(5, dtype=torch.float64)
    up, down = (torch.stack([gradient(loss, y + s * e, relevance) for e in move]) for s in (1, -1))
    jacobian = (up - down) / 2e-6
    assert (jacobian - jacobian.T).abs().max() > 0.01


def test_infinite_scores():
    y, relevance = torch.tensor([inf, inf, 0.0, -inf, -inf]), torch.tensor([True, False, False, True, False])
    for delta in (0.0, 1.0):
        tied = torch.tensor([9.0, 9.0, 0.0, -9.0, -9.0])
        loss = ErrorDrivenAPLoss(delta)
        assert torch.equal(loss(y, relevance), loss(tied, relevance))
        assert torch.equal(gradient(loss, y, relevance), gradient(loss, tied, relevance))


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {"delta": (lambda: ErrorDrivenAPLoss(-1), ValueError, r"delta must be finite and >= 0, got -1.0")}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()

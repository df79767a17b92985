"""The error-driven AP loss: against its definition pair by pair, and what its update is not."""

from itertools import product

import pytest
import torch
from drawn import coin, gradient, random

from rankedu import pairs
from rankedu_lab.contestants import ErrorDrivenAPLoss

inf = float("inf")


def definition(y, positive, delta):
    """The value and the update of one list, by the sums over i, j and k."""

    def step(x):
        if delta == 0:
            return 0.5 if x == 0 else float(x > 0)
        return min(max(x / (2 * delta) + 0.5, 0.0), 1.0)

    y, n, update = y.tolist(), len(y), torch.zeros(len(y), dtype=torch.float64)
    P, N = ([i for i in range(n) if bool(positive[i]) is kind] for kind in (True, False))
    for i in P:
        denominator = 1 + sum(step(y[k] - y[i]) for k in range(n) if k != i)
        for j in N:
            error = step(y[j] - y[i]) / denominator / len(P)
            update[j] += error
            update[i] -= error
    return update[N].sum(), update


@pytest.mark.parametrize("tile", [1, 30, 1 << 20])
def test_value_and_update_are_the_definition(monkeypatch, tile):
    monkeypatch.setitem(pairs.CHUNK, "cpu", tile)
    for delta, ties, (seed, p) in product((0.0, 0.01, 0.5, 10.0), (False, True), ((0, 0.1), (1, 0.4), (2, 0.9))):
        y, relevance = random(17, seed=seed), coin(17, seed=seed + 5, p=p)
        relevance[seed] = True
        y = (2 * y).round() / 2 if ties else y
        value, update = definition(y, relevance, delta)
        loss, case = ErrorDrivenAPLoss(delta), f"{delta=} {ties=} {seed=}"
        assert abs(loss(y, relevance).item() - value) < 1e-12, case
        torch.testing.assert_close(gradient(loss, y, relevance), update, rtol=1e-12, atol=1e-12, msg=case)
    y, relevance = torch.tensor([inf, inf, 0.0, -inf, -inf]), torch.tensor([True, False, False, True, False])
    assert ErrorDrivenAPLoss(0.0)(y, relevance) == ErrorDrivenAPLoss(0.0)(y.clamp(-9, 9), relevance)

"""Every ranker of the table is held to its word: to what it promises, and to what it says that it does not keep."""

from itertools import product

import pytest
import torch
from drawn import DEVICES, DTYPES, random, refused, value_and_gradients

from rankedu import rank, rankers
from rankedu.blackbox import interpolate
from rankedu.rankers.base import Ranker
from rankedu.rankers.pairwise import PairwiseRanker
from rankedu_book.kit.known_rankers import PROMISES, RANKERS, Strength, register, turnable
from rankedu_lab import contestants
from rankedu_lab.contestants import equivariance_error

N = 7
every_ranker = pytest.mark.parametrize("name", RANKERS)


def example(name):
    torch.manual_seed(1)  # of a network's weights
    return RANKERS[name].example(N)


def near(*shape):
    """Scores near enough to each other that every ranker has something to smooth."""
    return 0.4 * random(*shape)


@every_ranker
def test_shape_and_dtype_are_those_of_the_scores_and_rows_do_not_know_of_each_other(name):
    for dtype, shape in product(DTYPES, ((N,), (3, N), (2, 3, N))):
        ranks, slope = value_and_gradients(example(name), near(*shape).to(dtype), weight=random(*shape, seed=1))
        assert ranks.shape == shape and ranks.dtype == torch.promote_types(dtype, torch.float32)
        assert slope.dtype == dtype and slope.isfinite().all() and slope.any()
    ranker = example(name)
    torch.testing.assert_close(ranker(near(4, N)), torch.stack([ranker(row) for row in near(4, N)]))


@every_ranker
@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(name, device):
    scores, members, results = near(3, N), torch.ones(3, N, dtype=torch.bool), []
    for there in ("cpu", device):
        ranker, y = example(name).to(there), scores.to(there)
        results.append((ranker(y), ranker.among(y, members.to(there))))
        assert {found.device.type for found in results[-1]} == {there}
    torch.testing.assert_close(tuple(found.cpu() for found in results[1]), results[0])


@every_ranker
def test_a_promise_is_kept_and_who_is_excused_has_a_reason_and_needs_it(name):
    for promise in PROMISES:
        excuse = RANKERS[name].breaks.get(promise)
        assert excuse is None or excuse, f"say why it breaks {promise}"
        assert bool(KEEPS[promise](example(name))) == (excuse is None), f"{promise}: {excuse or 'it is promised'}"


@pytest.mark.parametrize("name", turnable())
def test_the_weakest_is_exact_and_the_strongest_is_not(name):
    """Ranks, or, of a ranker whose ranks are always exact, the function that its gradient belongs to."""
    strength, scores, c = turnable()[name], near(20, N), random(N, seed=1)
    values = []
    for turned in (strength.weakest, strength.usual, strength.strongest):
        ranker = strength.make(turned)
        of_ranks = interpolate(rank, c, turned) if name == "blackbox" else lambda y, ranker=ranker: ranker(y) @ c
        values.append(of_ranks(scores))
    off = [(value - rank(scores).double() @ c).abs().mean().item() for value in values]
    assert off[0] < 0.02 < off[1] < off[2] and off[2] > 0.4


def keeps_order(ranker):
    scores = near(50, N)
    return (ranker(scores).gather(-1, scores.argsort(-1, descending=True)).diff() >= -1e-9).all()


def keeps_sum(ranker):
    return torch.allclose(ranker(near(50, N)).sum(-1), torch.tensor(N * (N + 1) / 2, dtype=torch.float64))


def keeps_reordering(ranker):
    return equivariance_error(ranker, near(20, N)) < 1e-9


def keeps_shift(ranker):
    scores = near(20, N)
    return torch.allclose(ranker(scores + 0.123), ranker(scores), atol=1e-9)


def keeps_where(ranker):
    """As if who is left out were not there, whatever his score; and the same among members."""
    scores, inside = near(N), torch.arange(N) % 3 > 0
    hidden = scores.masked_fill(~inside, torch.nan).requires_grad_()
    try:
        ranks, among = ranker(hidden, where=inside), ranker.among(scores, inside)
        alone = ranker(scores[inside])
        among_alone = ranker.among(scores[inside], inside[inside])
    except ValueError:
        return False
    ranks.sum().backward()
    still = hidden.grad.isfinite().all() and not hidden.grad[~inside].any()
    right = torch.allclose(ranks[inside], alone) and torch.allclose(among[inside], among_alone)
    return right and still and not ranks[~inside].any() and not among[~inside].any()


def keeps_slope(ranker):
    """Central differences of the ranks that are returned, for a random incoming gradient."""
    scores, c, step = near(N), random(N, seed=1), 1e-6
    leaf = scores.clone().requires_grad_()
    (ranker(leaf) @ c).backward()
    moves = step * torch.eye(N, dtype=torch.float64)
    with torch.no_grad():
        differences = (ranker(scores + moves) - ranker(scores - moves)) @ c / (2 * step)
    return torch.allclose(leaf.grad, differences, rtol=1e-4, atol=1e-6)


KEEPS = {name.removeprefix("keeps_"): test for name, test in globals().items() if name.startswith("keeps_")}


def test_every_ranker_is_in_the_table():
    for part in (rankers, contestants):
        offered = [getattr(part, name) for name in part.__all__]
        known = {known.ranker for known in RANKERS.values() if known.ranker.__module__.startswith(part.__name__)}
        rankers_of_it = {value for value in offered if isinstance(value, type) and issubclass(value, Ranker)}
        assert rankers_of_it - {Ranker, PairwiseRanker} == known, f"register it for {part.__name__}"
    assert set(KEEPS) == set(PROMISES)


def test_a_row_that_cannot_be_is_refused():
    kind, turn = rankers.SigmoidRanker, Strength("τ", 1e-4, 0.1, 30.0, rankers.SigmoidRanker)
    refused(
        (lambda: register("sigmoid", kind, turn), ValueError, "name must be new, got 'sigmoid', .*Sigmoid"),
        (lambda: register("new", kind, turn, breaks={"limit": "…"}), ValueError, "breaks .* order, .*slope, got limit"),
        (lambda: Strength("τ", 1.0, 0.1, 30.0, kind), ValueError, "0 < weakest < usual .* 1.0, 0.1, 30.0"),
    )
    assert "new" not in RANKERS

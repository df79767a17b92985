"""The propositions of chapter 10 on random lists within their hypotheses, and a failure without each of these."""

from itertools import product

import numpy as np
import pytest
import torch
from drawn import gradient
from sklearn.metrics import average_precision_score

from rankedu import rank
from rankedu.losses import FastAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker
from rankedu_book.ch10_fastap_histograms import study


def drawn(n=6, bins=4, draws=40):
    """Scores strictly between centres, and who is relevant, one at least."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(draws):
        place = torch.randint(bins, (n,), generator=generator) + 0.05 + 0.9 * torch.rand(n, generator=generator)
        relevant = torch.rand(n, generator=generator) < 0.4
        relevant[0] = True
        yield 1 - place.double() * 2 / bins, relevant


def expected_rank(scores, bins, independent=True, ties=("min", "max")):
    place = (1 - scores) * bins / 2
    upper, share = place.floor(), place % 1
    if independent:
        falls = torch.tensor(list(product((False, True), repeat=len(scores))))
        chance = torch.where(falls, share, 1 - share).prod(1)
    else:  # one coin for all: an item falls if the coin is below its share
        ends = torch.cat([torch.zeros(1), share.sort().values, torch.ones(1)])
        falls, chance = (ends[:-1, None] + ends[1:, None]) / 2 < share, ends.diff()
    ranks = torch.stack([rank(-(upper + falls), ties=tie).double() for tie in ties]).mean(0)
    return (chance[:, None] * ranks).sum(0)


@pytest.mark.parametrize(
    ("without", "holds"), [({}, True), ({"independent": False}, False), ({"ties": ("max",)}, False)]
)
def test_the_soft_rank_is_that_of_independent_coins_and_shared_ranks(without, holds):
    same = [torch.allclose(HistogramRanker(4)(y), expected_rank(y, 4, **without)) for y, _ in drawn()]
    assert all(same) == holds


def test_fast_ap_is_zero_if_and_only_if_no_irrelevant_share_is_at_or_above_a_relevant_one():
    """Separated by a random gap: zero by two widths, never by less than one, and in between as the centres say."""
    bins, seen, random = 10, set(), np.random.default_rng(0)
    for _ in range(300):
        up, gap = random.uniform(0, 4, 3), random.uniform(0, 3)
        down = up.max() + gap + random.uniform(0, 3, 3) * (np.arange(3) > 0)
        scores = torch.tensor(1 - np.concatenate([up, down]) * 2 / bins)
        zero = FastAPLoss(bins)(scores, torch.arange(6) < 3).item() < 1e-9
        assert zero == (np.floor(down.min()) > np.ceil(up.max())) and zero >= (gap >= 2) and zero <= (gap >= 1)
        seen.add((zero, 1 < gap < 2))
    assert len(seen) == 4


@pytest.mark.parametrize(("off", "tied"), [(0, False), (0, True), (0.3, False)])
def test_on_the_marks_fast_ap_is_that_of_scikit_learn_and_ap_where_none_are_equal(off, tied):
    random, bins, gaps = np.random.default_rng(0), 40, []
    for _ in range(20):
        relevant = random.random(12) < 0.5
        relevant[0] = True
        place = random.choice(40, 12, replace=tied) % (6 if tied else 40)
        scores = torch.tensor(1 - (place + off) * 2 / bins)
        fast = study.fast_ap(scores[None], torch.tensor(relevant)[None], bins).item()
        exact = average_precision(scores, torch.tensor(relevant)).item()
        gaps.append([abs(fast - other) for other in (average_precision_score(relevant, scores), exact)])
    of_sklearn, of_ap = np.max(gaps, axis=0) < 1e-6
    assert (of_sklearn, of_ap) == (off == 0, off == 0 and not tied)


def test_the_gradient_is_the_formula_between_centres_and_has_two_values_on_one():
    bins = 4
    for y, relevant in drawn():
        found = -gradient(FastAPLoss(bins), y, relevant)
        h, h_plus = (HistogramRanker(bins).histogram(y, where=w) for w in (None, relevant))
        H, p, at = h.cumsum(0).clamp(min=1e-12), h_plus.cumsum(0) / h.cumsum(0).clamp(min=1e-12), (1 - y) * bins / 2
        upper = at.long()
        pull = torch.where(relevant, p[upper] - p[upper + 1] + (h_plus * (1 - p) / H)[upper], -(h_plus * p / H)[upper])
        torch.testing.assert_close(found, pull * bins / 2 / relevant.sum())
        near = ((at[relevant] - upper[:, None]).abs() < 1).any(1)
        assert torch.equal(found[~relevant] != 0, near[~relevant])
        alone = upper + 1 < at[~relevant].amin().floor() if (~relevant).any() else upper >= 0
        assert (found[relevant & alone].abs() < 1e-12).all(), "nothing irrelevant counted at either centre, or above"
    y, step = torch.tensor([0.5, 0.7, 0.2], dtype=torch.float64), 1e-6 * torch.tensor([1.0, 0, 0])
    loss = lambda scores: FastAPLoss(bins)(scores, torch.tensor([True, False, False])).item()  # noqa: E731
    slopes = [(loss(y + sign * step) - loss(y)) / (sign * 1e-6) for sign in (1, -1)]
    assert abs(slopes[0] - slopes[1]) > 0.1, "y = 0.5 is a centre"


def kept(loss, n):
    """How many numbers autograd keeps of a list of n scores."""
    sizes = []
    scores = torch.linspace(-0.99, 0.98, n, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: sizes.append(x.numel()) or x, lambda x: x):
        loss(scores, torch.arange(n) % 5 == 0)
    return sum(sizes)


def written(bins):
    """FastAP as it is printed, with a share of every score at every centre."""

    def loss(scores, relevant):
        shares = torch.relu(1 - ((1 - scores.unsqueeze(-1)) * bins / 2 - torch.arange(bins + 1)).abs())
        h, h_plus = shares.sum(0), (shares * relevant.unsqueeze(-1)).sum(0)
        return 1 - (h_plus * h_plus.cumsum(0) / h.cumsum(0).clamp(min=1e-12)).sum() / relevant.sum()

    return loss


def test_fast_ap_keeps_scores_plus_bins_and_the_written_formula_their_product():
    scores, relevant = torch.linspace(-0.99, 0.98, 50), torch.arange(50) % 5 == 0
    torch.testing.assert_close(FastAPLoss(40)(scores, relevant), written(40)(scores, relevant))
    for make, grows in ((FastAPLoss, False), (written, True)):
        few, many = (kept(make(bins), 400) for bins in (10, 1000))
        assert (many - few > 400 * 900) == grows and (many - few < 30 * 1000) != grows

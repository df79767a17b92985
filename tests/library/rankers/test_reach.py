"""How far a step reaches: the λ at which pairs change places, one that is taken from the data, and the warnings."""

import copy
import math
import warnings
from contextlib import contextmanager

import pytest
import torch
from drawn import coin, cosines, gradient, random

from rankedu import readable
from rankedu._fast.gradient import FOLLOW
from rankedu.losses import APLoss, HAPLoss, OnEmbeddings, RecallLoss
from rankedu.rankers import BlackboxRanker, LongStepWarning, NoStepWarning, crossings, suggest_lam

#: λ, and whether it is of the scale of rk/n → a loss.
LOSSES = {
    name: lambda *lam, kind=kind, options=options: kind(BlackboxRanker(*lam), margin=0.05, **options)
    for name, kind, options in (
        ("recall", RecallLoss, {}),
        ("loglog", RecallLoss, {"weights": "loglog"}),
        ("ap", APLoss, {}),
        ("ap, both ranks", APLoss, {"within_grad": True}),
        ("h-ap", HAPLoss, {}),
    )
}


@contextmanager
def silence():
    """Nothing is told."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def collapsed(classes, each, spread=1e-3, dtype=torch.float64):
    """Embeddings around one point: as a network without batch normalisation makes them before it has learnt."""
    embeddings = torch.ones(classes * each, 16).to(dtype) + spread * random(classes * each, 16, dtype=dtype)
    return embeddings, torch.arange(classes).repeat_interleave(each)


def by_pairs(y, g, members):
    """λ_ij of one list, pair by pair."""
    for i in range(len(y)):
        for j in range(len(y)):
            if members[i] and members[j] and g[i] != 0 and g[i] * g[j] <= 0 and (y[j] - y[i]) * (g[i] - g[j]) > 0:
                yield (y[j] - y[i]) / (g[i] - g[j])


def test_crossings_are_those_of_all_pairs(monkeypatch):
    """Of a long list every so-manieth pair is looked at."""
    y, g = cosines(4, 9), random(4, 9, seed=1) * coin(4, 9, seed=2)
    for members in (None, coin(4, 9, p=0.7, seed=3)):
        here = torch.ones(4, 9, dtype=torch.bool) if members is None else members
        expected = sorted(x for row in zip(y.tolist(), g.tolist(), here.tolist(), strict=True) for x in by_pairs(*row))
        lam, gap = crossings(y, g, members)
        torch.testing.assert_close(lam.sort().values, torch.tensor(expected, dtype=torch.float64))
        assert len(expected) > 10 and (gap > 0).all() and len(gap) == len(lam)
    y, g = cosines(2, 500), random(2, 500, seed=1).clamp(min=0) * coin(2, 500, p=0.2, seed=2)
    whole = crossings(y, g)[0]
    monkeypatch.setattr("rankedu._fast.gradient.MOST", 5000)
    some = crossings(y, g)[0]
    assert 500 < len(some) < len(whole) / 4 and some.median() == pytest.approx(whole.median().item(), rel=0.25)


@pytest.mark.parametrize(("classes", "each", "normalized"), [(4, 4, False), (16, 2, True), (16, 4, False)])
def test_where_scores_have_collapsed_lam_is_that_of_the_formula(classes, each, normalized):
    """margin · P · Q · (1 + r), over n on the scale of rk/n: P partners, Q queries, r irrelevant items above each."""
    queries, partners = classes * each, each - 1
    n, r = queries - 1, queries - each
    expected = 0.05 * partners * queries * (1 + r) / (n if normalized else 1)
    found = suggest_lam(OnEmbeddings(LOSSES["recall"](1.0, normalized)), *collapsed(classes, each))
    assert found == pytest.approx(expected, rel=2e-3)
    for factor, moves in ((0.99, False), (1.01, True)):
        loss = OnEmbeddings(LOSSES["recall"](factor * expected, normalized))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bool(gradient(loss, *collapsed(classes, each)).any()) == moves


@pytest.mark.parametrize("name", ["recall", "loglog", "ap", "h-ap"])
def test_the_suggestion_reaches_the_share_that_was_asked_for(name):
    scores, relevance = cosines(5, 20), coin(5, 20, seed=1).double()
    for share in (0.1, 0.5, 0.9):
        lam = suggest_lam(LOSSES[name](1.0), scores, relevance, share=share)
        loss, seen = LOSSES[name](lam), []
        loss.ranker._hear = lambda y, g, found, members, seen=seen: seen.append(crossings(y, g, members)[0])
        with readable():
            gradient(loss, scores, relevance)
        assert (torch.cat(seen) <= lam).double().mean().item() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.6])
@pytest.mark.parametrize("name", LOSSES)
def test_auto_is_the_same_on_packed_keys_and_by_the_definition(name, share, normalized):
    fast, slow = (LOSSES[name]("auto", normalized) for _ in range(2))
    for seed in range(4):
        scores, relevance = cosines(6, 30, seed=seed, dtype=torch.float32), coin(6, 30, p=share, seed=seed + 9)
        where = coin(6, 30, p=0.8, seed=seed + 50) if seed % 2 else None
        found = gradient(fast, scores, relevance, where=where)
        with readable():
            expected = gradient(slow, scores, relevance, where=where)
        assert fast.ranker.lam == pytest.approx(slow.ranker.lam, rel=1e-5)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)
        assert found.any()


def test_auto_begins_with_the_first_batch_and_follows_slowly():
    loss = LOSSES["recall"]("auto")
    first, second = ((cosines(6, 30, seed=seed), coin(6, 30, seed=seed + 1)) for seed in (0, 5))
    asked = [suggest_lam(loss, *batch) for batch in (first, second)]
    gradient(loss, *first)
    assert loss.ranker.lam == pytest.approx(asked[0]) and asked[1] != pytest.approx(asked[0], rel=0.01)
    gradient(loss, *second)
    expected = math.exp((1 - FOLLOW) * math.log(asked[0]) + FOLLOW * math.log(asked[1]))
    assert loss.ranker.lam == pytest.approx(expected)
    with torch.no_grad():
        loss(*first)
    loss.eval()
    gradient(loss, *first)
    assert loss.ranker.lam == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-3, 65536.0])
def test_auto_does_not_care_for_the_scale_of_the_gradient_or_of_the_scores(scale):
    scores, c = cosines(9), random(9, seed=1).clamp(min=0)
    plain, of_loss, of_scores = BlackboxRanker(), BlackboxRanker(), BlackboxRanker()
    expected = gradient(lambda y: plain(y) @ c, scores)
    torch.testing.assert_close(gradient(lambda y: of_loss(y) @ c, scores, scale=scale), scale * expected)
    torch.testing.assert_close(gradient(lambda y: of_scores(y) @ c, scale * scores), expected / scale)


def test_auto_is_told_and_kept():
    """Not of a batch that is ranked perfectly: it waits for the next."""
    loss = OnEmbeddings(LOSSES["recall"]("auto"))
    assert "lam='auto', now nan" in repr(loss)
    gradient(loss, *collapsed(4, 4))
    lam = loss.loss.ranker.lam
    assert f"lam='auto', now {lam:.3g}" in repr(loss)
    other = OnEmbeddings(LOSSES["recall"]("auto"))
    other.load_state_dict(loss.state_dict())
    assert other.loss.ranker.lam == lam and copy.deepcopy(loss).loss.ranker.lam == lam
    assert not OnEmbeddings(LOSSES["recall"](2.0)).state_dict()
    other.load_state_dict({})  # a checkpoint from before there was a first batch
    loss, scores, relevance = LOSSES["ap"]("auto"), torch.tensor([0.9, 0.1]), torch.tensor([True, False])
    gradient(loss, scores, relevance)
    assert math.isnan(loss.ranker.lam)
    gradient(loss, -scores, relevance)
    assert loss.ranker.lam > 0


def test_a_step_that_reaches_nobody_is_told_once_with_the_lam_that_does():
    loss, batch = OnEmbeddings(LOSSES["recall"](0.2, True)), collapsed(16, 4, dtype=torch.float32)
    with pytest.warns(
        NoStepWarning, match=r"got 0\.2: the gradient is 0.* step.* is 0\.0011, .* 0\.05 away.* lam=9\.3 "
    ) as told:
        assert loss(batch[0].requires_grad_(), batch[1]) > 1
    assert told[0].filename == __file__
    with silence():
        loss(*batch)
    with readable(), pytest.warns(NoStepWarning, match=r"lam=9\.3 "):
        gradient(OnEmbeddings(LOSSES["recall"](0.2, True)), *collapsed(16, 4))


def test_nothing_is_told_without_a_gradient_or_of_a_perfect_ranking():
    with silence():
        with torch.no_grad():
            LOSSES["recall"](1e-3)(cosines(5, 20), coin(5, 20, seed=1))
        for make in LOSSES.values():
            for loss in (make(1e-3), readable()(make(1e-3))):
                assert loss(torch.tensor([0.9, 0.5, 0.1]).requires_grad_(), torch.tensor([True, False, False])) == 0


def test_steps_that_pass_everything_are_told_once():
    ranker, scores = BlackboxRanker(4.0), cosines(9)
    with pytest.warns(LongStepWarning, match=r"they are .*e\+05 or more among scores .* wide"):
        gradient(lambda y: ranker(y)[1], scores, scale=65536)
    with silence():
        gradient(lambda y: ranker(y)[1], scores, scale=65536)
        gradient(lambda y: BlackboxRanker(4.0)(y)[1], scores)
        gradient(LOSSES["ap"](60.0), scores, coin(9), scale=65536)

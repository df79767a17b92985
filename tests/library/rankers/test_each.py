"""What is a ranker's own: Algorithm 1 written out, steps point by point, the shares of a histogram."""

import copy
import math
import warnings
from contextlib import contextmanager
from itertools import product

import pytest
import torch
from drawn import DTYPES, HALF, coin, cosines, gradient, random, value_and_gradients

from rankedu import rank, rank_among, rankers, reference
from rankedu.losses import APLoss, HAPLoss, OnEmbeddings, RecallLoss
from rankedu.rankers import PRESETS, BlackboxRanker, HistogramRanker, InfimumStep, SigmoidRanker, SupremumRanker
from rankedu.rankers.blackbox import FOLLOW, crossings

nan, inf = float("nan"), float("inf")
close = torch.testing.assert_close


# Blackbox


@pytest.mark.parametrize("dtype", DTYPES)
def test_forward_and_backward_are_algorithm_1(dtype):
    """And of members only, which moves nobody else."""
    y, wide = random(2, 3, 7, dtype=dtype), torch.promote_types(dtype, torch.float32)
    g, members = random(2, 3, 7, seed=1, dtype=wide), coin(2, 3, 7, p=0.6, seed=2)
    for lam, where in product((0.1, 4.0), (None, coin(2, 3, 7, p=0.6))):
        ranker, inside = BlackboxRanker(lam), members if where is None else members & where
        for call, expected, here in (
            (lambda s: ranker(s, where=where), rank(y, where=where), where),  # noqa: B023
            (lambda s: ranker.among(s, members, where=where), rank_among(y, members, where=where), inside),  # noqa: B023
        ):
            ranks, found = value_and_gradients(call, y, weight=g)
            assert ranks.dtype == wide and torch.equal(ranks, expected.to(wide)) and found.dtype == dtype
            moved = rank(y.to(wide) + lam * g, where=here)
            close(found, ((moved - rank(y, where=here)).to(wide) / lam).to(dtype))
            assert here is None or not found[~here].any()


@pytest.mark.parametrize("n", [8, 37])
def test_lam_of_the_paper_is_n_times_lam_of_the_code(n):
    """L is any function of rk/n: the released scale with λ gives the gradient of the paper's with n·λ."""
    y, c = random(3, n), 64 * random(3, n, seed=1)
    for lam in (0.125, 2.0):
        of_code = value_and_gradients(BlackboxRanker(lam, normalized=True), y, weight=c)
        of_paper = value_and_gradients(lambda s: BlackboxRanker(n * lam)(s) / n, y, weight=c)  # noqa: B023
        close(of_code, of_paper, rtol=0, atol=0 if n == 8 else 1e-12)  # division by a power of two does not round
        assert of_code[1].any()


def test_normalized_ranks_count_those_who_take_part_and_16_bit_scores_have_exact_ranks_beyond_2048():
    scores = torch.tensor([[0.9, 0.1, 0.5, 0.7], [0.1, 0.2, 0.3, 0.4]])
    where = torch.tensor([[True, True, False, True], [False, False, False, False]])
    ranker, members = BlackboxRanker(1.0, normalized=True), torch.tensor([[False, True, True, True], [True] * 4])
    close(ranker(scores, where=where), torch.tensor([[1, 3, 0, 2], [0] * 4]) / 3)
    close(ranker.among(scores, members, where=where)[0], torch.tensor([0, 2, 0, 1]) / 3)
    for dtype in HALF:
        assert torch.equal(BlackboxRanker(1.0)(torch.zeros(5000, dtype=dtype)), torch.arange(1.0, 5001.0))


# Histogram


def test_the_range_is_a_change_of_units_and_beyond_it_lies_its_end():
    scores = cosines(4, 6)
    for low, high in ((-3.0, 5.0), (0.0, 0.5)):
        moved = low + (scores + 1) / 2 * (high - low)
        close(HistogramRanker(7, (low, high))(moved), HistogramRanker(7)(scores))
    beyond = torch.tensor([1.5, inf, 0.2, -inf, -1.01])
    ranks, slope = value_and_gradients(HistogramRanker(10), beyond, weight=torch.arange(5.0))
    close(ranks, torch.tensor([1.5, 1.5, 3.0, 4.5, 4.5]))
    assert slope.isfinite().all() and (slope[[0, 1, 3, 4]] == 0).all()


# Sigmoid


def test_infinite_scores_are_ranked_and_have_no_gradient():
    for dtype in DTYPES:
        y = torch.tensor([inf, 0.5, -inf, inf, nan], dtype=dtype)
        ranks, slope = value_and_gradients(lambda s: SigmoidRanker()(s, where=~y.isnan()), y)  # noqa: B023
        assert ranks.tolist() == [1.5, 3, 4, 1.5, 0] and torch.equal(slope, torch.zeros_like(y))


def eq_s1(scores, temperature, threshold=0.005):
    """The share of all m² differences at which the temperature sigmoid has a slope above the threshold."""
    difference = (scores.unsqueeze(-2) - scores.unsqueeze(-1)).double()
    _, slope = value_and_gradients(lambda x: (x / temperature).sigmoid(), difference)
    return (slope.abs() > threshold).double().mean((-2, -1))


@pytest.mark.parametrize("temperature", [0.005, 0.01, 0.1, 1.0])
def test_operating_region_is_eq_s1(temperature):
    """Of those who take part."""
    for spread, threshold in product((0.003, 0.1, 2.0), (1e-6, 0.005, 0.1, 1.0, 60.0)):
        y = spread * random(2, 3, 40, seed=3)
        y[..., 10:20] = y[..., :10]  # ties
        close(rankers.operating_region(y, temperature, threshold), eq_s1(y, temperature, threshold), rtol=0, atol=1e-12)
    for dtype in (*DTYPES, torch.int64):
        y = (10 * random(4, 30)).to(dtype)
        found = rankers.operating_region(y, 0.5)
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        close(found.double(), eq_s1(y.double(), 0.5), rtol=1e-6, atol=0)
    y, where = random(5, 12), coin(5, 12, p=0.6, seed=4)
    where[2] = False
    alone = [rankers.operating_region(y[q][where[q]], 0.1).item() if q != 2 else nan for q in range(5)]
    found = rankers.operating_region(y.masked_fill(~where, nan), 0.1, where=where)
    close(found, torch.tensor(alone, dtype=torch.float64), equal_nan=True)


def test_operating_region_of_infinite_and_of_huge_scores_and_of_an_item_with_itself():
    """Equal ones differ by 0, which is in the region: so it is empty only beyond the largest slope, 1/(4τ)."""
    assert rankers.operating_region(torch.tensor([inf, inf, -inf, 0.0]), 0.01).item() == (4 + 1 + 1) / 16
    assert rankers.operating_region(torch.tensor([1e30, 1e30, 2e30]), 0.01).item() == pytest.approx(5 / 9)
    assert rankers.operating_region(torch.arange(8.0), 0.01).item() == 1 / 8
    assert rankers.operating_region(torch.arange(8.0), 0.01, threshold=25.0).item() == 0


# The steps of HAPPIER and ROADMAP

DELTA = 0.05
SETTINGS = PRESETS | {"no delta": {"delta": 0.0}, "flat": {"slope": 0.0, "offset": 1.0}, "low": {"offset": 0.25}}
SETTINGS |= {"warm": {"temperature": 1.0, "delta": 0.3}}


def points(dtype=torch.float64):
    edges = torch.tensor([0.0, DELTA, 0.3, -0.3, 1e-12, -1e-12, 1.0, -1.0, 2.0, -2.0], dtype=dtype)
    around = torch.nextafter(edges[:4, None], torch.tensor([inf, -inf], dtype=dtype)).flatten()
    return torch.cat([edges, around, torch.linspace(-0.2, 0.2, 401, dtype=dtype)])


@pytest.mark.parametrize("name", SETTINGS)
def test_step_is_the_definition(name):
    """Its slope is the derivative; what may overwrite its input gives the same; who is infinitely worse is nothing."""
    ranker, x = SupremumRanker(**SETTINGS[name]), points()
    expected = torch.tensor([reference.happier_step(v, **SETTINGS[name]) for v in x.tolist()], dtype=torch.float64)
    step, slope = value_and_gradients(ranker.step, x)
    close(step, expected, rtol=1e-12, atol=1e-15)
    close(ranker.slope(x), slope)
    assert not ranker.slope(x.requires_grad_()).requires_grad
    far = torch.tensor([-inf])
    assert ranker.step(far).item() == ranker.slope(far).item() == 0


def test_presets_are_the_published_settings():
    """The step just above 0, at δ, and just beyond."""
    published = {
        "joined": (1.0, 1.4933, 1.4933),
        "happier": (1.0, 1.4933, 1.44),
        "happier_inat": (0.5, 0.9933, 1.0),
        "roadmap": (1.0, 1.4933, 1.44),
        "roadmap_inat": (0.5, 0.9933, 1.0),
        "roadmap_2021": (1.0, 1.4933, 6.44),  # its affine part is 100 x + 1.44
        "roadmap_inat_2021": (0.5, 0.9933, 6.0),
    }
    x = torch.tensor([0.0, 1e-9, DELTA, DELTA + 1e-9], dtype=torch.float64)
    for name, values in published.items():
        expected = torch.tensor([0.5, *values], dtype=torch.float64)
        close(SupremumRanker.preset(name).step(x), expected, rtol=0, atol=5e-5)
    assert set(published) == set(PRESETS) and repr(SupremumRanker()) == repr(SupremumRanker.preset("joined"))


def test_the_supremum_ranker_counts_members_in_full_and_others_by_its_step():
    """Of those who take part; tied members share the worst of their ranks, and have no gradient."""
    y, members, where = random(6, 8).round() / 100, coin(6, 8), coin(6, 8, p=0.7, seed=5)
    others, inside, ranker = coin(6, 8, seed=4) & ~members, members & where, SupremumRanker()
    steps = ranker.step(y.unsqueeze(-2) - y.unsqueeze(-1)) * (others & where).unsqueeze(-2)
    hidden = y.masked_fill(~where, nan)
    close(ranker.against(hidden, members, others, where=where), steps.sum(-1) * inside)
    for dtype in DTYPES:
        scores = hidden.to(dtype).requires_grad_()
        found, at_least = ranker.among(scores, members, where=where), scores.unsqueeze(-2) >= scores.unsqueeze(-1)
        assert found.dtype == torch.promote_types(dtype, torch.float32) and not found.requires_grad
        assert torch.equal(found.long(), (at_least & inside.unsqueeze(-2)).sum(-1) * inside) and (found > 1).any()


def test_infimum_step_lies_below_the_staircase():
    for slopes in ((), (0.0, 0.0), (1.0, 1e3)):  # the published ones first
        x = points()
        value = InfimumStep(*slopes)(x)
        expected = [reference.happier_lower_step(v, *slopes) for v in x.tolist()]
        close(value, torch.tensor(expected, dtype=torch.float64))
        assert (value <= (x > 0)).all()


# How far a step reaches: the λ at which pairs change places, one that is taken from the data, and the warnings

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
    """No warning."""
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
        close(lam.sort().values, torch.tensor(expected, dtype=torch.float64))
        assert len(expected) > 10 and (gap > 0).all() and len(gap) == len(lam)
    y, g = cosines(2, 500), random(2, 500, seed=1).clamp(min=0) * coin(2, 500, p=0.2, seed=2)
    whole = crossings(y, g)[0]
    monkeypatch.setattr("rankedu.rankers.blackbox.PAIRS", 5000)
    some = crossings(y, g)[0]
    assert 500 < len(some) < len(whole) / 4 and some.median() == pytest.approx(whole.median().item(), rel=0.25)


def lam_of(loss, *batch):
    """The λ that "auto" takes from a first batch."""
    gradient(loss, *batch)
    return getattr(loss, "loss", loss).ranker.lam


@pytest.mark.parametrize(("classes", "each", "normalized"), [(4, 4, False), (16, 2, True), (16, 4, False)])
def test_where_scores_have_collapsed_lam_is_that_of_the_formula(classes, each, normalized):
    """margin · P · Q · (1 + r), over n on the scale of rk/n: P partners, Q queries, r irrelevant items above each."""
    queries, partners = classes * each, each - 1
    n, r = queries - 1, queries - each
    expected = 0.05 * partners * queries * (1 + r) / (n if normalized else 1)
    found = lam_of(OnEmbeddings(LOSSES["recall"]("auto", normalized)), *collapsed(classes, each))
    assert found == pytest.approx(expected, rel=2e-3)
    for factor, moves in ((0.99, False), (1.01, True)):
        loss = OnEmbeddings(LOSSES["recall"](factor * expected, normalized))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bool(gradient(loss, *collapsed(classes, each)).any()) == moves


@pytest.mark.parametrize("name", ["recall", "loglog", "ap", "h-ap"])
def test_auto_reaches_a_share_of_the_pairs_that_should_change_places(name, monkeypatch):
    scores, relevance = cosines(5, 20), coin(5, 20, seed=1).double()
    for share in (0.1, 0.5, 0.9):
        monkeypatch.setattr("rankedu.rankers.blackbox.SHARE", share)
        lam = lam_of(LOSSES[name]("auto"), scores, relevance)
        loss, seen = LOSSES[name](lam), []
        strength = loss.ranker._strength

        def listen(y, g, members, seen=seen, strength=strength, **others):
            seen.append(crossings(y, g, members)[0])
            return strength(y, g, members, **others)

        loss.ranker._strength = listen
        gradient(loss, scores, relevance)
        assert (torch.cat(seen) <= lam).double().mean().item() == pytest.approx(share, abs=0.02)


def test_auto_begins_with_the_first_batch_and_follows_slowly():
    loss = LOSSES["recall"]("auto")
    first, second = ((cosines(6, 30, seed=seed), coin(6, 30, seed=seed + 1)) for seed in (0, 5))
    asked = [lam_of(make, *batch) for make, batch in ((loss, first), (LOSSES["recall"]("auto"), second))]
    assert asked[1] != pytest.approx(asked[0], rel=0.01)
    gradient(loss, *second)
    expected = math.exp((1 - FOLLOW) * math.log(asked[0]) + FOLLOW * math.log(asked[1]))
    assert loss.ranker.lam == pytest.approx(expected)
    with torch.no_grad():
        loss(*first)
    loss.eval()
    gradient(loss, *first)
    assert loss.ranker.lam == pytest.approx(expected)


def test_auto_reaches_somebody_at_once_where_scores_collapse():
    loss = OnEmbeddings(LOSSES["recall"]("auto"))
    loss.loss.ranker.lam = 1e-3
    assert gradient(loss, *collapsed(4, 4)).any() and loss.loss.ranker.lam < 1e-2


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
    said = r"lam=0\.2 is too small.* step.* is 0\.0011, .* 0\.05 away.* lam >= 9\.3,"
    with pytest.warns(rankers.NoStepWarning, match=said) as told:
        assert loss(batch[0].requires_grad_(), batch[1]) > 1
    assert told[0].filename == __file__
    with silence():
        loss(*batch)


def test_nothing_is_told_without_a_gradient_or_of_a_perfect_ranking():
    with silence():
        with torch.no_grad():
            LOSSES["recall"](1e-3)(cosines(5, 20), coin(5, 20, seed=1))
        for make in LOSSES.values():
            assert make(1e-3)(torch.tensor([0.9, 0.5, 0.1]).requires_grad_(), torch.tensor([True, False, False])) == 0


def test_steps_that_pass_everything_are_told_once():
    ranker, scores = BlackboxRanker(4.0), cosines(9)
    with pytest.warns(rankers.LongStepWarning, match=r"lam=4 is too large: .*e\+05 or more, and the scores span only"):
        gradient(lambda y: ranker(y)[1], scores, scale=65536)
    with silence():
        gradient(lambda y: ranker(y)[1], scores, scale=65536)
        gradient(lambda y: BlackboxRanker(4.0)(y)[1], scores)
        gradient(LOSSES["ap"](60.0), scores, coin(9), scale=65536)

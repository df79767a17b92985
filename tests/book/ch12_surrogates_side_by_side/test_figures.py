import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from rankedu_book.ch12_surrogates_side_by_side import figures, study, surrogates
from rankedu_book.kit import style
from rankedu_book.kit.known_rankers import SCORE_RANGE
from rankedu_book.kit.landscapes import rank_landscape
from rankedu_book.kit.relief import surface, view
from rankedu_lab.contestants import ProjectionRanker
from rankedu_lab.training import train_sorter

RANKERS = [BlackboxRanker(0.3), SigmoidRanker(0.13), HistogramRanker(25, SCORE_RANGE), ProjectionRanker(0.1)]


@pytest.fixture(autouse=True, scope="module")
def quick_sorter():
    with pytest.MonkeyPatch.context() as patch:
        ranker = train_sorter(20, steps=20, progress=False)
        patch.setattr(surrogates, "sorter", lambda: ranker)
        yield


def test_the_gradient_belongs_to_the_value():
    points, c = (values[:2] for values in study.cloud()[:2])
    moves = 1e-6 * np.random.default_rng(0).standard_normal((5, 1, 1, 20))
    for ranker in RANKERS:
        up, down = (surrogates.surrogate(ranker, points + sign * moves, c)[0] for sign in (1, -1))
        wanted = (surrogates.surrogate(ranker, points, c)[1] * moves).sum(-1)
        np.testing.assert_allclose((up - down) / 2, wanted, rtol=1e-4, atol=1e-9, err_msg=str(ranker))


def test_four_landscapes_are_one_loss_and_three_surrogates():
    seen = view(30, seed=surrogates.SEED, extent=surrogates.EXTENT)
    points, c = seen.section.points(), surrogates.COEFFICIENTS
    np.testing.assert_allclose(surrogates.loss_of(points), rank_landscape(seen.section, c))
    for ranker in RANKERS:
        np.testing.assert_allclose(surface(seen, ranker), surrogates.surrogate(ranker, points, c)[0], atol=1e-9)
    assert SCORE_RANGE[0] < points[seen.inside].min() and points[seen.inside].max() < SCORE_RANGE[1]
    assert "(a) the loss itself: heights from" in style.description(figures.four_landscapes(size=80))


def drawn(n, seed):
    random = np.random.default_rng(seed)
    y, c = random.standard_normal((2, n))
    return y, c, c - c.mean()


@pytest.mark.parametrize("n", [2, 5, 9])
def test_a_loss_of_ranks_is_a_derivative_of_m_but_at_a_tie(n):
    def m(z):
        return z.sum() + np.minimum.outer(z, z)[np.triu_indices(n, 1)].sum()

    for seed in range(20):
        y, c, _ = drawn(n, seed)
        assert m(y) == pytest.approx(y @ reference.rank(y.tolist())) == pytest.approx(reference.optimal_value(y))
        assert (m(y + 1e-7 * c) - m(y - 1e-7 * c)) / 2e-7 == pytest.approx(c @ reference.rank(y.tolist()), abs=1e-4)
        y[0], c[:2] = y[1], (0.0, 1.0)  # without distinct scores: the two sides have different slopes
        assert (m(y + 1e-7 * c) - m(y)) / 1e-7 < (m(y) - m(y - 1e-7 * c)) / 1e-7 - 0.5


@pytest.mark.parametrize("n", [2, 5, 9])
def test_blocks_of_a_projection_and_where_it_is_exact(n):
    for seed in range(20):
        y, c, centred = drawn(n, seed)
        wide = ProjectionRanker(2 / n * np.ptp(y))
        np.testing.assert_allclose(surrogates.surrogate(wide, y, c)[1], -centred / wide.strength, atol=1e-9)
        exact, soft = (ProjectionRanker(share * np.diff(np.sort(y)).min()) for share in (0.999, 1.001))
        assert not surrogates.surrogate(exact, y, c)[1].any()
        ranks = torch.tensor(reference.rank(y.tolist()), dtype=torch.float64)
        torch.testing.assert_close(exact(torch.from_numpy(y)), ranks, atol=1e-9, rtol=0)
        assert surrogates.surrogate(soft, y, c)[1].any() and (soft(torch.from_numpy(y)) - ranks).abs().max() > 1e-5
    # ε below the bound: two groups far apart are two blocks. At a gap of ε the slopes of the two sides differ.
    groups, c = np.array([9.0, 9.1, 0.0, 0.1]), np.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(surrogates.surrogate(ProjectionRanker(1.0), groups, c)[1], [-0.5, 0.5, 0, 0], atol=1e-9)
    sides = [reference.projected_rank([0.5 + side, 0.0], 0.5)[0] - 1 for side in (-1e-3, 1e-3)]
    assert sides == pytest.approx([1e-3, 0.0], abs=1e-9)


def test_the_limits_of_strong_smoothing():
    y, c, _ = study.cloud()
    to = {"blind": c - c.mean(-1, keepdims=True), "ranks": surrogates.ranks_of(y) - surrogates.ranks_of(c)}
    limits = {"blackbox": "ranks", "sigmoid": "blind", "histogram": "blind", "projection": "blind"}
    for name, limit in limits.items():
        how, cosines = surrogates.SURROGATES[name], {}
        for strength in (how.usual, how.strongest):
            down = -surrogates.surrogate(how.make(strength), y, c)[1]
            for kind, direction in to.items():
                length = np.linalg.norm(down, axis=-1) * np.linalg.norm(direction, axis=-1)
                cosines[kind] = (down * direction).sum(-1) / np.maximum(length, 1e-12)
            for kind in to:
                assert (cosines[kind] > 0.998).all() == (kind == limit and strength == how.strongest), (name, kind)


def test_the_table_names_every_exponent():
    made = figures.measured_table({name: {n: float(n) ** 2 for n in (10, 20, 40)} for name in "abcdefgh"})
    assert {f"{name}: 2.00" for name in "abcdefgh"} <= {line.get_label() for line in made.axes[0].lines}

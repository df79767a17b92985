import numpy as np
import pytest
import torch

from rankbook.ch12_surrogates_side_by_side import ap_losses, figures, surrogates
from rankbook.ch12_surrogates_side_by_side import quality as surrogate_quality
from rankbook.kit import style
from rankbook.kit.relief import surface, view
from rankedu.landscapes import rank_landscape
from rankedu.losses import APLoss
from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from rankedu.rankers.registry import SCORE_RANGE
from ranklab.contestants import APSVMLoss, ProjectionRanker
from ranklab.training import train_sorter

RANKERS = [BlackboxRanker(0.3), SigmoidRanker(0.13), HistogramRanker(25, SCORE_RANGE), ProjectionRanker(0.1)]


@pytest.fixture(autouse=True, scope="module")
def quick_sorter():
    with pytest.MonkeyPatch.context() as patch:
        ranker = train_sorter(20, steps=20, progress=False)
        patch.setattr(surrogates, "sorter", lambda: ranker)
        yield


def test_the_gradient_belongs_to_the_value():
    points, c, _ = surrogate_quality.cloud()
    some, moves = points[:6], 1e-6 * np.random.default_rng(0).standard_normal((5, 1, 20))
    for ranker in RANKERS:
        up, down = (surrogates.surrogate(ranker, some + sign * moves, c)[0] for sign in (1, -1))
        wanted = (surrogates.surrogate(ranker, some, c)[1] * moves).sum(-1)
        np.testing.assert_allclose((up - down) / 2, wanted, rtol=1e-4, atol=1e-9, err_msg=str(ranker))


def test_four_landscapes_are_one_loss_and_three_surrogates():
    seen = view(30, seed=surrogates.SEED, extent=surrogates.EXTENT)
    points, c = seen.section.points(), surrogates.COEFFICIENTS
    np.testing.assert_allclose(surrogates.loss_of(points), rank_landscape(seen.section, c))
    for ranker in RANKERS:
        np.testing.assert_allclose(surface(seen, ranker), surrogates.surrogate(ranker, points, c)[0], atol=1e-9)
    assert SCORE_RANGE[0] < points[seen.inside].min() and points[seen.inside].max() < SCORE_RANGE[1]
    assert "(a) the loss itself: heights from" in style.description(figures.four_landscapes(size=80))


def test_a_strength_distorts_as_much_as_it_was_asked_to():
    for method, distortion in (("sigmoid", 0.1), ("histogram", 0.4)):
        found = surrogate_quality.quality(surrogate_quality.at(method, distortion)).distortion
        assert found == pytest.approx(distortion, rel=0.35 if method == "histogram" else 0.02)


def test_the_blind_step_is_the_limit_of_projection_and_sigmoid():
    points, c, _ = surrogate_quality.cloud()
    for ranker in (ProjectionRanker(100.0), SigmoidRanker(1e4)):
        gradients = surrogates.surrogate(ranker, points, c)[1]
        directions = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
        wanted = -(c - c.mean()) / np.linalg.norm(c - c.mean())
        np.testing.assert_allclose(directions, np.broadcast_to(wanted, points.shape), atol=1e-4)


def test_ap_svm_bounds_and_is_convex_and_a_margin_is_just_enough():
    svm, rambo = (
        ap_losses.ap_walk(f, np.linspace(-0.65, 0.65, 14))[0] for f in (APSVMLoss(), APLoss(BlackboxRanker(4.0)))
    )
    assert (svm >= rambo - 1e-9).all() and (np.diff(svm, 2) > -1e-9).all()
    for p, n in ((1, 8), (4, 12), (3, 40)):
        gap, relevance = ap_losses.margin_of_ap_svm(p, n), torch.arange(p + n) < p
        just, short = (APSVMLoss()(gap * share * relevance.double(), relevance).item() for share in (1.0, 0.99))
        assert just < 1e-9 < short


def test_the_table_names_every_exponent():
    made = figures.measured_table({name: {n: float(n) ** 2 for n in (10, 20, 40)} for name in "abcdefgh"})
    assert {f"{name}: 2.00" for name in "abcdefgh"} <= {line.get_label() for line in made.axes[0].lines}

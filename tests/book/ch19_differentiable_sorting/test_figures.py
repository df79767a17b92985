"""What the figures of chapter 19 show: soft ranks that are the reference, and slopes with the wrong sign."""

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu_book.ch19_differentiable_sorting import figures, soft
from rankedu_book.kit import style

SUMS = ("sigmoid", "LapSum")


def test_soft_ranks_are_the_reference_and_a_near_tie_is_at_one_and_a_half():
    y = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    plain = {
        "sigmoid": lambda y: reference.sigmoid_rank(y, 0.3),
        "NeuralSort": lambda y: reference.place_of(reference.neural_sort(y, 0.3)),
        "SoftSort": lambda y: reference.place_of(reference.soft_sort(y, 0.3)),
        "DiffSort, logistic": lambda y: reference.place_of(reference.diff_sort(y, 0.3)),
        "LapSum": lambda y: reference.lap_sum_rank(y, 0.3),
    }
    for name, ranks in soft.SOFT.items():
        assert name not in plain or ranks(y, 0.3).tolist() == pytest.approx(plain[name](y.tolist())), name
        assert ranks(torch.tensor([0.0, 1e-6], dtype=torch.float64), 0.1)[0].item() == pytest.approx(1.5, abs=1e-3)
        assert ranks(y, 1e-4).tolist() == pytest.approx(reference.rank(y.tolist()), abs=1e-2), name
    far = torch.tensor([1e4, 0.0, -1e4], dtype=torch.float64)
    assert soft.lap_sum(far, 0.1).tolist() == pytest.approx([1, 2, 3])


def test_two_methods_give_ranks_that_rise_with_the_score_but_not_if_they_are_divided_by_the_sum_of_the_column():
    for name in soft.SOFT:
        rise = np.diff(figures.moving(name, 0.1, 2001)[1]).max()
        assert (rise > 1e-6) == (name in ("NeuralSort", "SoftSort")), name
    for matrix in (reference.neural_sort, reference.soft_sort):
        rows = [matrix([x, *figures.STANDING], 0.1) for x in np.linspace(-1, 1.2, 201)]
        divided = np.array([reference.place_of(of)[0] / sum(row[0] for row in of) for of in rows])
        assert (np.diff(divided) < 1e-9).all()
    assert "NeuralSort by 0.30" in style.description(figures.soft_ranks())


def test_soft_permutations_become_exact_and_keep_their_sums():
    y = [0.3, -0.4, 1.1, 0.6]
    exact = [[float(r == place) for r in reference.rank(y)] for place in (1, 2, 3, 4)]
    for method in (reference.neural_sort, reference.soft_sort, reference.diff_sort):
        assert np.allclose(method(y, 1e-3), exact) and np.allclose(np.sum(method(y, 0.5), 1), 1)
        columns = np.allclose(np.sum(method(y, 0.5), 0), 1)
        assert columns == (method is reference.diff_sort)


def test_sums_of_steps_have_slopes_of_the_right_sign_and_the_right_sum():
    """Proposition 19.1; without the symmetry of the step the sum is another one."""
    rng = np.random.default_rng(0)
    for temperature in (0.03, 0.3, 3.0):
        for _ in range(20):
            y = tuple(rng.uniform(-1, 1, 7))
            for name in SUMS:
                assert not figures.wrong(figures.slopes(name, temperature, y)).any()
                assert soft.SOFT[name](torch.tensor(y), temperature).sum().item() == pytest.approx(28)
            for name in ("NeuralSort", "SoftSort"):
                assert figures.wrong(figures.slopes(name, temperature, y)).any(), name
    step = 1 + np.tanh(np.subtract.outer(y, y))  # s(x) + s(-x) = 2
    assert (0.5 + step.sum(1)).sum() != pytest.approx(28)


def test_sorted_values_of_diff_sort_never_fall_by_cauchy_s_function_and_do_by_the_logistic_one():
    rng, least = np.random.default_rng(0), {torch.sigmoid: 0.0, soft.cauchy: 0.0}
    for _ in range(50):
        y = torch.tensor(rng.uniform(-1, 1, 6))
        for share in least:
            found = torch.autograd.functional.jacobian(lambda z, share=share: soft.diff_sort(z, 0.1, share)[0], y)
            least[share] = min(least[share], found.min().item())
    assert least[torch.sigmoid] < -0.05 and least[soft.cauchy] > -1e-12
    assert figures.wrong(figures.slopes("DiffSort, Cauchy", 0.1, (0.8, 0.9, -0.5))).any(), "ranks are something else"

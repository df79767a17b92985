"""The figures of chapter 2 show what they claim."""

import numpy as np
import pytest
import torch

from rankbook.ch02_blackbox_differentiation import study
from rankedu.blackbox import differentiate
from rankedu.solvers import ranking


def test_the_sweep_is_algorithm_1():
    lams = np.array([0.05, 1.0, 20.0])
    share, length = study.strength_sweep(lams, draws=50)
    scores = np.random.default_rng(0).standard_normal((50, 6))
    for lam, zero, mean in zip(lams, share, length, strict=True):
        y = torch.from_numpy(scores).requires_grad_()
        differentiate(ranking, float(lam))(y)[:, :2].mean(-1).sum().backward()
        norms = y.grad.norm(dim=-1).numpy()
        assert mean == pytest.approx(norms.mean())
        assert zero == (norms == 0).mean()


def test_the_mean_length_of_the_gradient_does_not_vanish_with_lam_but_its_share_does():
    share, length = study.strength_sweep(np.array([0.01, 1.0, 100.0]))
    assert share[0] > 0.98
    assert 0.5 < length[0] / length[1] < 2
    assert length[2] < 0.05


def test_frozen_at_a_point_the_interpolation_is_continuous_and_afresh_it_jumps():
    t = np.linspace(-0.5, 2.0, 20001)
    line = study.NONLINEAR["scores"] + t[:, None] * study.NONLINEAR["direction"]
    afresh, frozen = study.linearised(line, 2.0), study.linearised(line, 2.0, line[9000])
    assert np.abs(np.diff(frozen)).max() < 1e-3
    assert np.abs(np.diff(afresh)).max() > 0.05
    assert frozen[9000] == pytest.approx(afresh[9000])
    loss = np.log(study.ranks_of(line)[:, :2]).mean(axis=1)
    assert (afresh <= loss + 1e-12).all()
    assert (frozen > loss + 1e-3).any()

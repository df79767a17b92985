"""What the figures of chapter 5 claim, in numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from rankbook.ch05_minibatch_bias import figures, study
from rankedu.losses import APLoss, MAPLoss, OnEmbeddings, RecallLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker


@pytest.fixture(scope="module")
def ranking():
    return study.rank_all(*study.synthetic_embeddings(classes=20, per_class=6, dim=8, noise=0.35, seed=1))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_expected_precision_is_the_mean_over_all_batches(n):
    random = np.random.default_rng(n)
    relevance = random.random(n) < 0.4
    for item in range(n):
        relevance[item], before = True, relevance[item]
        others = [i for i in range(n) if i != item]
        for m in range(1, n + 1):
            batches = [np.sort([item, *chosen]) for chosen in combinations(others, m - 1)]
            ahead = [batch[batch <= item] for batch in batches]
            wanted = np.mean([relevance[first].mean() for first in ahead])
            within = int(relevance[: item + 1].sum())
            assert study.expected_precision(item + 1, n, m, within) == pytest.approx(wanted, abs=1e-12)
        relevance[item] = before


def test_true_map_is_average_precision(ranking):
    points, labels = (
        torch.from_numpy(x) for x in study.synthetic_embeddings(classes=20, per_class=6, dim=8, noise=0.35, seed=1)
    )
    wanted = average_precision(points @ points.T, labels[:, None] == labels, where=~torch.eye(120, dtype=torch.bool))
    assert ranking.mean_ap == pytest.approx(wanted.mean().item(), abs=1e-6)
    assert study.expected_map(ranking, len(ranking)) == pytest.approx(ranking.mean_ap, abs=1e-12)
    assert study.sample_estimates(ranking, 120, batches=1) == pytest.approx(ranking.mean_ap, abs=1e-12)


def test_a_sampled_batch_is_ranked_by_itself(ranking):
    points, labels = study.synthetic_embeddings(classes=20, per_class=6, dim=8, noise=0.35, seed=1)
    for queries, members in study._draws(labels, 12, 5, 2):
        assert len(set(members)) == 36 and list(members[:12]) == list(queries)
        scores = torch.from_numpy(points[queries] @ points[members].T)
        where = torch.from_numpy(queries[:, None] != members)
        relevance = torch.from_numpy(labels[queries, None] == labels[members]) & where
        found = relevance.any(1)
        wanted = average_precision(scores[found], relevance[found], where=where[found]).mean().item()
        assert study._batch_map(ranking, queries, members) == pytest.approx(wanted, abs=1e-6)


def test_the_closed_form_follows_sampled_batches(ranking):
    for m, length in ((20, 0), (40, 0), (20, 1)):
        estimates = study.sample_estimates(ranking, m, batches=300, length=length)
        assert np.nanmean(estimates) == pytest.approx(study.expected_map(ranking, (1 + length) * m), abs=0.04)


def test_batches_are_too_optimistic(lines):
    [axes] = figures.minibatch_map().axes
    [bars] = axes.containers
    means, truth = bars.lines[0].get_ydata(), lines(axes)["the data set"][0]
    spreads = [np.ptp(segment[:, 1]) for segment in bars.lines[2][0].get_segments()]
    assert len(means) == len(study.SIZES) and min(means) > truth == study.synthetic_ranking().mean_ap
    assert sorted(means, reverse=True) == means.tolist()
    assert sorted(spreads[1:], reverse=True) == spreads[1:], "the first is cut off at an mAP of 1"


def test_balanced_batches_are_more_optimistic_and_vary_less():
    random, balanced = (study.sample_estimates(study.synthetic_ranking(), 32, batches=200, per_class=k) for k in (0, 4))
    assert np.nanmean(balanced) > np.nanmean(random) + 0.05
    assert np.nanstd(balanced) < 0.6 * np.nanstd(random)


def test_memory_has_the_bias_of_the_list_and_not_its_spread():
    ranking = study.synthetic_ranking()
    alone, longer, larger = (
        study.sample_estimates(ranking, m, length=tau, batches=200) for m, tau in ((32, 0), (32, 3), (128, 0))
    )
    assert abs(longer.mean() - larger.mean()) < 0.02 < alone.mean() - longer.mean()
    assert larger.std() < 0.8 * longer.std() < 0.8 * alone.std()


def test_averaging_gradients_does_not_remove_the_bias():
    whole, found = study.gradients()
    limits = {key: study.limit_alignment(made, whole) for key, made in found.items()}
    for key, made in found.items():
        assert study.alignment(made, whole, 1) < study.alignment(made, whole, 32) < limits[key] < 0.98
    assert limits[32, 0] < limits[64, 0] < limits[64, 3]
    assert abs(limits[64, 3] - limits[256, 0]) < 0.05


def test_the_limit_is_that_of_the_expected_gradient():
    random = np.random.default_rng(0)
    mean, whole = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    noisy = mean + 3 * random.standard_normal((4000, 3))
    assert study.limit_alignment(noisy, whole) == pytest.approx(np.sqrt(0.5), abs=0.06)


@pytest.mark.parametrize("loss", [APLoss, RecallLoss])
def test_what_is_remembered_changes_the_gradient(loss):
    torch.manual_seed(0)
    labels = torch.arange(4).repeat_interleave(2)
    now, one, other = normalize(torch.randn(3, 8, 5), dim=-1)
    ranker, gradients = BlackboxRanker(lam=20.0), []
    for past in (one, other):
        extended = OnEmbeddings(loss(ranker), memory=EmbeddingMemory(1))
        extended(past, labels)
        leaf = now.clone().requires_grad_()
        gradients.append(torch.autograd.grad(extended(leaf, labels), leaf)[0])
    assert not torch.equal(*gradients)
    gradients = []
    for past in (one, other):
        extended = MAPLoss(ranker, memory=ScoreMemory(1))
        extended(past[:, :4], torch.eye(4, dtype=torch.bool)[labels])
        leaf = now[:, :4].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(extended(leaf, torch.eye(4, dtype=torch.bool)[labels]), leaf)
        gradients.append(gradient)
    assert not torch.equal(*gradients)


def test_thinning_shows_the_ranks_that_are_left():
    rows = [line.get_xdata() for line in figures.thinning(rank=9, n=24).axes[0].lines]
    for gone, kept, [rank] in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert sorted([*gone, *kept, rank]) == [*range(1, 25)] and rank == 9
    assert [int((kept < 9).sum()) for kept in rows[1::3]] == [8, 4, 2, 2, 1]


def test_the_errors_of_a_memory_are_drawn_beside_the_margin(lines):
    drawn = lines(figures.staleness({1e-3: {1: 0.01, 8: 0.08}}, margin=0.05).axes[0])
    assert [*drawn["learning rate 0.001"]] == [0.01, 0.08] and [*drawn["margin α = 0.05"]] == [0.05, 0.05]

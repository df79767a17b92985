"""Chapter 7's experiment is what it says, and its proposition needs the hypotheses that it names."""

import numpy as np
import pytest
import torch

from rankbook.ch07_recall_loss import figures, study
from rankedu import outranking_negatives
from rankedu.losses import RecallLoss
from rankedu.rankers import BlackboxRanker

SCORES, RELEVANT = torch.tensor(figures.QUERY_SCORES), torch.tensor(figures.QUERY_RELEVANT).bool()


def test_starts_have_their_own_items_and_classes_do_not_meet():
    train, choose, report = study.data(3)
    assert [x.shape for x in (train, choose, report)] == [(3, 8 * n, 24) for n in (400, 100, 100)]
    assert not torch.isclose(train[0, :50], train[1, :50]).any()
    best = study.recall_at_1(report @ torch.zeros(3, 24, 6))  # no direction at all: the first item is the nearest
    assert best.max() < 0.02


def test_labels_are_exchanged_and_none_is_lost():
    members = study.mislabelled(0.3, 2)
    assert all(torch.equal(row.flatten().sort().values, torch.arange(3200)) for row in members)
    moved = (members // 8 != torch.arange(400)[:, None]).float().mean(dim=(1, 2))
    assert ((moved > 0.25) & (moved < 0.35)).all()
    assert torch.equal(study.mislabelled(0.0, 2) // 8, torch.arange(400)[:, None].expand(2, 400, 8))


def test_batches_hold_four_items_of_sixteen_classes():
    members = study.mislabelled(0.3, 2)
    said = torch.empty(2, 3200, dtype=torch.long).scatter_(1, members.flatten(1), torch.arange(3200).expand(2, -1) // 8)
    for batch in study.batches(members, 3):
        labels = said.gather(1, batch).view(2, 16, 4)
        assert (labels == labels[..., :1]).all() and all(len(set(row.tolist())) == 16 for row in labels[..., 0])
        assert all(len(set(row.tolist())) == 64 for row in batch)


def test_a_start_learns_as_if_it_were_alone(monkeypatch):
    """Batching over starts changes neither the λ of each nor its steps."""
    monkeypatch.setattr(study, "STEPS", 3)
    together = study.learned(torch.log1p, 30.0, 0.05, 2, wrong=0.0)
    made = {name: getattr(study, name) for name in ("data", "start_weights", "mislabelled", "batches")}
    monkeypatch.setattr(study, "data", lambda starts: [x[:1] for x in made["data"](2)])
    monkeypatch.setattr(study, "start_weights", lambda starts: made["start_weights"](2)[:1])
    monkeypatch.setattr(study, "mislabelled", lambda share, starts: made["mislabelled"](share, 2))
    monkeypatch.setattr(study, "batches", lambda members, steps: (b[:1] for b in made["batches"](members, steps)))
    torch.testing.assert_close(study.learned(torch.log1p, 30.0, 0.05, 1, wrong=0.0), together[:1])


@pytest.mark.parametrize("weights", [lambda r: r**2, torch.log1p], ids=["growing", "through both ranks"])
def test_relevant_items_pass_each_other_without_a_hypothesis(weights):
    """Of the proposition on falling weights: that W' never increases; that the second rank is stopped."""
    loss = RecallLoss(BlackboxRanker(6.0), weights=weights, within_grad=weights is torch.log1p)
    places = torch.tensor(figures.places_gained(lambda y: loss(y, RELEVANT), SCORES, 6.0))
    lifted = SCORES + 6.0 * figures.slope(weights, outranking_negatives(SCORES, RELEVANT).float()) / 5
    passed = (SCORES[~RELEVANT] > SCORES[:, None]) & (SCORES[~RELEVANT] < lifted[:, None])
    assert not torch.equal(places[RELEVANT], passed.sum(1)[RELEVANT])


def test_pushes_lie_between_two_weights():
    r = torch.arange(1.0, 60, dtype=torch.float64)
    for name, W in figures.DESIGNS.items():
        push, saved, cost = figures.slope(W, r), W(r) - W(r - 1), W(r + 1) - W(r)
        assert ((cost - 1e-12 <= push) & (push <= saved + 1e-12)).all(), name
    assert np.isclose(float(figures.slope(figures.DESIGNS["min(r, 1)"], torch.ones(1))), 1), "the slope on the left"

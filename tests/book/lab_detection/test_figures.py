import math

import pytest
import torch

from rankedu_book.lab_detection.study import found_of, rivals, scored
from rankedu_lab.experiments.detection_data import Proposals

BOXES = torch.tensor([[0.0, 0, 20, 20], [40, 0, 60, 20], [0, 40, 20, 60]])


def test_found_is_the_share_of_objects_among_as_many_detections():
    def target(n):
        return {"boxes": BOXES[:n], "labels": torch.arange(1, n + 1), "difficult": torch.arange(n) == 1}

    for count in (3, 2):
        perfect = {**target(count), "scores": torch.linspace(0.9, 0.5, count)}
        assert found_of(perfect, target(count)) == 1
    assert math.isnan(found_of({**target(0), "scores": torch.zeros(0)}, target(0)))
    twice = {"boxes": BOXES[[0, 0, 1]], "scores": torch.tensor([0.9, 0.8, 0.7]), "labels": torch.tensor([1, 1, 2])}
    assert found_of(twice, target(3)) == pytest.approx(2 / 3), "a second detection of an object is a false alarm"
    assert found_of(twice, target(2)) == 1 / 2, "it pushes out what comes after"


def test_scores_are_log_odds_of_the_softmax_with_their_weights():
    logits = torch.tensor([[0.0, 3, 0], [0, 1, 0], [0, 2, 0], [0, 0, 1], [0, -1, 0]])
    found = Proposals(logits, torch.tensor([1, 1, 0, 2, 0]), torch.tensor([1.0, 1, 4, 1, 4]))
    (positive, ones), (negative, fours) = scored(found, torch.tensor([1]))
    chances = logits.double().softmax(1)[:, 1]
    assert positive.tolist() == pytest.approx((chances / (1 - chances)).log()[:2].tolist())
    assert (ones.tolist(), fours.tolist(), len(negative)) == ([1, 1], [4, 1, 4], 3)
    middle, share = rivals((positive, ones), (negative, fours))
    assert middle == positive[1] and share == 4 / (4 + 2), "one of weight 4 lies above the lower of two positives"
    certain = Proposals(torch.tensor([[0.0, 99.0]]), torch.tensor([1]), torch.ones(1))
    assert all(scores.isfinite().all() for scores, _ in scored(certain, torch.tensor([1])))

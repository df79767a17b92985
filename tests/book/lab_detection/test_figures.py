"""What the figures of the detection experiments claim, in numbers."""

import math

import pytest
import torch

from rankbook.kit import style
from rankbook.lab_detection.figures import scenes_before_and_after
from rankbook.lab_detection.study import found_of, rivals, scored
from ranklab.experiments.detection_data import Proposals

BOXES = torch.tensor([[0.0, 0, 20, 20], [40, 0, 60, 20], [0, 40, 20, 60]])


class Pictures(list):
    """Three pictures with up to three objects, one without."""

    names, flips = ("A", "potted_plant", "Ш"), False

    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        for count in (3, 2, 0, 1):
            image = torch.randint(0, 256, (3, 64, 64), generator=generator, dtype=torch.uint8)
            target = {"boxes": BOXES[:count], "labels": torch.tensor([1, 2, 3])[:count]}
            self.append((image, target | {"difficult": torch.arange(count) == 1}))

    def target(self, index):
        return self[index][1]


def perfect(data):
    return [{**target, "scores": torch.linspace(0.9, 0.5, len(target["labels"]))} for _, target in data]


def wrong(data):
    return [{**found, "labels": found["labels"] % 3 + 1} for found in perfect(data)]


def test_found_is_the_share_of_objects_among_as_many_detections():
    data = Pictures()
    assert [found_of(*pair) for pair in zip(perfect(data), map(data.target, range(4)), strict=True)][:2] == [1, 1]
    assert math.isnan(found_of(perfect(data)[2], data.target(2)))
    twice = {"boxes": BOXES[[0, 0, 1]], "scores": torch.tensor([0.9, 0.8, 0.7]), "labels": torch.tensor([1, 1, 2])}
    assert found_of(twice, data.target(0)) == pytest.approx(2 / 3), "a second detection of an object is a false alarm"
    assert found_of(twice, data.target(1)) == 1 / 2, "it pushes out what comes after"


def test_pictures_are_chosen_by_what_they_gain_and_told():
    data = Pictures()
    after = wrong(data)
    after[1] = perfect(data)[1]
    figure = scenes_before_and_after(data, wrong(data), after, names=("start", "end"))
    told = style.description(figure)
    assert "most improved: start 0 of 2 and end 2 of 2 are hits" in told
    assert "worst: start 0 of 1 and end 0 of 1 are hits" in told
    signs = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sum(sign[0] == "✓" for sign in signs) == 2 and "✓ potted plant .50" in signs


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

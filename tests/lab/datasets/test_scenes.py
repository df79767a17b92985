"""`Scenes`: what is on them, where, how often, and that nothing but the seed, the split and the index decides it."""

import pickle

import numpy as np
import pytest
import torch

from rankedu_lab.datasets import Scenes, open_detection, rendering, scenes
from rankedu_lab.datasets.rendering import drawn_with, render
from rankedu_lab.datasets.scenes import CLASSES, CLUTTER
from rankedu_lab.datasets.unicode_tree import owners

pytestmark = pytest.mark.filterwarnings("ignore:Scenes. .* draws other pixels")
PINNED_VERSION = drawn_with() == rendering.CHECKED_WITH
IMAGES = 120


@pytest.fixture(scope="module")
def data():
    return Scenes("train", images=IMAGES)


@pytest.fixture(scope="module")
def targets(data):
    return [data.target(index) for index in range(len(data))]


def same(one, other):
    return torch.equal(one[0], other[0]) and all(torch.equal(one[1][key], other[1][key]) for key in one[1])


def test_a_scene_has_a_picture_and_a_target_by_seed_split_and_index_alone(data):
    for size in (64, 200):
        image, target = open_detection("scenes", "test", "ignored", images=2, size=size)[1]
        assert image.shape == (3, size, size) and image.dtype == torch.uint8 and image.is_contiguous()
        count = len(target["labels"])
        assert target["boxes"].shape == (count, 4) and target["boxes"].dtype == torch.float32
        assert target["labels"].dtype == torch.int64 and target["difficult"].shape == (count,)
        assert target["difficult"].dtype == torch.bool
    few, state = pickle.loads(pickle.dumps(Scenes("train", images=8))), torch.random.get_rng_state()
    for index in (5, 0, 7):
        assert same(few[index], data[index])
    assert same(data[-1], data[IMAGES - 1]) and torch.equal(state, torch.random.get_rng_state())
    for index in (IMAGES, -IMAGES - 1):
        with pytest.raises(IndexError, match=f"the {IMAGES} scenes"):
            data[index]


def test_boxes_lie_in_the_picture_and_labels_have_names(targets, data):
    boxes, labels, difficult = (torch.cat([target[key] for target in targets]) for key in targets[0])
    assert boxes.min() >= 0 and boxes.max() <= 128 and (boxes[:, 2:] > boxes[:, :2]).all()
    assert set(labels.tolist()) == set(range(1, len(data.names) + 1))
    assert {len(target["labels"]) for target in targets} == set(range(3, 9))
    assert data.names == CLASSES and len(set(CLASSES + CLUTTER)) == 40 and not data.flips
    sides = (boxes[:, 2:] - boxes[:, :2]).amax(1)
    assert 22 <= sides.median() <= 28 and sides.min() >= 10 and sides.max() <= 56
    assert 0.01 < difficult.float().mean() < 0.1
    assert all(len(characters) == 1 for characters in owners(render(CLASSES + CLUTTER)).values())


def test_another_split_or_seed_gives_other_scenes_and_what_is_not_known_is_refused():
    opened = [Scenes(split, images=2) for split in scenes.SPLITS]
    opened.append(Scenes(images=2, seed=1))
    pictures = {data[index][0].numpy().tobytes() for data in opened for index in range(2)}
    assert len(pictures) == 2 * len(opened)
    for arguments, settings, message in (
        (("voc07", "val"), {}, "split of 'voc07' must be one of 'train', 'test', got 'val'"),
        (("scenes",), {"years": (2007,)}, "settings of 'scenes' must be one of 'images', 'size', 'seed', got 'years'"),
    ):
        with pytest.raises(ValueError, match=message):
            open_detection(*arguments, **settings)


@pytest.mark.skipif(not PINNED_VERSION, reason="another matplotlib")
def test_scenes_are_those_that_results_were_made_on_and_other_pixels_are_told(data, targets, monkeypatch, recwarn):
    assert [data.names[label - 1] for label in targets[0]["labels"].tolist()] == ["A", "A", "B"]
    assert targets[0]["boxes"].tolist() == [[64, 58, 82, 77], [93, 2, 106, 17], [1, 62, 37, 104]]
    boxes, labels, difficult = (torch.cat([target[key] for target in targets]) for key in targets[0])
    assert labels.sum() == 3796 and boxes.sum().item() == pytest.approx(165_658, abs=10)  # a processor rounds its way
    assert difficult.sum() == pytest.approx(21, abs=1)
    pinned = [[112.2657, 132.986, 136.249], [161.0909, 140.5001, 140.9446], [144.6953, 118.7345, 115.6318]]
    found = [data[index][0].float().mean((1, 2)).tolist() for index in range(3)]
    assert np.array(found) == pytest.approx(np.array(pinned), abs=0.02)
    Scenes(images=1)
    assert not recwarn.list
    monkeypatch.setattr(scenes, "PINNED_SHA256", "0" * 64)
    with pytest.warns(UserWarning, match="Scenes: .* draws other pixels .*results are not comparable"):
        Scenes(images=1)

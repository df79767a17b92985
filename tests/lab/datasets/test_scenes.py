"""`Scenes`: what is on them, where, how often, and that nothing but the seed, the split and the index decides it."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import torch

from ranklab.datasets import Scenes, _scene_painting, held_out, open_detection, rendering, scenes
from ranklab.datasets._scene_brushes import EDGE, Piece, contrasting, cut_glyphs, knots, paint_glyph
from ranklab.datasets._scene_painting import CROWDED, _Canvas, _choose, _place
from ranklab.datasets.rendering import SIZE, Rendering, drawn_with, render
from ranklab.datasets.scenes import CLASSES, CLUTTER, card_markdown
from ranklab.datasets.unicode_tree import owners

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


# --- the contract --------------------------------------------------------------------------------------------------


def test_a_scene_has_a_picture_and_a_target():
    for size in (64, 200):
        image, target = open_detection("scenes", "test", "ignored", images=2, size=size)[1]
        assert image.shape == (3, size, size) and image.dtype == torch.uint8 and image.is_contiguous()
        count = len(target["labels"])
        assert target["boxes"].shape == (count, 4) and target["boxes"].dtype == torch.float32
        assert target["labels"].dtype == torch.int64 and target["difficult"].shape == (count,)
        assert target["difficult"].dtype == torch.bool


def test_boxes_lie_in_the_picture_and_labels_have_names(targets, data):
    boxes, labels, difficult = (torch.cat([target[key] for target in targets]) for key in targets[0])
    assert boxes.min() >= 0 and boxes.max() <= 128 and (boxes[:, 2:] > boxes[:, :2]).all()
    assert set(labels.tolist()) == set(range(1, len(data.names) + 1))
    assert {len(target["labels"]) for target in targets} == set(range(3, 9))
    assert data.names == CLASSES and len(set(CLASSES + CLUTTER)) == 40 and not data.flips
    sides = (boxes[:, 2:] - boxes[:, :2]).amax(1)
    assert 22 <= sides.median() <= 28 and sides.min() >= 10 and sides.max() <= 56
    assert 0.01 < difficult.float().mean() < 0.1


def test_no_two_characters_share_a_picture():
    assert all(len(characters) == 1 for characters in owners(render(CLASSES + CLUTTER)).values())


# --- nothing else decides ------------------------------------------------------------------------------------------


def test_a_scene_is_a_function_of_seed_split_and_index(data):
    few, state = pickle.loads(pickle.dumps(Scenes("train", images=8))), torch.random.get_rng_state()
    for index in (5, 0, 7):
        assert same(few[index], data[index])
    assert same(data[-1], data[IMAGES - 1]) and torch.equal(state, torch.random.get_rng_state())
    for index in (IMAGES, -IMAGES - 1):
        with pytest.raises(IndexError, match=f"the {IMAGES} scenes"):
            data[index]


def test_another_split_or_seed_gives_other_scenes_and_the_held_out_ones_are_behind_the_door():
    with pytest.raises(PermissionError, match=r"split must not be 'held_out' before the end.*choose on 'val'"):
        open_detection("scenes", "held_out", images=2)
    with held_out.opened():
        opened = [Scenes(split, images=2) for split in scenes.SPLITS]
    opened.append(Scenes(images=2, seed=1))
    pictures = {data[index][0].numpy().tobytes() for data in opened for index in range(2)}
    assert len(pictures) == 2 * len(opened)


@pytest.mark.skipif(not PINNED_VERSION, reason="another matplotlib")
def test_the_first_scene_is_the_one_that_results_were_made_on(data, recwarn):
    image, target = data[0]
    assert [data.names[label - 1] for label in target["labels"].tolist()] == ["A", "A", "B"]
    assert target["boxes"].tolist() == [[64, 58, 82, 77], [93, 2, 106, 17], [1, 62, 37, 104]]
    assert image.float().mean().item() == pytest.approx(127.167, abs=0.02)
    Scenes(images=1)
    assert not recwarn.list


def test_other_pixels_are_told(monkeypatch):
    monkeypatch.setattr(scenes, "PINNED_SHA256", "0" * 64)
    with pytest.warns(UserWarning, match="Scenes: .* draws other pixels .*results are not comparable"):
        Scenes(images=1)


# --- how often, how large, how hidden ------------------------------------------------------------------------------


def test_class_k_comes_with_a_probability_of_one_over_k():
    generator = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([_choose(generator, 20) for _ in range(4000)]), minlength=21)
    objects = counts[1:].sum()
    expected = objects / np.arange(1, 21) / (1 / np.arange(1, 21)).sum()
    assert (np.abs(counts[1:] - expected) < 4 * np.sqrt(expected)).all()
    assert objects / 4000 == pytest.approx(5.5, abs=0.1) and counts[0] / 4000 == pytest.approx(2.5, abs=0.1)


def test_what_covers_an_object_is_in_front_of_it():
    paper = np.zeros((3, 64, 64), np.float32)
    generator = np.random.default_rng(0)
    solid = Piece(np.ones((20, 20), np.float32), None, (0, 0, 20, 20))
    canvas = _Canvas(paper)
    assert canvas.add(generator, solid, 10, 10) == 1
    front = canvas.picture.copy()
    assert canvas.add(generator, solid, 10, 20) == pytest.approx(0.5)
    assert canvas.add(generator, solid, 5, 15) == pytest.approx(0.25)
    assert canvas.add(generator, solid, 10, 15) == 0
    np.testing.assert_array_equal(canvas.picture[:, 10:30, 10:30], front[:, 10:30, 10:30])
    assert canvas.add(generator, solid, -10, 44) == pytest.approx(0.5), "what lies outside cannot be seen"


def test_a_plate_hides_what_lies_behind_it_and_not_its_own_ink():
    ink = np.zeros((20, 20), np.float32)
    ink[8:12] = 1
    plated = Piece(ink, np.ones((20, 20), np.float32), (0, 8, 20, 12))
    canvas = _Canvas(np.zeros((3, 64, 64), np.float32))
    assert canvas.add(np.random.default_rng(0), plated, 0, 0) == 1
    assert canvas.free[:20, :20].max() == 0 and canvas.free[20:].min() == 1
    assert canvas.add(np.random.default_rng(1), plated._replace(plate=None), 0, 2) == 0


def test_nothing_is_lost_between_front_and_ground(monkeypatch):
    """White on white, a scene is white, whatever stands on it."""
    monkeypatch.setattr(_scene_painting, "contrasting", lambda *_, **__: np.ones(3, np.float32))
    glyphs = cut_glyphs(render("A%"))
    canvas, generator = _Canvas(np.ones((3, 64, 64), np.float32)), np.random.default_rng(0)
    for corner, plated in ((3, True), (12, False), (20, True), (-8, False), (40, True)):
        canvas.add(generator, paint_glyph(glyphs["A%"[corner % 2]][0], 30, 0.2, plated), corner, corner + 2)
    assert canvas.free.min() < 0.01 and canvas.free.max() == 1
    np.testing.assert_allclose(canvas.picture + canvas.free * canvas.ground, 1, atol=1e-5)


def test_places_keep_clear_of_others_where_there_is_room():
    piece = Piece(np.ones((20, 20), np.float32), None, (2, 3, 18, 17))
    wide, taken = np.random.default_rng(0), [(0, 0, 64, 128)]
    boxes = np.array([_place(wide, piece, taken, None, 128) for _ in range(300)])
    assert (boxes[:, 2:] - boxes[:, :2] == (16, 14)).all() and boxes.min() >= 0 and boxes.max() <= 128
    assert 0.6 < (boxes[:, 0] >= 64).mean() < 0.98
    crowd = np.array([_place(wide, piece, [], np.array([64.0, 64.0]), 128) for _ in range(100)])
    assert crowd[:, :2].std() < boxes[:, 1].std() and 0 < CROWDED < 1


# --- the brushes ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def glyph():
    return cut_glyphs(render("R"))["R"][0]


def test_a_glyph_in_its_own_size_is_the_drawing():
    """Where the middle of the ink is the middle of a pixel, nothing is interpolated."""
    drawing = np.zeros((SIZE, SIZE), np.uint8)
    drawing[5:16, 4:11] = np.random.default_rng(0).integers(1, 256, (11, 7))
    drawn = Rendering(drawing[None], np.array([ord("R")]), np.array([0]))
    [glyph] = cut_glyphs(drawn)["R"]
    ink = paint_glyph(glyph, 11.0, 0.0, False).ink
    middle = len(ink) // 2
    np.testing.assert_allclose(
        ink[middle - 5 : middle + 6, middle - 3 : middle + 4], drawing[5:16, 4:11] / 255, atol=1e-5
    )
    assert ink.sum() == pytest.approx(drawing.sum() / 255, rel=1e-4)


def test_a_quarter_turn_is_a_quarter_turn(glyph):
    for side, plated in product((14.0, 42.0), (False, True)):
        upright, turned = (paint_glyph(glyph, side, angle, plated) for angle in (0.0, np.pi / 2))
        np.testing.assert_allclose(np.rot90(upright.ink, -1), turned.ink, atol=2e-3)
        assert (upright.plate is not None) == plated
        if plated:
            np.testing.assert_allclose(upright.plate, turned.plate, atol=2e-3)


@pytest.mark.parametrize("angle", [-0.4, 0.0])
def test_the_box_is_tight_and_grows_with_the_glyph(glyph, angle):
    ink, _, box = paint_glyph(glyph, 30.0, angle, False)
    inside = np.zeros_like(ink, dtype=bool)
    inside[box[1] : box[3], box[0] : box[2]] = True
    assert (ink[~inside] <= EDGE).all()
    for edge in (ink[box[1], :], ink[box[3] - 1, :], ink[:, box[0]], ink[:, box[2] - 1]):
        assert (edge > EDGE).any()
    assert ink[0].max() == ink[-1].max() == ink[:, 0].max() == ink[:, -1].max() == 0, "nothing is cut off"
    double = paint_glyph(glyph, 60.0, angle, False).box
    assert abs((double[3] - double[1]) - 2 * (box[3] - box[1])) <= 3


def test_knots_join_values_smoothly():
    for matrix in knots(64):
        np.testing.assert_allclose(matrix.sum(1), 1, rtol=1e-6)
        ends = matrix @ np.arange(matrix.shape[1], dtype=np.float32)
        assert ends[0] == 0 and ends[-1] == matrix.shape[1] - 1 and (np.diff(ends) >= 0).all()


def test_a_colour_in_contrast_is_the_first_that_fits_or_the_farthest():
    black = np.zeros(3, np.float32)
    greys = np.linspace(0, 1, 5, dtype=np.float32)[:, None] * np.ones(3, np.float32)
    assert contrasting(greys, black, 0.4)[0] == 0.25
    assert contrasting(greys[::-1], black, 0.4, most=1.0)[0] == 0.5
    assert contrasting(greys, black, 5.0)[0] == 1.0


# --- the door and the book -----------------------------------------------------------------------------------------


def test_open_detection_refuses_what_it_does_not_know():
    for arguments, settings, message in (
        (("cub",), {}, "name must be one of 'scenes', 'voc07', 'voc0712', got 'cub'"),
        (("voc07", "val"), {}, "split of 'voc07' must be one of 'train', 'test', got 'val'"),
        (("scenes",), {"years": (2007,)}, "settings of 'scenes' must be one of 'images', 'size', 'seed', got 'years'"),
        (("scenes",), {"size": 63}, "size must be >= 64, got 63"),
    ):
        with pytest.raises(ValueError, match=message):
            open_detection(*arguments, **settings)


def test_the_card_counts_what_is_there(targets):
    table = card_markdown(images=10)
    assert "| images | 10 | 10 |" in table and "A " in table
    assert f"| objects | {sum(len(target['labels']) for target in targets[:10])} |" in table

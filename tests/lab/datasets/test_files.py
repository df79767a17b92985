"""Image files: views, decoding, labels, and files that are corrupt or missing."""

import pickle
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage
from ranklab.datasets.published import PUBLISHED
from ranklab.datasets.transforms import IMAGENET_MEAN, IMAGENET_SD, draw, view

FACTS = PUBLISHED["sop"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def ramp(width, height):
    """A picture whose red is the column and whose green is the row, from 0 to 255."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, np.zeros_like(x)], axis=2).round().astype(np.uint8))


def colours(picture):
    """Undo the normalisation."""
    return picture * torch.tensor(IMAGENET_SD)[:, None, None] + torch.tensor(IMAGENET_MEAN)[:, None, None]


@pytest.mark.parametrize("crop", ["area", "window"])
@pytest.mark.parametrize(("width", "height"), [(256, 256), (300, 200), (90, 400)])
def test_the_test_view_is_the_middle(width, height, crop):
    """Shorter side to 256 and the central 224, or everything to 256 × 256 and the central 224."""
    w, h = (width, height) if crop == "window" else (min(width, height),) * 2
    found = colours(view(ramp(width, height), size=64, crop=crop))
    assert found.shape == (3, 64, 64) and found.dtype == torch.float32 and found.is_contiguous()
    for line, side, whole in ((found[0].mean(0), w, width), (found[1].mean(1), h, height)):
        edge = 0.5 * 224 / 256 * side / whole
        assert line[0] == pytest.approx(0.5 - edge, abs=0.02) and line[-1] == pytest.approx(0.5 + edge, abs=0.02)
    assert found[2].abs().max() < 1e-6


def test_random_views_stay_in_their_bounds():
    """The box is read off the picture: area 16 to 100 %, shape 3:4 to 4:3, half of them flipped."""
    photograph, flipped, boxes = ramp(300, 200), 0, []
    for seed in range(60):
        red, green, _ = colours(view(photograph, draw(generator(seed)), size=32))
        left, right, top, bottom = red[:, 0].mean(), red[:, -1].mean(), green[0].mean(), green[-1].mean()
        flipped += bool(left > right)
        boxes.append((300 * abs(float(right - left)), 200 * float(bottom - top)))
        assert min(left, right, top) > -1e-6 and max(left, right, bottom) < 1 + 1e-6 and bottom > top
    widths, heights = np.array(boxes).T * 32 / 31  # from the centres of the outer pixels to their edges
    area, ratio = widths * heights / (300 * 200), widths / heights
    assert 0.14 < area.min() < 0.3 and 0.7 < area.max() <= 1.05
    assert 0.74 < ratio.min() < 0.85 and 1.2 < ratio.max() < 1.36
    assert 15 < flipped < 45


def test_a_window_is_seven_eighths_of_any_picture_and_a_large_jpeg_is_decoded_no_larger_than_needed(tmp_path):
    red, green, _ = colours(view(ramp(300, 200), draw(generator()), size=64, crop="window"))
    for line in (red.mean(0), green.mean(1)):
        assert abs(float(line[-1] - line[0])) * 64 / 63 == pytest.approx(0.875, abs=0.01)
    for sides in ((1000, 8), (8, 1000), (1, 1)):
        found = view(ramp(*sides), draw(generator()), size=16)
        assert found.shape == (3, 16, 16) and found.isfinite().all(), sides
    for mode in ("L", "RGBA", "P", "CMYK", "1", "I;16"):
        assert view(Image.new(mode, (20, 20)), size=8).shape == (3, 8, 8), mode
    photograph = ramp(800, 600)
    photograph.save(tmp_path / "a.jpg", quality=95)
    with Image.open(tmp_path / "a.jpg") as image:
        small = view(image, size=32)
        assert image.size == (100, 75)
    assert (small - view(photograph, size=32)).abs().max() < 0.1


@pytest.fixture
def tree(tmp_path):
    """Two images of a mug, three of a lamp, one of a sofa in the training; two of a bike in the test."""
    rows = []
    for number, name in enumerate(["mug", "lamp", "mug", "lamp", "lamp", "sofa", "bike", "bike"]):
        Image.new("RGB", (40, 30), (30 * number, 0, 0)).save(tmp_path / f"{number}.jpg")
        rows.append(ListedImage("test" if name == "bike" else "train", f"{number}.jpg", ("thing", name)))
    return tmp_path, rows


def open_tree(tree, split="train", **settings):
    return ImageFiles(FACTS, *tree, split, **{"image_size": 16, **settings})


def test_labels_go_on_in_the_test_and_a_generator_decides_the_view(tree):
    train, test = open_tree(tree), open_tree(tree, "test")
    assert train.labels.tolist() == [[0, 0], [0, 1], [0, 0], [0, 1], [0, 1], [0, 2]]
    assert test.labels.tolist() == [[0, 3], [0, 3]] and train.labels.dtype == torch.int64
    assert train.names == test.names == (("thing",), ("mug", "lamp", "sofa", "bike"))
    assert [path.name for path in test.paths] == ["6.jpg", "7.jpg"] and len(train) == 6
    assert repr(test) == "Stanford Online Products (test: images 2, super-class 1, product 1)"
    picture, labels = test[1]
    assert picture.shape == (3, 16, 16) and labels.tolist() == [0, 3]
    assert colours(picture)[0].mean() * 255 == pytest.approx(210, abs=2)
    data, g, h = open_tree(tree), generator(), generator()
    assert torch.equal(data.load(0, g), data.load(0, h))
    data.load(1, g)
    data.load(5, h)
    assert torch.equal(g.get_state(), h.get_state())
    assert torch.equal(pickle.loads(pickle.dumps(data)).load(1), data.load(1)), "workers get a copy"


def test_bad_settings_and_bad_files_are_named(tree, monkeypatch):
    for settings, message in (
        ({"split": "validation"}, "split must be one of 'train', 'test', got 'validation'"),
        ({"image_size": 0}, "image_size must be >= 1, got 0"),
        ({"crop": "five"}, "crop must be one of 'area', 'window', got 'five'"),
        ({"tree": (tree[0], tree[1][:6]), "split": "test"}, r"split must have images, got 'test'.*cvgl\.stanford\.edu"),
    ):
        with pytest.raises(ValueError, match=message):
            open_tree(**{"tree": tree, **settings})
    data, file = open_tree(tree), tree[0] / "3.jpg"
    for content in (b"", file.read_bytes()[:200]):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"3\.jpg cannot be decoded: .*take it off the list"):
            data.load(3)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"3\.jpg is missing \(.*cvgl\.stanford\.edu"):
        data.load(3)
    file.mkdir()
    with pytest.raises(IsADirectoryError):
        data.load(3)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rankedu\[lab\]'"):
        data.load(0)

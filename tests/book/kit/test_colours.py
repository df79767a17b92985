"""One table of colours for the whole book: legible on its grounds, and told apart whatever eyes look at it."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from tools.closure import ROOT

from rankedu_book.kit import style
from rankedu_book.kit.live import LOOK

#: What figures stand on: the page and the frame of a figure, by day and by night; and the ink of words there.
GROUNDS, INKS = (("#ffffff", "#f3f4f5"), ("#121212", "#29313d")), ("#222832", "#ced6dd")
#: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
EYES = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])


def linear(colour) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other) -> float:
    low, high = sorted(linear(colour) @ XYZ[1] + 0.05 for colour in (one, other))
    return high / low


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB."""
    share = XYZ @ rgb.clip(0, 1) / XYZ.sum(1)
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("night", [0, 1])
def test_marks_and_words_stand_out_from_every_ground(night):
    ink = np.array(to_rgb(INKS[night]))
    for ground in GROUNDS[night]:
        for name, values in style.HUES.items():
            worded = 0.72 * np.array(to_rgb(values[night])) + 0.28 * ink  # as live.css mixes them
            assert contrast(values[night], ground) >= 3, (name, ground)
            assert contrast(worded, ground) >= 4.5, (name, ground)


@pytest.mark.parametrize("night", [0, 1])
@pytest.mark.parametrize("eyes", EYES)
def test_any_two_hues_are_told_apart(eyes, night):
    seen = {name: lab(np.array(EYES[eyes]) @ linear(values[night])) for name, values in style.HUES.items()}
    near = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(seen, 2)}
    assert min(near.values()) >= 17, min(near, key=near.get)


def test_the_page_has_the_same_table_and_a_ball_the_colour_of_the_gradient_that_it_rolls_down():
    for file in ("book/rankedu_book/kit/explorable/picture.css", "book/_static/book.css"):
        assert re.findall(r"white, (#\w{6}) 60%", (ROOT / file).read_text(encoding="utf-8")) == [style.GRADIENT], file
    look = LOOK.read_text(encoding="utf-8")
    by_day, by_night = (dict(re.findall(r"--live-(\w+): (#\w{6});", part)) for part in look.split("[data-theme=", 1))
    named = [name for name in style.HUES if name != "ink"]  # the page's own
    assert [(by_day[name], by_night[name]) for name in named] == [style.HUES[name] for name in named]
    assert dict(re.findall(r"\.live \.(\w+) \{ --live-hue: var\(--live-(\w+)\)", look)) == style.ROLES
    shades = style.bands(8).colors
    assert re.findall(r"rect\.shade\d \{ fill: (#\w{6})", look) == [
        "#" + bytes(np.rint(255 * c[:3]).astype(int).tolist()).hex() for c in shades
    ]

"""One table of colours for the whole book: legible on its grounds, and told apart whatever eyes look at it."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from rankedu_book.figures import FOLDER
from rankedu_book.kit import style

#: What figures stand on: the page and the frame of a figure, by day and by night.
GROUNDS = ("#ffffff", "#f3f4f5"), ("#121212", "#29313d")
#: The variables of figures.css, by day and by night; a short #abc is #aabbcc.
VARIABLES = [
    {name: code if len(code) == 7 else "#" + "".join(2 * digit for digit in code[1:]) for name, code in found}
    for found in (
        re.findall(r"--play-(\w+): (#\w+);", part)
        for part in (FOLDER / "figures.css").read_text(encoding="utf-8").split("[data-theme=", 1)
    )
]
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
def test_marks_stand_out_from_every_ground_and_words_from_that_of_a_figure(night):
    for name, values in style.HUES.items():
        assert all(contrast(values[night], ground) >= 3 for ground in GROUNDS[night]), name
        if name not in ("amber", "sky"):  # for marks only
            assert contrast(values[night], VARIABLES[night]["paper"]) >= 4.5, name


@pytest.mark.parametrize("night", [0, 1])
@pytest.mark.parametrize("eyes", EYES)
def test_any_two_hues_are_told_apart(eyes, night):
    seen = {name: lab(np.array(EYES[eyes]) @ linear(values[night])) for name, values in style.HUES.items()}
    near = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(seen, 2)}
    assert min(near.values()) >= 17, min(near, key=near.get)


def test_figures_to_play_with_have_the_same_table():
    assert [tuple(table[name] for table in VARIABLES) for name in style.HUES] == list(style.HUES.values())

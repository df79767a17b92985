"""The film of chapter 6: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

from rankbook.ch06_ties_and_margins.explorables import FRAMES, collapse_film
from rankbook.ch06_ties_and_margins.study import MARGINS, STEPS
from rankbook.kit import style


def test_the_last_frame_tells_how_each_margin_ended():
    ends = [style.description(collapse_film(step=FRAMES - 1, margin=margin)) for margin in MARGINS]
    assert all(f"step {STEPS} of {STEPS}" in told for told in ends)
    spreads = [float(re.search(r"deviation of (\d+\.\d+)", told).group(1)) for told in ends]
    assert spreads[0] < 0.3 and spreads[3] > 1.2 and spreads[4] > spreads[3]


def test_the_film_can_be_played():
    assert collapse_film.controls["step"].play and not collapse_film.controls["margin"].play

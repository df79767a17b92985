"""The sliders of chapter 14: every frame renders, stays small, and tells what it shows."""

from itertools import product

from rankbook.ch14_happier import explorables as chapter
from rankbook.kit import style
from rankbook.kit.explorable import kept


def test_the_verdict_changes_at_one_half_and_at_one_and_the_default_is_the_released_one():
    starts, offsets = (chapter.step_and_bound.controls[name].values for name in ("start", "offset"))
    for start, offset in product(starts, offsets[::3]):
        found, verdict = chapter.decide(start, offset)
        assert found.holds == (start >= 0.5 and offset >= 1) == verdict.startswith("an upper bound")
        assert not (found.holds and found.continuous)
    told = style.description(chapter.step_and_bound())
    assert "an upper bound, but it falls at δ. It jumps up at 0 and falls at 0.05" in told
    assert "no upper bound" in style.description(chapter.step_and_bound(start=0.0, offset=1.0))


def test_a_steeper_line_writes_off_the_worst_mistakes():
    far = [chapter.pushes(0.01, slope)[2][-1].item() for slope in (0, 10, 100, 1000)]
    assert abs(far[0]) < 1e-6 and far[1] > 4 * far[2] > 16 * far[3] > 0


def test_the_bound_is_kept_by_every_temperature_and_slope():
    for temperature in chapter.who_moves.controls["temperature"].values[::4]:
        for slope in chapter.who_moves.controls["slope"].values:
            value, hard, push = chapter.pushes(temperature, slope)
            assert value >= hard and abs(push.sum()) < 1e-9


def test_a_push_of_nothing_has_no_arrow_and_a_larger_one_a_longer():
    def longest(**values):
        return kept.numbers(chapter.who_moves(**values))["longest"]

    assert longest(temperature=0.001, slope=0) < chapter.LEAST
    assert chapter.LEAST < longest(temperature=0.001, slope=1000) < longest(temperature=0.0501, slope=100) < 1

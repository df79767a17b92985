"""The decorator, the controls, and the two lives of an explorable."""

from __future__ import annotations

import html
import inspect
import itertools
import json
import re

import pytest
from tools.site.explorables import MAX_BYTES, markup, write_frames

from rankbook.kit import live, style
from rankbook.kit.explorable import (
    Explorable,
    all_explorables,
    choice,
    dial,
    explorable,
    goal,
    hold,
    kept,
    log_slider,
    pick,
    slider,
    strip,
    tell,
)
from rankbook.kit.explorable.core import MIME


def draw_power(n: int, scale: float):
    """Powers of x."""
    made, axes = style.figure(width=2, height=2)
    axes.plot([scale * x**n for x in range(5)])
    return style.describe(made, f"{scale:g} x to the power of {n}")


@pytest.fixture
def power() -> Explorable:
    return explorable(n=dial(1, 3, default=2), scale=slider(0, 1, default=0.5, stops=3))(draw_power)


@pytest.mark.parametrize(
    ("control", "stops", "default"),
    [
        (slider(0, 1, default=0.5, stops=3), (0.0, 0.5, 1.0), 0.5),
        (slider(0, 1, default=0.3, stops=3), (0.0, 0.3, 1.0), 0.3),
        (log_slider(0.01, 100, default=1, stops=5), (0.01, 0.1, 1.0, 10.0, 100.0), 1.0),
        (dial(2, 4), (2, 3, 4), 2),
        (choice(["a", "b"], default="b"), ("a", "b"), "b"),
    ],
)
def test_controls(control, stops, default):
    assert control.stops == stops
    assert control.default == default
    assert set(stops) <= set(control.values)
    assert len({control.format(value) for value in control.values}) == len(control.values), "labels tell values apart"


def test_it_is_still_the_function(power):
    assert style.description(power(n=3)) == "0.5 x to the power of 3"
    assert power.caption == "Powers of x."
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        power(m=3)


def test_the_grid_is_every_frame_with_the_last_control_fastest(power):
    assert [tuple(values.values()) for values in power.grid()][:4] == [(1, 0.0), (1, 0.5), (1, 1.0), (2, 0.0)]


def test_without_a_kernel_the_output_is_a_picture_and_an_address(power):
    data, metadata = power._repr_mimebundle_()
    assert data[MIME] == {"explorable": f"{__name__}:draw_power"}
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == "0.5 x to the power of 2"
    assert "application/vnd.jupyter.widget-view+json" not in data


def test_the_live_widget_moves_and_survives_an_error(power):
    from rankbook.kit.explorable.sliders import widget

    box = widget(power)
    n, scale, picture, caption = box.children
    before = picture.value
    n.value = 3
    assert picture.value != before
    assert "power of 3" in caption.value
    assert (n.description, scale.description) == ("n", "scale")
    power.__dict__["png"] = lambda values: 1 / 0
    scale.value = 1.0
    assert "ZeroDivisionError" in caption.value


def test_two_pictures_of_the_same_values_are_the_same_bytes(power):
    assert style.png(power()) == style.png(power())
    assert style.webp(power()) == style.webp(power())


def test_frames_and_markup(power, tmp_path):
    frames = write_frames(power, tmp_path / "power")
    assert [frame["file"] for frame in frames] == [f"{i:02d}.webp" for i in range(9)]
    assert all((tmp_path / "power" / frame["file"]).read_bytes()[:4] == b"RIFF" for frame in frames)
    assert write_frames(power, tmp_path / "power") == frames, "frames are made once"
    page = markup(power, frames, "../x")
    assert '<img src="../x/04.webp" alt="0.5 x to the power of 2">' in page
    assert json.loads(html.unescape(re.search('data-frames="(.*?)"', page).group(1))) == frames
    assert re.search(
        r'<label for="(.*?)">n</label><input type="range" id="\1" min="0" max="2" step="1" value="1"', page
    )


def draw_point(name: str, x: float):
    """A point on a line."""
    made, axes = style.figure(width=4, height=2)
    axes.set_position((0.25, 0, 0.5, 1))
    made.set_layout_engine("none")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    hold(axes, x=lambda x: (x, 0.25))
    pick(axes, name=lambda name: ("ab".index(name), 1.0))
    tell(made, double=2 * x)
    return style.describe(made, f"{name} at {x:g}")


@pytest.fixture
def point() -> Explorable:
    drawn = explorable(name=choice("ab"), x=slider(0, 1, default=0, stops=3))(draw_point)
    drawn = goal("Second.", lambda at: at.name == "b" and at.double == 2, "{name} is at {double:.1f}")(drawn)
    return goal("First.", lambda at: at.x == 0.5, "half <way>")(drawn)


def test_a_frame_keeps_where_it_is_held_and_the_goals_that_it_reaches(point, tmp_path):
    frames = write_frames(point, tmp_path / "point")
    assert all(
        frame["holds"]
        == {
            "x": {"stops": [[0.25, 0.75], [0.5, 0.75], [0.75, 0.75]], "choice": False},
            "name": {"stops": [[0.25, 0.0], [0.75, 0.0]], "choice": True},
        }
        for frame in frames
    )
    assert [frame["goals"] for frame in frames] == [
        *([None, None], ["half <way>", None], [None, None]),
        *([None, None], ["half <way>", None], [None, "b is at 2.0"]),
    ]
    assert frames[5]["numbers"] == {"double": 2.0}
    page = markup(point, frames, "x")
    assert page.index("<li>First.") < page.index("<li>Second.")


def test_nothing_is_held_outside_the_picture():
    made, axes = style.figure(width=2, height=2)
    axes.set(xlim=(0, 1))
    hold(axes, n=lambda n: (n, 0.5))
    with pytest.raises(ValueError, match="n = 2 must be held within the picture, got the place"):
        kept.holds(made, {"n": dial(0, 3)})


def test_a_strip_is_held_where_its_mark_is_drawn():
    made, _ = style.figure(width=4, height=2)
    strip(made, (0.25, 0.2, 0.5, 0.2), "n", 2, (1, 4), label="n", ends=(1, 4))
    made.canvas.draw()
    stops = kept.holds(made, {"n": choice((1, 2, 4))})["n"]["stops"]
    assert {y for _, y in stops} == {0.7} and [x for x, _ in stops] == pytest.approx([0.2596, 0.5, 0.7404], abs=1e-3)
    (mark,) = made.axes[1].lines
    assert made.axes[1].transData.transform(mark.get_xydata())[0] == pytest.approx([200, 60], abs=0.1)


def test_no_two_explorables_have_one_name():
    """A page finds them by it, and so does an address that was sent."""
    assert len({found.name for found in all_explorables().values()}) == len(all_explorables())
    assert not {found.name for found in all_explorables().values()} & set(live.names())


@pytest.mark.parametrize("found", all_explorables().values(), ids=lambda found: found.name)
def test_an_explorable_is_one_that_a_page_can_hold(found):
    """A slider for each parameter, two at most, 60 frames at most, a caption, and stops among the slider's values."""
    assert list(inspect.signature(found.draw).parameters) == list(found.controls)
    assert len(found.controls) <= 2 and len(list(found.grid())) <= 60 and found.caption
    for control in found.controls.values():
        assert set(control.stops) <= set(control.values) and control.default in control.stops


def test_names_are_buttons_and_numbers_a_slider(point, tmp_path):
    page = markup(point, write_frames(point, tmp_path / "point"), "x")
    buttons = re.findall(
        '<input type="radio" name="explorable-draw_point-name" value="(\\d)"( checked)?> (.)</label>', page
    )
    assert buttons == [("0", " checked", "a"), ("1", "", "b")]
    assert 'role="radiogroup" id="explorable-draw_point-name" aria-labelledby="explorable-draw_point-name-name"' in page
    assert re.findall('<input type="range" id="(.*?)"', page) == ["explorable-draw_point-x"]


def test_the_live_widget_is_held_as_the_page_is(point):
    """What the front end sends moves the slider, at all its values, and the picture follows."""
    from rankbook.kit.explorable.sliders import widget

    name, x, picture, _ = widget(point).children
    assert picture.holds["name"] == {"stops": [[0.25, 0.0], [0.75, 0.0]], "choice": True, "at": 0}
    assert len(picture.holds["x"]["stops"]) == len(point.controls["x"].values) == 41
    before = picture.value
    picture.set_state({"moved": ["x", 13, 1]})
    assert x.value == point.controls["x"].values[13] and picture.holds["x"]["at"] == 13
    assert picture.holds["x"]["stops"][13] == [pytest.approx(0.25 + 0.5 * x.value, abs=1e-3), 0.75]
    assert picture.value == before and "a at 0.325" in picture.alt, "the line of this picture shows nothing"
    x.value = 0.0
    picture.set_state({"moved": ["x", 13, 2]})
    assert picture.holds["x"]["at"] == 13, "the same move again"
    picture.set_state({"moved": ["name", 1, 3]})
    assert name.value == "b" and picture.alt == "b at 0.325"


def test_the_live_widget_tells_goals(point):
    from rankbook.kit.explorable.sliders import widget

    name, x, _, caption = widget(point).children
    assert caption.value.count("☐") == 2 and "way" not in caption.value
    x.value = 0.5
    assert "☑ First. <b>half &lt;way&gt;</b>" in caption.value and "☐ Second." in caption.value
    name.value, x.value = "b", 1.0
    assert "☑ Second." in caption.value


def test_a_step_can_play(tmp_path):
    def draw(step: int):
        """Steps."""
        made, _ = style.figure(width=1, height=1)
        return style.describe(made, f"step {step}")

    from rankbook.kit.explorable.sliders import widget

    steps = explorable(step=dial(0, 3, play=True))(draw)
    page = markup(steps, write_frames(steps, tmp_path / "steps"), "x")
    assert '<button type="button" data-plays="explorable-draw-step">Play</button>' in page
    play, slider = widget(steps).children[0].children
    assert (play.min, play.max) == (0, 3) and slider.index == 0


def test_frames_that_weigh_too_much_are_refused(power, tmp_path, monkeypatch):
    monkeypatch.setattr("tools.site.explorables.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="draw_power must weigh at most 1000 bytes, got"):
        write_frames(power, tmp_path / "power")
    assert MAX_BYTES == 600_000


def scales(made) -> tuple:
    """The limits of all axes, and which colours stand for which values."""
    painted = [
        (axes, one) for axes in made.axes for one in (*axes.images, *axes.collections) if one.get_array() is not None
    ]
    colours = [
        (*one.get_clim(), *getattr(one.norm, "boundaries", ()), *one.get_cmap()(range(9)).flat) for _, one in painted
    ]
    return tuple((axes.get_xlim(), axes.get_ylim()) for axes in made.axes), tuple(colours)


@pytest.mark.parametrize("found", all_explorables().values(), ids=lambda found: found.name)
def test_no_slider_can_be_driven_to_an_exception_or_its_hold_out_of_the_picture(found):
    """In the middle and at the ends of all sliders, in all combinations: the stops between are drawn by the book.

    Axes and colours mean the same in all of them; only a seed draws something else, which has its own heights.
    """
    controls, sizes, scaled = found.controls.values(), set(), {}
    inside = tuple(control.values[len(control.values) // 2] for control in controls)
    for given in {inside, *itertools.product(*({control.values[0], control.values[-1]} for control in controls))}:
        named = dict(zip(found.controls, given, strict=True))
        made = found(**named)
        scaled.setdefault(named.get("seed"), set()).add(scales(made))
        assert len(style.description(made).split()) > 5
        sizes.add(tuple(made.get_size_inches()))
        made.draw_without_rendering()  # lays the picture out
        for held, where in kept.holds(made, found.controls).items():
            assert held in found.controls
            assert len({tuple(place) for place in where["stops"]}) > 1
        for held, where in kept.holds(made, found.controls, finely=True).items():
            assert len(where["stops"]) == len(found.controls[held].values)
    assert len(sizes) == 1 and {len(one) for one in scaled.values()} == {1}

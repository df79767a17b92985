"""The decorator, the controls, the two lives of an explorable, what each of the book's must keep, and its ground."""

import html
import inspect
import json
import re

import numpy as np
import pytest
from tools.site.explorables import markup, write_frames

from rankedu_book.kit import explorable as kit
from rankedu_book.kit import live, style, timing
from rankedu_book.kit.explorable.core import MIME
from rankedu_book.kit.explorable.sliders import widget

EACH = pytest.mark.parametrize("found", kit.all_explorables().values(), ids=lambda found: found.name)


@pytest.fixture
def point() -> kit.Explorable:
    def draw_point(name: str, n: int, x: float):
        """A point on a line."""
        made, axes = style.figure(width=4, height=2)
        axes.set_position((0.25, 0, 0.5, 1))
        made.set_layout_engine("none")
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.axhline(n / 3)
        kit.hold(axes, x=lambda x: (x, 0.25))
        kit.pick(axes, name=lambda name: ("ab".index(name), 1.0))
        kit.tell(made, double=2 * x)
        return style.describe(made, f"{name}, {n}, at {x:g}")

    controls = {"name": kit.choice("ab"), "n": kit.dial(1, 2), "x": kit.slider(0, 1, default=0, stops=3)}
    drawn = kit.explorable(**controls)(draw_point)
    drawn = kit.goal("Second.", lambda at: at.name == "b" and at.double == 2, "{name} is at {double:.1f}")(drawn)
    return kit.goal("First.", lambda at: at.x == 0.5, "half <way>")(drawn)


def test_controls():
    for control, stops, default in (
        (kit.slider(0, 1, default=0.5, stops=3), (0.0, 0.5, 1.0), 0.5),
        (kit.slider(0, 1, default=0.3, stops=3), (0.0, 0.3, 1.0), 0.3),
        (kit.log_slider(0.01, 100, default=1, stops=5), (0.01, 0.1, 1.0, 10.0, 100.0), 1.0),
        (kit.dial(2, 4), (2, 3, 4), 2),
        (kit.choice(["a", "b"], default="b"), ("a", "b"), "b"),
    ):
        assert (control.stops, control.default) == (stops, default)
        assert set(stops) <= set(control.values)
        assert len({control.format(value) for value in control.values}) == len(control.values), "labels differ"


def test_it_is_still_the_function_and_without_a_kernel_a_picture_and_an_address(point):
    assert style.description(point(x=0.3)) == "a, 1, at 0.3" and point.caption == "A point on a line."
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        point(m=3)
    data, metadata = point._repr_mimebundle_()
    assert data[MIME] == {"explorable": f"{__name__}:draw_point"}
    assert data["image/png"] == style.png(point()), "the same bytes for the same values"
    assert metadata["image/png"]["alt"] == "a, 1, at 0"
    assert "application/vnd.jupyter.widget-view+json" not in data


def test_a_frame_for_every_stop_keeps_where_it_is_held_and_the_goals_that_it_reaches(point, tmp_path, monkeypatch):
    stops = [tuple(at.values()) for at in point.grid()]
    assert stops[:4] == [("a", 1, 0.0), ("a", 1, 0.5), ("a", 1, 1.0), ("a", 2, 0.0)]
    frames = write_frames(point, tmp_path / "point")
    assert [frame["file"] for frame in frames] == [f"{i:02d}.webp" for i in range(12)]
    written = [(tmp_path / "point" / frame["file"]).read_bytes() for frame in frames]
    assert all(data[:4] == b"RIFF" for data in written) and written[0] == style.webp(point())
    assert write_frames(point, tmp_path / "point") == frames, "made once"
    x = {"stops": [[0.25, 0.75], [0.5, 0.75], [0.75, 0.75]], "choice": False}
    held = {"x": x, "name": {"stops": [[0.25, 0.0], [0.75, 0.0]], "choice": True}}
    none, half, both = [None, None], ["half <way>", None], [None, "b is at 2.0"]
    assert all(frame["holds"] == held for frame in frames) and frames[5]["numbers"] == {"double": 2.0}
    assert [frame["goals"] for frame in frames] == [*[none, half, none] * 2, *[none, half, both] * 2]
    page = markup(point, frames, "../x")
    assert '<img src="../x/00.webp" alt="a, 1, at 0">' in page and page.index("<li>First.") < page.index("<li>Second.")
    assert json.loads(html.unescape(re.search('data-frames="(.*?)"', page).group(1))) == frames
    assert re.search('<label for="(.*)">n</label><input type="range" id="\\1" min="0" max="1" step="1" value="0"', page)
    buttons = '<input type="radio" name="explorable-draw_point-name" value="(\\d)"( checked)?> (.)</label>'
    assert re.findall(buttons, page) == [("0", " checked", "a"), ("1", "", "b")], "names are buttons"
    monkeypatch.setattr("tools.site.explorables.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="draw_point must weigh at most 1000 bytes, got"):
        write_frames(point, tmp_path / "again")


def test_the_live_widget_is_held_as_the_page_is_tells_goals_and_survives_an_error(point):
    name, n, x, picture, caption = widget(point).children
    before = picture.value
    assert n.index == 0 and (n.description, x.description) == ("n", "x")
    n.value = 2
    assert picture.value != before and "a, 2, at 0" in picture.alt
    assert caption.value.count("☐") == 2 and "way" not in caption.value
    assert picture.holds["name"] == {"stops": [[0.25, 0.0], [0.75, 0.0]], "choice": True, "at": 0}
    assert len(picture.holds["x"]["stops"]) == len(point.controls["x"].values) == 41
    picture.set_state({"moved": ["x", 13, 1]})  # as the front end sends it
    assert x.value == point.controls["x"].values[13] and picture.holds["x"]["at"] == 13
    x.value = 0.5
    assert "☑ First. <b>half &lt;way&gt;</b>" in caption.value and "☐ Second." in caption.value
    picture.set_state({"moved": ["x", 13, 2]})
    assert picture.holds["x"]["at"] == 13, "the same move again"
    picture.set_state({"moved": ["name", 1, 3]})
    assert name.value == "b" and picture.alt == "b, 2, at 0.325"
    x.value = 1.0
    assert "☑ Second." in caption.value
    point.__dict__["png"] = lambda values: 1 / 0
    n.value = 1
    assert "ZeroDivisionError" in caption.value


@pytest.mark.filterwarnings("ignore:lam=")
@EACH
def test_an_explorable_is_one_that_a_page_can_hold_and_no_slider_drives_it_out_of_the_picture(found):
    controls, looks = found.controls, set()
    assert list(inspect.signature(found.draw).parameters) == list(controls)
    assert len(controls) <= 2 and len(list(found.grid())) <= 60 and found.caption
    for share in (0, 0.5, 1):
        turned = {name: 0 if name == "seed" else int(share * (len(one.values) - 1)) for name, one in controls.items()}
        made = found(**{name: controls[name].values[place] for name, place in turned.items()})
        assert len(style.description(made).split()) > 5
        made.draw_without_rendering()  # lays the picture out
        for held, where in kit.kept.holds(made, controls, finely=True).items():
            assert len(where["stops"]) == len(controls[held].values)
            assert len({tuple(place) for place in where["stops"]}) > 1
        drawn = [one for axes in made.axes for one in (*axes.images, *axes.collections) if one.get_array() is not None]
        limits = [(axes.get_xlim(), axes.get_ylim()) for axes in made.axes]
        painted = [one for one in drawn if getattr(one, "filled", True)]  # black lines have no scale
        looks.add((*made.get_size_inches(), *limits, *(one.get_clim() for one in painted)))
    assert len(looks) == 1, "axes and colours mean the same everywhere; only a seed has heights of its own"
    for control in controls.values():
        assert set(control.stops) <= set(control.values) and control.default in control.stops
    names = [one.name for one in kit.all_explorables().values()] + [*live.names()]
    assert names.count(found.name) == 1, "a page finds it by its name, and so does an address that was sent"


def test_fitted_exponent_finds_the_exponent():
    lengths = np.geomspace(1e3, 1e6, 9).astype(int)
    seconds = np.exp(0.05 * np.random.default_rng(0).standard_normal(9)) * lengths**2.0
    exponent, margin = timing.fitted_exponent(dict(zip(lengths.tolist(), seconds.tolist(), strict=True)))
    assert abs(exponent - 2) < margin < 0.1

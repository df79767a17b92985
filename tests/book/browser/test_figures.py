"""Figures to play with: their definitions are the book's, and a hand, a key and a finger find what they need."""

import itertools
import json
import math
import random

import pytest
import walk
from tools.site.figures import page as page_of

from rankedu import reference
from rankedu_book.ch01_rank_based_metrics.figures import models as same_scores
from rankedu_book.figures import FIGURES

EACH = pytest.mark.parametrize("name", FIGURES)
STANDS = "() => [...document.querySelectorAll('.play')].every((one) => one.dataset.state)"


@pytest.fixture
def shown(visit, tmp_path):
    """Opens a page with one figure, in a state that the address may name."""

    def open_figure(name, state="", **options):
        (tmp_path / f"{name}.html").write_text(page_of(name), encoding="utf-8")
        page = visit(f"{(tmp_path / f'{name}.html').as_uri()}{f'#figure-{name}?{state}' if state else ''}", **options)
        if options.get("java_script_enabled", True):
            walk.until(page, STANDS)
        return page

    return open_figure


def state(page):
    return json.loads(page.locator(".play").get_attribute("data-state"))


@EACH
def test_a_figure_is_drawn_in_a_page_that_has_no_frames(chromium, tmp_path, name):
    """A page behind another, or one that is printed at once, is given none."""
    (tmp_path / "page.html").write_text(page_of(name), encoding="utf-8")
    page = chromium.new_page()
    page.add_init_script("window.requestAnimationFrame = () => 0")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate(f"new Promise((done) => setTimeout(() => done(({STANDS})()), 300))")
    page.close()


def calls():
    """Random calls of every definition, ties among them: its name and its arguments."""
    draw = random.Random(0)
    for _ in range(40):
        n = draw.randint(2, 9)
        y = [draw.choice([draw.gauss(0, 1), 0.5, -0.25]) for _ in range(n)]
        c = [draw.gauss(0, 1) for _ in range(n)]
        relevant = [True, *(draw.random() < 0.5 for _ in range(n - 1))]
        draw.shuffle(relevant)
        levels = [3, *(draw.randint(0, 3) for _ in range(n - 1))]
        lam, k, alpha = draw.uniform(0.1, 9), draw.randint(1, n), draw.uniform(0.2, 4)
        rel = reference.relevance(levels, alpha)
        yield from [("mean", [y]), ("order", [y]), ("rank", [y]), ("rank_among", [y, relevant])]
        yield from [("rank_gradient", [y, c, lam]), ("optimal_value", [y]), ("interpolated", [y, c, lam])]
        yield from [("average_precision", [y, relevant]), ("map_at_r", [y, relevant])]
        yield from [("precision_at_k", [y, relevant, k]), ("recall_at_k", [y, relevant, k])]
        yield from [("ndcg", [y, [float(one) for one in levels]]), ("sigmoid", [20 * c[0]])]
        yield from [("shift_by_margin", [y, relevant, lam])]
        members, cosines, bins = draw.choice([None, relevant]), [math.tanh(score) for score in y], draw.randint(1, 40)
        yield from [("sigmoid_rank", [y, lam / 10, members]), ("smooth_ap", [y, relevant, lam / 30])]
        yield from [("soft_histogram", [cosines, bins]), ("histogram_rank", [cosines, bins])]
        yield from [("fast_ap", [cosines, relevant, bins]), ("projected_rank", [y, lam / 5])]
        yield from [("identity_gradient", [y, c, draw.choice(["none", "mean", "std"])])]
        yield from [("relevance", [levels, alpha]), ("h_rank", [y, rel]), ("hierarchical_average_precision", [y, rel])]


def test_every_definition_of_the_figures_is_that_of_the_reference(shown):
    page, made = shown("average-precision"), list(calls())
    names = set(page.evaluate("Object.keys(rankedu.ranks)"))
    assert names - {"precisions"} == {name for name, _ in made}, "a definition that no call compares"
    found = page.evaluate("(calls) => calls.map(([name, values]) => rankedu.ranks[name](...values))", made)
    for (name, values), got in zip(made, found, strict=True):
        assert got == pytest.approx(getattr(reference, name)(*values), abs=1e-9), (name, values)


@EACH
def test_a_slider_is_as_wide_as_a_phone_and_a_figure_as_high_as_a_screen(shown, name):
    for width in (360, 390, 412, 1280):
        phone = {"viewport": {"width": width, "height": 800}, "has_touch": width < 500, "is_mobile": width < 500}
        page = shown(name, **phone)
        tracks = page.evaluate("[...document.querySelectorAll('.play input')].map((one) => one.clientWidth)")
        assert all(track >= 280 for track in tracks), (width, tracks)
        assert page.locator(".play").bounding_box()["height"] <= 600 and not walk.width(page)
        held = ".play-handle, .play input, .play button"
        high = page.locator(held).evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")
        assert all(round(each, 3) >= 44 for each in high), high  # the browser rounds to float32


@EACH
def test_keys_move_everything_that_a_hand_moves_and_the_address_keeps_it(shown, name):
    page = shown(name, reduced_motion="reduce")
    for held in page.locator(".play input, .play-handle").all():
        before = state(page)
        held.press("ArrowRight")
        walk.until(page, f"() => document.querySelector('.play').dataset.state !== {json.dumps(json.dumps(before))}")
        page.wait_for_timeout(50)
        assert state(page) != before, held.get_attribute("aria-label") or held.get_attribute("id")
        assert held.get_attribute("aria-valuetext")
    walk.until(page, f"() => location.hash.startsWith('#figure-{name}?')")
    page.wait_for_timeout(300)
    kept = page.evaluate("document.querySelector('.play').play.state")
    again = shown(name, page.evaluate("location.hash").split("?")[1])
    assert again.evaluate("document.querySelector('.play').play.state") == kept
    assert page.locator("[role=status]").inner_text()


@EACH
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(shown, name, theme):
    page = shown(name)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    assert not walk.accessibility(page, (theme,), ".play")


@EACH
def test_without_scripts_and_on_paper_there_is_one_picture(shown, name):
    page = shown(name)
    assert not page.locator(".play-still").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".play-still").is_visible() and not page.locator(".play-here").is_visible()
    bare = shown(name, java_script_enabled=False)
    assert bare.locator(".play-still").is_visible() and bare.locator(".play-still").get_attribute("alt")


def test_the_ball_lies_still_on_the_staircase_and_rolls_on_the_slope(shown):
    page = shown("landscape", reduced_motion="reduce")
    page.locator("input").press("Home")
    walk.until(page, "() => JSON.parse(document.querySelector('.play').dataset.state).lam < 0.06")
    stair = state(page)
    assert stair["end"] == stair["ball"]
    page.locator("input").press("End")
    walk.until(page, "() => JSON.parse(document.querySelector('.play').dataset.state).lam > 11")
    assert state(page)["end"] != stair["ball"] and state(page)["loss"] < stair["loss"]


def test_small_batches_show_a_map_that_is_too_high_and_the_whole_set_the_truth(shown):
    means = []
    for size in (8, 64, 1024):
        page = shown("batch-size", f"batch_size={size}")
        walk.until(page, "() => JSON.parse(document.querySelector('.play').dataset.state).draws >= 40")
        assert state(page)["batch_size"] == size
        means.append(state(page)["mean"])
    assert means[0] > means[1] > means[2] and math.isclose(means[2], state(page)["truth"], abs_tol=1e-12)


def test_the_average_precision_is_that_of_the_list_that_was_dragged(shown):
    page = shown("average-precision")
    box = page.locator(".play-handle").nth(4).bounding_box()
    page.mouse.move(box["x"] + 22, box["y"] + 22)
    page.mouse.down()
    page.mouse.move(box["x"] + 22, page.locator(".play-stage").bounding_box()["y"], steps=5)
    page.mouse.up()
    page.locator(".play-handle").nth(0).press("Enter")
    walk.until(page, "() => JSON.parse(document.querySelector('.play').dataset.state).relevance[0] === 1")
    found = state(page)
    assert found["scores"][4] == max(found["scores"])
    assert found["average_precision"] == pytest.approx(reference.average_precision(found["scores"], found["relevance"]))


def put(page, **values):
    """Put a figure into a state, and return what it shows."""
    page.evaluate(f"document.querySelector('.play').play.set({json.dumps(values)})")
    page.wait_for_timeout(60)
    return state(page)


def test_the_staircase_is_the_loss_of_the_reference(shown):
    page = shown("staircase", reduced_motion="reduce")
    for at in (0.2, 0.35, 0.7, 0.85, 0.95):
        loss = 1 - reference.average_precision([0.9, 0.8, 0.6, at, 0.3], [0, 1, 0, 1, 0])
        assert put(page, at=at)["loss"] == pytest.approx(loss)


def test_the_weights_pull_least_where_each_hangs_on_the_peg_of_its_rank(shown):
    page, scores = shown("solver"), [0.9, 0.8, 0.6, 0.4, 0.3]
    for pegs in itertools.islice(itertools.permutations(range(1, 6)), 0, None, 7):
        least = reference.optimal_value(scores)
        assert (put(page, pegs=pegs)["pull"] < least + 1e-9) == (list(pegs) == reference.rank(scores)), pegs


def test_there_is_a_gradient_once_an_item_passes_another(shown):
    page = shown("look-ahead")
    opened = state(page)
    assert opened["lam"] == 1.3 and sum(map(bool, opened["gradient"])) == 2
    assert not any(put(page, lam=1.19)["gradient"]) and any(put(page, lam=1.21)["gradient"])


def test_the_mean_of_the_staircase_is_the_interpolation(shown):
    page = shown("paint", reduced_motion="reduce")
    for at, lam in ((0.42, 0.15), (0.0, 0.5), (0.88, 0.05)):
        ranks = [reference.rank([0.9, 0.7, 0.5, at + lam * (k + 0.5) / 2000, 0.1])[3] for k in range(2000)]
        assert put(page, at=at, lam=lam)["mean"] == pytest.approx(sum(ranks) / 2000, abs=0.005)


def test_every_path_is_learned_but_one_that_touches_itself(shown):
    page = shown("paths", reduced_motion="reduce")
    for leaves, learned in (([5, 5, 2, 0, 0], True), ([0, 0, 3, 3, 5], True), ([5, 0, 5, 0, 5], False)):
        assert (put(page, leaves=leaves, step=16, lam=10)["wrong"] == 0) == learned, leaves
    assert put(page, leaves=[5, 5, 2, 0, 0], lam=0.01)["wrong"]
    assert "λ is too short" in page.locator(".play-words").inner_text()


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_gradient_with_a_margin_is_that_of_the_loss_and_begins_at_the_gap(shown):
    torch, losses = pytest.importorskip("torch"), pytest.importorskip("rankedu.losses")
    rankers = pytest.importorskip("rankedu.rankers")
    page = shown("margin")
    for margin, lam, pushed in ((0.11, 3, 0), (0.13, 3, 2), (0.4, 3, 4), (0.4, 0.2, 0)):
        found = put(page, margin=margin, lam=lam)
        scores = torch.tensor(found["scores"], dtype=torch.float64, requires_grad=True)
        losses.APLoss(rankers.BlackboxRanker(lam), margin)(scores, torch.arange(6) < 3).backward()
        assert found["gradient"] == pytest.approx(scores.grad.tolist(), abs=1e-9)
        assert sum(map(bool, found["gradient"])) == pushed, (margin, lam)


def test_a_margin_leaves_a_gap_and_errors_then_cost_less(shown):
    page = shown("collapse", reduced_motion="reduce")
    for margin in (0.05, 0.15, 0.25):
        found = put(page, margin=margin, error=0.1)
        assert 1e-6 < found["gaps"][0] < 0.01 and found["gaps"][1] == pytest.approx(margin, abs=0.02)
        assert found["with_errors"][0] < found["with_errors"][1]


def test_from_model_a_of_chapter_1_to_model_c_cross_entropy_falls_and_ap_falls_too(shown):
    page, found = shown("cross-entropy"), {}
    scores, relevant = same_scores()
    for name in "AC":
        page.get_by_role("button", name=f"Model {name}").click()
        page.wait_for_timeout(200)
        found[name] = state(page)
        assert found[name]["scores"] == scores[name].tolist()
        ap = reference.average_precision(scores[name].tolist(), relevant.tolist())
        assert found[name]["average_precision"] == pytest.approx(ap)
    assert all(found["C"][kind] < found["A"][kind] for kind in ("cross_entropy", "average_precision"))


def test_a_finger_drags_an_item_upwards_and_the_page_stays(shown):
    page = shown("look-ahead", viewport={"width": 360, "height": 400}, has_touch=True, is_mobile=True)
    page.add_style_tag(content="body { padding-bottom: 2000px }")  # there is room to scroll
    handle = page.locator(".play-handle").nth(2)
    handle.scroll_into_view_if_needed()
    before, top, box = state(page)["scores"], page.evaluate("scrollY"), handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger = page.context.new_cdp_session(page)
    for kind, up in [("touchStart", 0), *(("touchMove", 5 * step) for step in range(1, 9))]:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - up}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    walk.until(
        page, "old => JSON.parse(document.querySelector('.play').dataset.state).scores[2] > old + 0.3", arg=before[2]
    )
    assert page.evaluate("scrollY") == top

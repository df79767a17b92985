"""JupyterLab as a reader meets it: run a chapter, press a key on a slider, drag an item; the kernel answers."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbformat
import pytest
from tools.notebooks import pairs

from rankedu import reference

pytestmark = pytest.mark.browser
CHAPTER = "02_blackbox_differentiation.ipynb"
LIVE = "from rankbook.idea.live import descend\nfrom rankbook.kit.live import live\n\nlive(descend)"
#: Seconds that a machine may take which is slow and busy; an idle one takes a tenth.
PATIENCE = 180


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server on a copy of a chapter with the front page's explorable at its end; yields its address."""
    folder = tmp_path_factory.mktemp("lab")
    chapter = nbformat.read(pairs.ROOT / "notebooks" / CHAPTER, as_version=4)
    for cell in chapter.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
    chapter.cells.append(nbformat.v4.new_code_cell(LIVE))
    nbformat.write(chapter, folder / CHAPTER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", f"--port={port}", f"--notebook-dir={folder}"),
        *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", "--allow-root"),
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    settings = {key: str(folder / ".jupyter" / key) for key in ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR")}
    everything = folder / ".jupyter" / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension"
    everything.mkdir(parents=True)  # all cells are attached to the page, also those far from the view
    (everything / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}', encoding="utf-8")
    workspace = {"JUPYTERLAB_WORKSPACES_DIR": str(folder / ".jupyter" / "workspaces"), "RANKEDU_EXPLORABLES": "live"}
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **settings, **workspace}, stdout=log, stderr=subprocess.STDOUT
        )
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(address, server, folder / "lab.log")
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def wait_for(address: str, server: subprocess.Popen, log) -> None:
    ends = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < ends:
        with contextlib.suppress(urllib.error.URLError, TimeoutError):
            urllib.request.urlopen(f"{address}/api/status", timeout=2)
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.5)
    raise AssertionError(f"JupyterLab did not answer at {address} in {PATIENCE} s:\n{log.read_text()}")


def accept_dialogs(page):
    """What JupyterLab asks on a machine that is slow, such as which kernel it shall be: the answer that it proposes."""
    while page.locator("dialog").count():
        asked = page.locator("dialog").first.element_handle()
        page.locator("dialog .jp-mod-accept").first.click()
        asked.wait_for_element_state("hidden")


#: What stands before the code cells: [ ] where none was run, [*] where it will be, a number where it was. Where
#: the source is hidden there may be nothing.
PROMPTS = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map((one) => one.textContent.trim())
  .filter(Boolean)"""


def run_all_cells(page):
    """Choose Run All Cells until every cell was run: JupyterLab drops what is asked while a kernel starts."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached")
    asked = f"({PROMPTS})().every((prompt) => prompt !== '[ ]:')"
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends and not page.evaluate(asked):
        accept_dialogs(page)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        with contextlib.suppress(PlaywrightTimeout):
            page.wait_for_function(asked, timeout=20_000)
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(
            f"({PROMPTS})().every((prompt) => /^\\[\\d+\\]:$/.test(prompt))", timeout=1000 * PATIENCE
        )
    prompts = page.evaluate(PROMPTS)
    assert prompts and all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts), (prompts, trouble(page))


def trouble(page) -> list[str]:
    """Whatever the cells complain of, and what JupyterLab asks."""
    told = "dialog, .jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr'], .jp-OutputArea-output .trouble"
    return [text for text in page.locator(told).all_inner_texts() if text]


@pytest.fixture(scope="module")
def page(lab, chromium):
    """The chapter as JupyterLab shows it, every cell run."""
    page = chromium.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{lab}/lab/tree/{CHAPTER}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    run_all_cells(page)
    yield page
    page.close()


def test_a_slider_is_moved_by_keyboard(page):
    picture, handle = page.locator("img.widget-image").first, page.locator(".widget-slider .noUi-handle").first
    picture.wait_for(state="attached")
    for _ in range(3):
        before = picture.get_attribute("src")
        handle.press("ArrowRight")
        page.wait_for_function("before => document.querySelector('img.widget-image').src !== before", arg=before)
    assert not trouble(page)


def test_an_item_is_dragged_and_the_kernel_answers(page):
    pytest.importorskip("anywidget")
    item = page.locator("[data-handle='Item H']")
    item.scroll_into_view_if_needed()
    figure = page.locator("figure[data-live]", has=item)
    for move in range(4):
        before = figure.get_attribute("data-state")
        if move:
            item.press("ArrowRight")
        else:
            box = item.bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + 200, box["y"] + 20, steps=5)
            page.mouse.up()
        changed = "([figure, before]) => figure.dataset.state !== before"
        page.wait_for_function(changed, arg=[figure.element_handle(), before])
    page.wait_for_function("figure => JSON.parse(figure.dataset.state).scores[7] > 0.3", arg=figure.element_handle())
    told = json.loads(figure.get_attribute("data-state"))
    assert told["ranks"] == reference.rank(told["scores"])
    assert told["average_precision"] == reference.average_precision(told["scores"], told["relevance"])
    assert not trouble(page)

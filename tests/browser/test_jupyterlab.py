"""JupyterLab as a reader meets it: run a chapter, press a key on a slider, drag an item; the kernel answers."""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
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
CHAPTER, LIVE = "02_blackbox_differentiation.ipynb", "live.ipynb"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server on a copy of the notebooks; yields its address."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(pairs.ROOT / "notebooks" / CHAPTER, folder)
    cell = "from rankedu.book.explorables.live import descend, live\n\nlive(descend)"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)], metadata=KERNEL), folder / LIVE)
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
    for _ in range(120):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=2)
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.5)
    raise AssertionError(log.read_text())


def accept_dialogs(page):
    """What JupyterLab asks on a machine that is slow, such as which kernel it shall be: the answer that it proposes."""
    for _ in range(3):
        if page.locator("dialog").count():
            print(f"\nJupyterLab asks: {page.locator('dialog').first.inner_text()!r}")
            page.locator("dialog .jp-mod-accept").first.click()
            page.wait_for_timeout(1000)


def run_all_cells(page, attempts=3):
    """Choose Run All Cells until the kernel is busy: JupyterLab drops what is asked while a kernel starts."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached", timeout=90_000)
    for attempt in range(1, attempts + 1):
        accept_dialogs(page)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        busy = page.locator(".jp-Notebook-ExecutionIndicator[data-status=busy]")
        try:
            return busy.wait_for(state="attached", timeout=20_000)
        except PlaywrightTimeout:
            if attempt == attempts:
                raise


def test_run_the_chapter_and_move_a_slider_by_keyboard(lab, chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(f"{lab}/lab/tree/{CHAPTER}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90_000)
    run_all_cells(page)
    running = page.locator(".jp-Notebook-ExecutionIndicator[data-status=busy]")
    running.wait_for(state="detached", timeout=180_000)
    picture = page.locator("img.widget-image").first
    handle = page.locator(".widget-slider .noUi-handle").first
    picture.wait_for(state="attached", timeout=90_000)
    handle.scroll_into_view_if_needed()
    handle.focus()
    seconds = []
    for _ in range(9):
        before = picture.get_attribute("src")
        started = time.perf_counter()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "before => document.querySelector('img.widget-image').src !== before",
            arg=before,
            polling=10,
            timeout=20_000,
        )
        seconds.append(time.perf_counter() - started)
    assert page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    print(f"\nslider to new picture: median {1000 * statistics.median(seconds):.0f} ms of {len(seconds)} presses")
    page.close()


def test_drag_an_item_and_the_kernel_answers(lab, chromium):
    pytest.importorskip("anywidget")
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(f"{lab}/lab/tree/{LIVE}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90_000)
    run_all_cells(page)
    item = page.locator("[data-handle='Item H']")
    item.wait_for(timeout=90_000)
    seconds = []
    for move in range(8):
        before = page.locator("figure[data-live]").get_attribute("data-state")
        started = time.perf_counter()
        if move:
            item.press("ArrowRight")
        else:
            box = item.bounding_box()
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + 200, box["y"] + 20, steps=5)
            page.mouse.up()
        page.wait_for_function(
            "before => document.querySelector('figure[data-live]').dataset.state !== before",
            arg=before,
            polling=10,
            timeout=20_000,
        )
        seconds.append(time.perf_counter() - started)
    told = json.loads(page.locator("figure[data-live]").get_attribute("data-state"))
    assert told["scores"][7] > 0.3 and told["ranks"] == reference.rank(told["scores"])
    assert told["average_precision"] == reference.average_precision(told["scores"], told["relevance"])
    assert page.locator(".trouble").is_hidden()
    print(
        f"\na move to its answer: median {1000 * statistics.median(seconds[1:]):.0f} ms of {len(seconds) - 1} presses"
    )
    page.close()

"""JupyterLab as a reader meets it: run a chapter, press a key on a slider, the figure changes."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from tools.notebooks import pairs

pytestmark = pytest.mark.browser
CHAPTER = "02_blackbox_differentiation.ipynb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server on a copy of the notebooks; yields its address."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(pairs.ROOT / "notebooks" / CHAPTER, folder)
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

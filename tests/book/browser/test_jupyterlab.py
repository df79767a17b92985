"""JupyterLab as a reader meets it: run a notebook, press a key on a slider, drag an item; the kernel answers."""

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
import walk

from rankedu import reference

pytestmark = pytest.mark.browser
CELLS = [
    'from rankedu_book.figures import play\n\nfigure = play("average-precision")\nfigure',
    "from ipywidgets import IntSlider, interact\n\n"
    "@interact(k=IntSlider(value=1, min=1, max=8))\ndef kept(k):\n    print('item', k, figure.state)",
]
#: Seconds that a machine may take which is slow and busy; an idle one takes a tenth.
PATIENCE = 180


@pytest.fixture
def notebook(tmp_path):
    """The address of a notebook in a JupyterLab server of its own."""
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    made = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)), metadata=python)
    nbformat.write(made, tmp_path / "reader.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", f"--port={port}", f"--notebook-dir={tmp_path}"),
        *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", "--allow-root"),
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    settings = {name: str(tmp_path / ".jupyter" / name) for name in folders} | {"RANKEDU_EXPLORABLES": "live"}
    log = tmp_path / "lab.log"
    with log.open("w") as told:
        server = subprocess.Popen(command, env=os.environ | settings, stdout=told, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}", server, log)
            yield f"http://127.0.0.1:{port}/lab/tree/reader.ipynb"
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


#: What stands before the code cells: [ ] where one was not asked to run, [*] where it will be, a number where it was.
PROMPTS = "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map((one) => one.textContent)"
#: What the cells complain of.
TROUBLE = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"


def run_all_cells(page) -> None:
    """Choose Run All Cells until all were run: JupyterLab drops what is asked while it gets to know its kernel."""
    page.locator(".jp-StatusBar-GroupItem, .jp-StatusBar-TextItem", has_text="| Idle").first.wait_for()
    ends = time.monotonic() + PATIENCE
    while not re.fullmatch(r"(\[\d+\]:)+", prompts := "".join(page.evaluate(PROMPTS))):
        assert time.monotonic() < ends, prompts
        if "[ ]:" in prompts:
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_timeout(500)


def test_the_kernel_answers_a_key_on_a_slider_and_a_drag(notebook, chromium):
    page = chromium.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    # JupyterLab on a busy machine asks things, such as which kernel it shall be: what it proposes is right.
    page.add_locator_handler(page.locator("dialog"), lambda asked: asked.locator(".jp-mod-accept").first.click())
    page.goto(notebook)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    run_all_cells(page)
    figure = page.locator(".play")
    assert "Drag an item" in figure.locator("figcaption").inner_text()
    item = figure.get_by_role("slider", name="Item H")
    item.scroll_into_view_if_needed()
    box = item.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 100, steps=5)
    page.mouse.up()
    walk.until(page, "() => JSON.parse(document.querySelector('.play').dataset.state).scores[7] > 0.3")
    before = figure.get_attribute("data-state")
    item.press("ArrowRight")
    walk.until(page, "before => document.querySelector('.play').dataset.state !== before", arg=before)
    told = json.loads(figure.get_attribute("data-state"))
    assert told["average_precision"] == reference.average_precision(told["scores"], told["relevance"])
    page.wait_for_timeout(1000)  # the state goes to the kernel once the hand rests
    page.locator(".widget-slider .noUi-handle").press("ArrowRight")
    kept = page.locator(".jp-OutputArea-output", has_text="item 2").last
    assert str(told["scores"][7]) in kept.inner_text(), "the kernel knows what was dragged"
    assert not "".join(page.locator(TROUBLE).all_inner_texts())
    page.context.close()

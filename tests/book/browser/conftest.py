"""Chromium through playwright. Where there is no browser these tests are skipped, by name and loudly."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


#: The first that is there. The first of them is the same engine without windows, and opens pages a quarter faster.
BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
#: Milliseconds: what does come, comes on a machine that is slow and busy too.
PATIENCE = 120_000
DESK = {"width": 1280, "height": 900}


def patient(new_context):
    """Windows in which everything is waited for so long."""

    def opened(**options):
        context = new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    return opened


@pytest.fixture(scope="session")
def chromium():
    """A running browser, shared by the session."""
    from playwright.sync_api import expect, sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "No Chromium on this machine: the browser tests are NOT run (apt-get install chromium)"
        if os.environ.get("RANKEDU_REQUIRE_BROWSER"):
            pytest.fail(message)
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        browser.new_context = patient(browser.new_context)
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def window(chromium):
    """A function that gives the window with such settings: to open one is half the work of a visit.

    What a page keeps is found by the next one, so whoever writes anything down has to clear it away.
    """
    windows = {}

    def window(**options):
        kind = json.dumps(options, sort_keys=True)
        if kind not in windows:
            windows[kind] = chromium.new_context(offline=True, **options)
        return windows[kind]

    return window


@pytest.fixture
def visit(chromium):
    """Opens addresses offline, those of a test in one window unless it has other settings; no script may fail."""
    contexts, errors = [], []

    def visit(address, **options):
        if not contexts or options:
            contexts.append(chromium.new_context(offline=True, **{"viewport": DESK, **options}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def reader(visit):
    """Opens pages of the built book."""
    import walk

    return lambda address, **options: visit(f"{walk.HTML.as_uri()}/{address}", **options)

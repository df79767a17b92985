"""Chromium through playwright. Where there is no browser these tests are skipped, by name and loudly."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # walk.py is read by the screenshots, too

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    """A running browser, shared by the session."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if path is None:
        message = "No Chromium on this machine: the browser tests are NOT run (apt-get install chromium)"
        if os.environ.get("RANKEDU_REQUIRE_BROWSER"):
            pytest.fail(message)
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()

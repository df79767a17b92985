"""Chromium through playwright. Where there is no browser these tests are skipped, by name and loudly."""

import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

SWITCHES = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
#: The first that is there. The first of them is the same engine without windows, and opens pages a quarter faster.
BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]


@pytest.fixture(scope="session")
def chromium():
    """A running browser, shared by the session."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "No Chromium on this machine: the browser tests are NOT run (apt-get install chromium)"
        if os.environ.get("RANKEDU_REQUIRE_BROWSER"):
            pytest.fail(message)
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    import walk
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=walk.PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens addresses offline, those of a test in one window unless it has other settings; no page may complain."""
    import walk

    windows, pages = [], []

    def visit(address, **options):
        if not windows or options:
            windows.append(chromium.new_context(offline=True, **{"viewport": walk.SIZES["desk"], **options}))
            windows[-1].set_default_timeout(walk.PATIENCE)
        pages.append(walk.visited(windows[-1].new_page(), address, scripts=options.get("java_script_enabled", True)))
        return pages[-1]

    yield visit
    complaints = [f"{page.url}: {found}" for page in pages for found in walk.complaints(page)]
    for window in windows:
        window.close()
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def reader(visit):
    """Opens pages of the built book."""
    import walk

    return lambda address, **options: visit(f"{walk.HTML.as_uri()}/{address}", **options)

"""Screenshots of every page of the built book, on a phone and on a desk, light and dark: `make screenshots`.

They lie in `book/_build/screenshots/`, a picture a page. `python book/tools screenshots 04 errata` takes those pages
alone.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2]
HTML, OUT = BOOK / "_build" / "html", BOOK / "_build" / "screenshots"
SIZES = {"desk": (1280, 900), "phone": (375, 812)}


def shoot_page(browser, path: Path) -> None:
    """One page in both sizes and both themes."""
    name = "_".join(path.relative_to(HTML).with_suffix("").parts)
    page = browser.new_context(offline=True).new_page()
    page.goto(path.as_uri())
    page.wait_for_function("!window.MathJax?.startup || MathJax.startup.promise.then(() => true)")
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => 0))).then(() => true)")
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            page.screenshot(path=OUT / f"{size}-{theme}-{name}.png", full_page=True, animations="disabled")
    page.context.close()


def main() -> None:
    """Command line."""
    from playwright.sync_api import sync_playwright
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="how the pages' names begin; default: every page")
    names = tuple(parser.parse_args().names or [""])
    pages = [path for path in sorted(HTML.rglob("*.html")) if "_static" not in path.relative_to(HTML).parts]
    wanted = [page for page in pages if page.stem.startswith(names)]
    browser_path = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if not wanted or browser_path is None:
        raise SystemExit("no such page: run `make book` first" if browser_path else "no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for page in tqdm(wanted, unit="page"):
            shoot_page(browser, page)
        browser.close()
    print(OUT)


if __name__ == "__main__":
    main()

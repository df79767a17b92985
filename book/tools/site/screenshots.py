"""Screenshots of every page of the built book, on a phone and on a desk, light and dark: `make screenshots`.

They lie in `book/_build/screenshots/`, a picture a page, and on contact sheets on which the whole book can be looked
through at once. `python book/tools screenshots 04 errata` takes those pages alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2]
HTML, OUT = BOOK / "_build" / "html", BOOK / "_build" / "screenshots"
SIZES = {"desk": (1280, 900), "phone": (375, 812)}
#: A contact sheet: how much smaller the pages are on it, its height in pixels, and its columns.
SCALE, SHEET, COLUMNS = {"desk": 0.4, "phone": 0.6}, 2000, {"desk": 7, "phone": 15}


def shoot(names: list[str]) -> list[Path]:
    """Take the screenshots; returns their paths."""
    from playwright.sync_api import sync_playwright
    from tqdm import tqdm

    pages = [path for path in sorted(HTML.rglob("*.html")) if "_static" not in path.relative_to(HTML).parts]
    wanted = [page for page in pages if not names or any(page.stem.startswith(name) for name in names)]
    browser_path = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if not wanted or browser_path is None:
        raise SystemExit("no such page: run `make book` first" if browser_path else "no Chromium on this machine")
    OUT.mkdir(parents=True, exist_ok=True)
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for page in tqdm(wanted, unit="page"):
            taken += shoot_page(browser, page)
        browser.close()
    return taken


def shoot_page(browser, path: Path) -> list[Path]:
    """One page in both sizes and both themes."""
    name = "_".join(path.relative_to(HTML).with_suffix("").parts)
    page = browser.new_context(offline=True).new_page()
    page.goto(path.as_uri())
    page.wait_for_function("!window.MathJax?.startup || MathJax.startup.promise.then(() => true)")
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => 0))).then(() => true)")
    taken = []
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            taken.append(OUT / f"{size}-{theme}-{name}.png")
            page.screenshot(path=taken[-1], full_page=True, animations="disabled")
    page.context.close()
    return taken


def contact_sheets(taken: list[Path]) -> None:
    """Put the screenshots of one size and theme side by side, made smaller, long pages in several columns."""
    from PIL import Image

    for size, (width, _) in SIZES.items():
        across = round(width * SCALE[size])
        for theme in ("light", "dark"):
            columns = []
            for path in taken:
                if path.name.startswith(f"{size}-{theme}-"):
                    with Image.open(path) as shot:
                        small = shot.convert("RGB").resize((across, round(shot.height * SCALE[size])))
                    tops = range(0, small.height, SHEET)
                    columns += [small.crop((0, top, across, min(top + SHEET, small.height))) for top in tops]
            for start in range(0, len(columns), COLUMNS[size]):
                sheet = Image.new("RGB", (COLUMNS[size] * (across + 10), SHEET), "grey")
                for at, column in enumerate(columns[start : start + COLUMNS[size]]):
                    sheet.paste(column, (at * (across + 10), 0))
                sheet.save(OUT / f"sheet-{size}-{theme}-{start // COLUMNS[size]:02d}.png")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="how the pages' names begin; default: every page")
    contact_sheets(shoot(parser.parse_args().names))
    print(OUT, file=sys.stdout)


if __name__ == "__main__":
    main()

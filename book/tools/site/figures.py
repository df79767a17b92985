"""Take the pictures of the figures to play with, for print, a code host, an e-book, and wherever no script runs.

`python book/tools figures landscape` opens the figure in Chromium, puts it into the states that `rankedu_book.figures`
names, and writes them, side by side, to `book/_static/figures/landscape.png`. Without a name: all figures.
"""

import argparse
import io
import json
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from rankedu_book.figures import FIGURES, FOLDER, markup

BOOK = FOLDER.parents[1]
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="{at}/../look.css">
<link rel="stylesheet" href="{at}/figures.css">
<style>body {{ margin: 0; }} [data-theme=dark] body {{ background: #14181e; color: white; }}
main {{ max-width: 736px; margin: auto; padding: 1rem; }}</style>
{scripts}</head><body><main><h1>{name}</h1>{figure}</main></body></html>"""


def page(*names: str) -> str:
    """Return a page with figures and nothing else of the book."""
    scripts = "".join(
        f'<script defer src="{FOLDER.as_uri()}/{file}.js"></script>' for file in ("ranks", "common", *names)
    )
    shown = "".join(markup(name, f"{FOLDER.as_uri()}/{name}.png") for name in names)
    return PAGE.format(name=", ".join(names), at=FOLDER.as_uri(), scripts=scripts, figure=shown)


def pages() -> dict[str, str]:
    """Return the page that shows each figure: a chapter if one does, for the front page shows figures of chapters."""
    texts = [*(BOOK / "chapters").glob("*.md"), *BOOK.glob("*.md")]
    texts = sorted(texts, key=lambda text: (text.stem == "index", text.parent == BOOK, text.name))
    found: dict[str, str] = {}
    for text in texts:
        for call in re.finditer(r"play\(\"([\w-]+)\"\)|^`{3,}\{play\} ([\w-]+)", text.read_text("utf-8"), re.MULTILINE):
            found.setdefault(call[1] or call[2], text.relative_to(BOOK).with_suffix("").as_posix())
    return found


def take(browser: object, name: str) -> None:
    """Write the picture of a figure: its stage in each of its telling states, side by side."""
    states, picture = FIGURES[name].states, FOLDER / f"{name}.png"
    if not picture.exists():  # a new figure: the page asks how large its picture is
        Image.new("1", (1, 1)).save(picture)
    between = 24
    width = (736 + between) // len(states) - between
    window = browser.new_context(  # type: ignore[attr-defined]
        viewport={"width": width + 32, "height": 800}, device_scale_factor=2, reduced_motion="reduce", offline=True
    )
    with TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page(name), encoding="utf-8")
        shown = window.new_page()
        shown.goto((Path(folder) / "page.html").as_uri())
        shown.wait_for_function("document.fonts.status === 'loaded' && document.querySelector('.play').dataset.state")
        pictures = []
        for state in states:
            shown.evaluate(f"document.querySelector('.play').play.set({json.dumps(state)})")
            shown.wait_for_timeout(500)
            pictures.append(Image.open(io.BytesIO(shown.locator(".play-stage").screenshot())))
    step = 2 * (width + between)
    whole = Image.new("RGB", (step * len(pictures) - 2 * between, max(one.height for one in pictures)), "white")
    for number, one in enumerate(pictures):
        whole.paste(one, (number * step, 0))
    whole.quantize(128, dither=Image.Dither.NONE).save(picture, optimize=True)
    window.close()


def main() -> None:
    """Command line."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="figures, all by default")
    names = parser.parse_args().names or list(FIGURES)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in names:
            take(browser, name)
        browser.close()

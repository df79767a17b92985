"""A page of the built book on A4, by Chromium: `python book/tools print claims-report --out claims-report.pdf`."""

import argparse
import shutil
import subprocess
from pathlib import Path

import pikepdf

from rankedu.files import written

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def printed(page: str, out: Path) -> Path:
    """Print a page of the book as PDF."""
    source = HTML / f"{page}.html"
    if not source.exists():
        raise SystemExit(f"page must be one of the built book, such as claims-report, got {page!r}; run `make book`")
    return to_pdf(source, out)


def to_pdf(source: Path, out: Path, *more: str) -> Path:
    """Print an HTML file as PDF; what a page sets itself has ten seconds of its own clock for it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"printing needs one of {', '.join(BROWSERS)}; none is on this machine")
    how = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--no-pdf-header-footer"]
    out.resolve().parent.mkdir(parents=True, exist_ok=True)
    with written(out.resolve()) as part:
        command = [browser, *how, *more, f"--print-to-pdf={part}", source.resolve().as_uri()]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode or not part.read_bytes().startswith(b"%PDF"):
            raise SystemExit(f"{browser} printed nothing:\n{run.stderr}")
        # Chromium writes out the structure that a screen reader follows: of the whole book it is half the file.
        with pikepdf.open(part, allow_overwriting_input=True) as pdf:
            pdf.save(part, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return out


def print_html(page: str, out: Path, *more: str, beside: Path | None = None) -> Path:
    """Print what is no page of the book; its addresses are those of a folder, or of that of the PDF."""
    source = (beside or out.parent) / "_printed.html"
    source.write_text(page, encoding="utf-8")
    try:
        return to_pdf(source, out, *more)
    finally:
        source.unlink()


def main() -> None:
    """Print the page that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="its path in the book without ending: chapters/04_interpolated_ranking")
    parser.add_argument("--out", type=Path, help="default: the page's name, here")
    given = parser.parse_args()
    print(printed(given.page, given.out or Path(f"{Path(given.page).name}.pdf")))

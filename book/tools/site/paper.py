"""A page of HTML on A4, printed by Chromium."""

import shutil
import subprocess
from pathlib import Path

import pikepdf

from rankedu.files import written

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def to_pdf(source: Path, out: Path, *more: str) -> Path:
    """Print an HTML file as PDF; its scripts have ten seconds of virtual time."""
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
        # Chromium writes the structure for screen readers uncompressed, which is half of the file for the whole book.
        with pikepdf.open(part, allow_overwriting_input=True) as pdf:
            pdf.save(part, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return out


def print_html(page: str, out: Path, *more: str, beside: Path | None = None) -> Path:
    """Print HTML that is no page of the book; relative addresses start at `beside`, or beside the PDF."""
    source = (beside or out.parent) / "_printed.html"
    source.write_text(page, encoding="utf-8")
    try:
        return to_pdf(source, out, *more)
    finally:
        source.unlink()

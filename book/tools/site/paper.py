"""A page of the built book on A4, by Chromium: `python book/tools print claims-report --out claims-report.pdf`."""

import argparse
import re
import shutil
import struct
import subprocess
import zlib
from itertools import accumulate, pairwise
from pathlib import Path

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
        part.write_bytes(packed(part.read_bytes()))
    return out


def packed(pdf: bytes) -> bytes:
    """The same PDF with its small objects in compressed streams, as PDF 1.5 can.

    Chromium writes out the structure that a screen reader follows: of the whole book it is half the file.
    """
    begin = int(pdf[pdf.rindex(b"startxref") + 9 :].split()[0])
    rows, _, trailer = pdf[begin:].partition(b"trailer\n<<")
    starts = {n: int(row[:10]) for n, row in enumerate(re.findall(rb"\d{10} \d{5} [nf]", rows)) if row.endswith(b"n")}
    ends = dict(pairwise([*sorted(starts.values()), begin]))
    bodies = {n: pdf[at : ends[at]].partition(b" obj\n")[2].rpartition(b"\nendobj")[0] for n, at in starts.items()}
    places, made = {0: (0, 0, 65535)}, bytearray(b"%PDF-1.5\n%\xff\xff\xff\xff\n")

    def put(number: int, body: bytes) -> None:
        places[number] = 1, len(made), 0
        made.extend(b"%d 0 obj\n%s\nendobj\n" % (number, body))

    def put_stream(number: int, about: bytes, content: bytes) -> None:
        content = zlib.compress(content, 9)
        head = b"<<%s /Filter /FlateDecode /Length %d>>" % (about, len(content))
        put(number, b"%s\nstream\n%s\nendstream" % (head, content))

    small = [number for number, body in bodies.items() if not body.endswith(b"endstream")]
    for number in bodies.keys() - small:
        put(number, bodies[number])
    for new, begin in enumerate(range(0, len(small), 200), max(bodies) + 1):
        some = small[begin : begin + 200]
        lengths = accumulate((len(bodies[number]) + 1 for number in some), initial=0)
        head = b" ".join(b"%d %d" % pair for pair in zip(some, lengths, strict=False)) + b"\n"
        places |= {number: (2, new, place) for place, number in enumerate(some)}
        about = b"/Type /ObjStm /N %d /First %d" % (len(some), len(head))
        put_stream(new, about, head + b"\n".join(bodies[number] for number in some))
    last, begin = max(places) + 1, len(made)
    places[last] = 1, begin, 0
    table = b"".join(struct.pack(">BIH", *places.get(number, (0, 0, 0))) for number in range(last + 1))
    known = re.sub(rb"/Size \d+", b"/Size %d" % (last + 1), trailer.partition(b">>\nstartxref")[0])
    put_stream(last, b"/Type /XRef /W [1 4 2] " + known, table)
    return bytes(made) + b"startxref\n%d\n%%%%EOF\n" % begin


def print_html(page: str, out: Path) -> Path:
    """Print what is no page of the book."""
    source = out.with_suffix(".html")
    source.write_text(page, encoding="utf-8")
    try:
        return to_pdf(source, out)
    finally:
        source.unlink()


def main() -> None:
    """Print the page that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="its path in the book without ending: chapters/04_interpolated_ranking")
    parser.add_argument("--out", type=Path, help="default: the page's name, here")
    given = parser.parse_args()
    print(printed(given.page, given.out or Path(f"{Path(given.page).name}.pdf")))

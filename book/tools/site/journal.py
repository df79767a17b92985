"""The paper about the book, `paper/paper.md`, as PDF, without TeX: `python book/tools journal --out paper/paper.pdf`.

The Journal of Open Source Education sets `paper.md` and `paper.bib` itself; here the paper is seen before it is sent.
`--figure` draws its figure anew. Whatever is still to be filled in by who publishes is named.
"""

import argparse
import re
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from pybtex.database import parse_file
from pybtex.plugin import find_plugin

from rankedu_book.ch04_interpolated_ranking.figures import staircase_and_interpolations
from tools.site import works
from tools.site.paper import print_html
from tools.site.templates import filled

PAPER = works.BOOK.parent / "paper"
#: What stands where only who publishes can know what to write.
OPEN = "TO FILL IN"
_CITED = re.compile(r"\[@(?P<all>[^\]]+)\]")


def read() -> tuple[dict[str, object], str]:
    """What stands at the head of the paper, and its text."""
    _, head, text = (PAPER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), text


def to_fill_in() -> list[str]:
    """The places that are still open, as they stand in the paper."""
    return re.findall(rf"{OPEN}: [^\"*\n]+", (PAPER / "paper.md").read_text(encoding="utf-8"))


def html() -> str:
    """The paper as a page."""
    about, text = read()

    def cited(match: re.Match[str]) -> str:
        keys = re.findall(r"[\w-]+", match["all"])
        return works.cited(",".join(keys), parenthesis=True, works=PAPER / "paper.bib")

    text = _CITED.sub(cited, re.sub(r"\\autoref\{[^}]*\}", "Figure 1", text))
    text = re.sub(r"!\[(.*?)\\label\{[^}]*\}\]\((.*?)\)", r"![](\2)\n\n*Figure 1. \1*", text, flags=re.DOTALL)
    listing, style = parse_file(str(PAPER / "paper.bib")), find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "html")()
    listed = [entry.text.render(backend) for entry in style.format_entries(listing.entries.values())]
    return filled("journal.html", **about, body=MarkdownIt().render(text), works=listed, base=PAPER.as_uri())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PAPER / "paper.pdf", help="the PDF")
    parser.add_argument("--figure", action="store_true", help="draw paper/figure.png anew")
    given = parser.parse_args()
    if given.figure:
        staircase_and_interpolations().savefig(PAPER / "figure.png", dpi=200, metadata={"Software": None})
    print(print_html(html(), given.out))
    if left := to_fill_in():
        print(f"A draft: {len(left)} places are for who publishes.", *left, sep="\n  ")

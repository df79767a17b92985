"""A new chapter of the book: its text with every section of the contract, figures, a slider, exercises and tests."""

import re
from pathlib import Path

from rankedu_lab import CHECKOUT

#: What stands in brackets is to be replaced by the author; a test of the book names those that are left.
PLACEHOLDER = re.compile(r"⟨[^⟩]*⟩")
#: Template → where it goes.
FILES = {
    "chapter.md.in": "book/chapters/{nn}_{slug}.md",
    "solutions.md.in": "book/solutions/{nn}_{slug}.md",
    "init.py.in": "book/rankedu_book/ch{nn}_{slug}/__init__.py",
    "figures.py.in": "book/rankedu_book/ch{nn}_{slug}/figures.py",
    "exercises.py.in": "book/rankedu_book/ch{nn}_{slug}/exercises.py",
    "test_figures.py.in": "tests/book/ch{nn}_{slug}/test_figures.py",
}


def new_chapter(slug: str, title: str, root: Path = CHECKOUT) -> list[Path]:
    """Write the files of a chapter that comes after the last one and runs as it is; returns them, the text first."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise ValueError(f"slug must be lower-case letters, digits and underscores, got {slug!r} (try 'soft_sorting')")
    if not title.strip() or "\n" in title:
        raise ValueError(f"title must be one line of text, got {title!r}")
    chapters = sorted((root / "book" / "chapters").glob("[0-9][0-9]_*.md"))
    number = 1 + int(chapters[-1].name[:2])
    targets = {name: root / where.format(nn=f"{number:02d}", slug=slug) for name, where in FILES.items()}
    for path in [*targets.values(), *chapters]:
        if path.exists() and (path in targets.values() or path.stem[3:] == slug):
            there = path.relative_to(root)
            raise FileExistsError(f"slug must be new, got {slug!r}: there is {there} already (choose another slug)")
    for name, path in targets.items():
        text = (root / "book" / "template" / name).read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text, number, slug, title.strip(), chapters[-1].stem), encoding="utf-8")
    return list(targets.values())


def _filled(template: str, number: int, slug: str, title: str, before: str) -> str:
    values = {"NN": f"{number:02d}", "NUMBER": str(number), "SLUG": slug, "TITLE": title, "LOWER": title.lower()}
    values |= {"NEEDS": str(number - 1), "BEFORE": f"[Chapter {number - 1}]({before}.ipynb) "}
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], template)


def placeholders(text: str) -> list[str]:
    """What is still to be written, with the numbers of the lines."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number}: {found}" for number, line in lines for found in PLACEHOLDER.findall(line)]

"""A reader's own copies of the notebooks, in which `git pull` changes nothing: `python book/tools copies`.

The folder, by default `my-notebooks/`, has the same folders as the repository: notebooks, their texts, and the pages
that they link to. So links work and each copy is a pair. A copy that the reader has changed is never overwritten. A
newer edition is written beside it, such as `02_blackbox_differentiation-2.ipynb`.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

from rankedu_lab import CHECKOUT
from rankedu_lab.runs.results import write_json
from tools.closure import hashed

#: Patterns of the files that are copied.
COPIED = ("notebooks/**/*.ipynb", "notebooks/labs/presets/**/*.yaml", "book/*.md", "jupytext.toml")
#: The file that records the edition and the hash of every copy.
RECORD = ".editions.json"


def renew(folder: Path, repository: Path = CHECKOUT) -> list[Path]:
    """Copy what is new, and return the paths of newer editions that lie beside a copy of the reader's.

    Parameters
    ----------
    folder : Path
        The reader's folder; made if missing.
    repository : Path
        What is copied from.

    Returns
    -------
    list of Path
        Newer editions of files that the reader has changed.
    """
    record = folder / RECORD
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    beside = []
    for group in _groups(repository):
        edition = hashed([repository / one for one in group], whole=True)
        name = group[0].as_posix()
        there = known.get(name, {"edition": "", "number": 1, "files": {}})
        if there["edition"] == edition:
            continue
        number = there["number"]
        while any(_is_changed(folder / one, there["files"]) for one in _numbered(group, number)):
            number += 1
        targets = _numbered(group, number)
        for source, target in zip(group, targets, strict=True):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            (folder / target).write_bytes((repository / source).read_bytes())
        files = {one.as_posix(): hashed([folder / one], whole=True) for one in targets}
        known[name] = {"edition": edition, "number": number, "files": files}
        beside += [folder / targets[0]] if number > there["number"] else []
    write_json(record, known)
    return beside


def _groups(repository: Path) -> Iterator[list[Path]]:
    """Yield the files to copy, relative to the repository; a notebook and its text are one group."""
    for path in sorted(path for pattern in COPIED for path in repository.glob(pattern)):
        if ".ipynb_checkpoints" in path.parts:
            continue
        group = [path]
        if path.suffix == ".ipynb":
            formats = re.search(r'"formats": "[\w/]+//ipynb,([\w/]+)//md:myst"', path.read_text(encoding="utf-8"))
            group += [repository / formats[1] / f"{path.stem}.md"] if formats else []
        elif path.suffix == ".md" and (repository / "notebooks" / f"{path.stem}.ipynb").exists():
            continue  # it is copied with its notebook
        yield [one.relative_to(repository) for one in group]


def _numbered(group: list[Path], number: int) -> list[Path]:
    return [one.with_stem(f"{one.stem}-{number}") if number > 1 else one for one in group]


def _is_changed(path: Path, written: dict[str, str]) -> bool:
    """Return whether a file differs from what was written, so that it may be the reader's work."""
    name = next((name for name in written if path.as_posix().endswith(name)), "")
    return path.exists() and written.get(name) != hashed([path], whole=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=CHECKOUT / "my-notebooks", help="folder of the reader's own")
    folder = parser.parse_args().to
    for path in renew(folder):
        print(f"A newer edition of a notebook that you have changed: {path}")
    print(f"Your notebooks are in {folder}. `git pull` leaves them as they are.")

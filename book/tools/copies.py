"""A reader's own copies of the notebooks, in which `git pull` changes nothing: `python book/tools copies`.

The folder, by default `my-notebooks/`, has the same folders as the repository: notebooks, their texts, and the pages
that they link to. So links work and each copy is a pair. A pair that the reader has changed is never overwritten.
"""

import argparse
import json
import re
from itertools import groupby
from pathlib import Path

from rankedu_lab import CHECKOUT
from rankedu_lab.runs.results import write_json
from tools.closure import hashed

#: Patterns of the files that are copied.
COPIED = ("notebooks/**/*.ipynb", "notebooks/labs/presets/**/*.yaml", "book/*.md", "jupytext.toml")
COPIED += tuple(f"book/{folder}/*.md" for folder in ("chapters", "labs", "solutions"))
#: The file that has the hash of every copy as it was made.
RECORD = ".editions.json"


def renew(folder: Path, repository: Path = CHECKOUT) -> list[str]:
    """Copy what the reader has not changed, and return the names of changed copies of which there is a newer edition.

    Parameters
    ----------
    folder : Path
        The reader's folder; made if missing.
    repository : Path
        What is copied from.
    """
    record = folder / RECORD
    made = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    found = {path.relative_to(repository).as_posix() for pattern in COPIED for path in repository.glob(pattern)}
    older = []
    for _, group in groupby(sorted(sorted(found), key=_pair), key=_pair):
        names = [name for name in group if ".ipynb_checkpoints" not in name]
        newer = {name: hashed([repository / name], whole=True) for name in names}
        mine = {name: hashed([folder / name], whole=True) for name in names if (folder / name).exists()}
        if all(one in (made.get(name), newer[name]) for name, one in mine.items()):
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes((repository / name).read_bytes())
            made |= newer
        else:
            older += [name for name in names if made.get(name) != newer[name]]
    write_json(record, made)
    return older


def _pair(name: str) -> str:
    """Return what a notebook and its text have in common, such as `labs/retrieval`."""
    return re.sub(r"^(notebooks|book/chapters|book)/", "", name).rpartition(".")[0]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=CHECKOUT / "my-notebooks", help="folder of the reader's own")
    folder = parser.parse_args().to
    for name in renew(folder):
        print(f"{name} has a newer edition. Your changed copy stays; rename or delete it, and you get the newer one.")
    print(f"Your notebooks are in {folder}. `git pull` leaves them as they are.")

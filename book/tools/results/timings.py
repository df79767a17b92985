"""Measure how long chapters and labs take to run, for the page of timings.

`python book/tools timings [NN ...]` runs every notebook (or those named) aside, without touching the committed ones,
and writes the seconds to `book/data/timings.json`. It uses one thread, and records the seconds of the processor beside
those of the clock, because the former do not count other work of the machine.
"""

import argparse
import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jupytext
from tabulate import tabulate

from rankedu_lab.experiments.speed.timing import processor
from rankedu_lab.runs.results import write_json
from tools.notebooks import pairs

KEPT = pairs.ROOT / "book" / "data" / "timings.json"


def measured(text: Path) -> dict[str, float]:
    """Run one notebook afresh; returns the seconds on the clock and the seconds of the processor."""
    import resource  # Windows has none

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        clock = pairs.execute(text, Path(folder) / f"{text.stem}.ipynb")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"clock": round(clock, 1), "processor": round(processor, 1)}


def kept() -> dict[str, Any]:
    """Return the last measurements."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def table() -> str:
    """Return the table of the page: minutes to read, as each chapter states, and measured seconds to run."""
    rows, minutes, seconds, known = [], 0, 0.0, kept()
    for text in pairs.pages():
        page = pairs.address(text)
        read = int(jupytext.read(text).metadata.get("rankedu", {}).get("read", 0))
        run = known["rows"].get(page, {}).get("processor", 0)
        name = f"{{doc}}`{page.removesuffix('.html')}`"
        rows.append((name, f"{read} min" if read else "", f"{run:.0f} s" if run else "not measured"))
        minutes, seconds = minutes + read, seconds + run
    rows.append(("all", f"{minutes / 60:.1f} h", f"{seconds / 60:.1f} min"))
    heads, align = ["page", "to read", "to run"], (None, "right", "right")
    made = tabulate(rows, heads, tablefmt="pipe", disable_numparse=True, colalign=align)
    return f"{made}\n\nMeasured on: {known['machine']}. {known['versions']}.\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="numbers or names; default: every one")
    names = tuple(parser.parse_args().names or [""])
    os.environ["OMP_NUM_THREADS"] = "1"
    found = kept()
    for text in pairs.pages():
        if text.stem.startswith(names):
            row = found["rows"][pairs.address(text)] = measured(text)
            print(f"{text.stem}: {row['processor']} s of the processor, {row['clock']} s on the clock")
    found["rows"] = {page: found["rows"][page] for page in map(pairs.address, pairs.pages()) if page in found["rows"]}
    found |= {
        "machine": f"{processor()}, one thread used",
        "versions": f"torch {version('torch')}, NumPy {version('numpy')}",
    }
    write_json(KEPT, found)

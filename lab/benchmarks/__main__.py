"""Measure rows, keep what was found, and tell which goals are met: `python -m benchmarks [WORD ...]`.

Words choose rows by a part of their names. Rows that are not measured are kept as they are in the record.
"""

import argparse
import json
import math
import os
import sys
import traceback
import warnings
from pathlib import Path

import numpy
import torch

from benchmarks import gpu
from benchmarks.rows import GPU_GOALS, Row, rows
from ranklab.experiments.speed.contestants import LIMIT, OURS
from ranklab.experiments.speed.stopwatch import Limits, processor, race
from ranklab.runs.results import write_json

RECORD = Path(__file__).resolve().parents[2] / "book" / "data" / "speed.json"


def measure(row: Row) -> dict:
    """The median seconds of ours, if it was timed in turn with others, its ratios to these, and what else is found."""
    torch.set_num_threads(1)
    works, also = row.make()
    limits = Limits(row.rounds, row.seconds, math.inf, math.inf)
    names = {(row.name, who): work for who, work in works.items()}
    ours, *others = race([1], lambda _: names, limits) or [None]
    found = {f"ratio to {other['contender']}": float(f"{ours['seconds'] / other['seconds']:.4g}") for other in others}
    return {"work": row.name, "seconds": ours and ours["seconds"], "found": found | also()}


def value(found: dict, what: str) -> float | None:
    """A ratio to somebody, or what else is called so."""
    return found.get(f"ratio to {what}", found.get(what))


def goals(declared: list[Row], measured: dict[str, dict]) -> list[str]:
    """A line for each goal: what was measured, and whether it is met."""
    lines = []
    for row in declared:
        found = measured[row.name]["found"] if row.name in measured else {}
        for what, at_most in row.goals.items():
            beside = f"× {what}" if f"ratio to {what}" in found else what
            lines.append(goal(row.name, value(found, what), at_most, beside))
    return lines


def gpu_goals(path: Path) -> list[str]:
    """A line for each goal on a GPU, from what `benchmarks.gpu` has written; without it nothing is measured."""
    found = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    on_gpu = [row for row in found if row["device"] == "cuda" and row["seconds"] is not None]
    seconds = {(row["part"], row["work"], row["contender"], row["size"]): row["seconds"] for row in on_gpu}
    lines = []
    for title, part, work, size, whom, at_most in GPU_GOALS:
        ours = seconds.get((part, work, OURS, size))
        other = seconds.get((part, LIMIT, whom, size)) if whom else 1.0
        ratio = ours / other if ours is not None and other else None
        lines.append(goal(title, ratio, at_most, f"× {whom}" if whom else "seconds"))
    return lines


def goal(title: str, ours: float | None, at_most: float, beside: str) -> str:
    verdict = "not measured" if ours is None else "pass" if ours <= at_most else "MISS"
    return f"{title:52} {'—' if ours is None else f'{ours:.3g}':>7} of {at_most:<6.3g} {beside:32} {verdict}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", help="measure the rows with one of these in their names")
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    before = json.loads(chosen.record.read_text(encoding="utf-8"))["rows"] if chosen.record.exists() else []
    kept, measured, failed = {row["work"]: row for row in before}, {}, []
    declared = rows()
    for row in declared:
        if chosen.words and not any(word in row.name for word in chosen.words):
            continue
        try:
            now = measured[row.name] = kept[row.name] = measure(row)
        except Exception:
            failed.append(f"FAILED {row.name}: {traceback.format_exc()}")
            continue
        told = ", ".join(f"{what} {number:.3g}" for what, number in now["found"].items())
        print(f"{row.name}: {told}", flush=True)
        record = {
            "rows": [kept[name] for name in sorted(kept)],
            "machine": f"{processor()}, {torch.backends.cpu.get_cpu_capability()}",
            "versions": f"torch {torch.__version__}, NumPy {numpy.__version__}",
        }
        write_json(chosen.record, record)
    print("\n".join(["", *goals(declared, measured), *gpu_goals(gpu.RECORD), "", *failed]))
    return bool(failed)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

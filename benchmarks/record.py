"""Keep what the results page shows of a benchmark run: `python benchmarks/record.py FROM.json TO.json`.

pytest-benchmark writes every round of every benchmark. The page needs the medians, the ratios, and on what they were
measured; rows of an earlier record that were not run again are kept.
"""

import argparse
import json
import os
from pathlib import Path


def rows_of(run):
    """A row for each benchmark: what was done, the median seconds, and what was found beside it."""
    for found in run["benchmarks"]:
        file = Path(found["fullname"].split("::")[0]).stem.removeprefix("test_").replace("_", " ")
        work = found["name"].removeprefix("test_").replace("_", " ").replace("[", ": ").removesuffix("]")
        yield {"work": f"{file}; {work}", "seconds": found["stats"]["median"], "found": found["extra_info"]}


def record(run, before):
    """What is kept."""
    import numpy
    import torch

    rows = {row["work"]: row for row in before.get("rows", [])} | {row["work"]: row for row in rows_of(run)}
    cpu = run["machine_info"]["cpu"]
    return {
        "rows": [rows[work] for work in sorted(rows)],
        "machine": f"{cpu.get('brand_raw', 'an unnamed processor')}, {os.cpu_count()} cores",
        "versions": f"torch {torch.__version__}, NumPy {numpy.__version__}",
        "gpu": False,  # the benchmarks run on the CPU
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    before = json.loads(arguments.target.read_text(encoding="utf-8")) if arguments.target.exists() else {}
    kept = record(json.loads(arguments.source.read_text(encoding="utf-8")), before)
    temporary = arguments.target.with_suffix(".tmp")
    temporary.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(arguments.target)


if __name__ == "__main__":
    main()

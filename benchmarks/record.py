"""Keep what a benchmark run found, print goals and what got slower: `python benchmarks/record.py FROM.json TO.json`.

pytest-benchmark writes every round of every benchmark. The results page needs the medians, the ratios, and on what they
were measured. Rows that were not run again are kept, and so are those that got slower by more than a third, unless
`--accept` says that they may be: else the next run would compare with a slow one.
"""

import argparse
import json
import os
from pathlib import Path

from rankedu._files import written


def rows_of(run):
    """A row for each benchmark: what was done, the median seconds, and what was found beside it."""
    for found in run["benchmarks"]:
        file = Path(found["fullname"].split("::")[0]).stem.removeprefix("test_").replace("_", " ")
        work = found["name"].removeprefix("test_").replace("_", " ").replace("[", ": ").removesuffix("]")
        yield {"work": f"{file}; {work}", "seconds": found["stats"]["median"], "found": found["extra_info"]}


def named(rows):
    return {row["work"]: row for row in rows}


def record(run, before, accept):
    """What is kept."""
    import numpy
    import torch
    from goals import slower

    kept, new = named(before.get("rows", [])), named(rows_of(run))
    held = set() if accept else {name for name, *_ in slower(new, kept)}
    rows = kept | {name: row for name, row in new.items() if name not in held}
    cpu = run["machine_info"]["cpu"]
    return {
        "rows": [rows[work] for work in sorted(rows)],
        "machine": f"{cpu.get('brand_raw', 'an unnamed processor')}, {os.cpu_count()} cores",
        "versions": f"torch {torch.__version__}, NumPy {numpy.__version__}",
        "gpu": any(work.startswith("gpu;") for work in rows),
    }


def main():
    from goals import slower, table  # stands beside this script

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--accept", action="store_true", help="keep also what got slower")
    arguments = parser.parse_args()
    before = json.loads(arguments.target.read_text(encoding="utf-8")) if arguments.target.exists() else {}
    run = json.loads(arguments.source.read_text(encoding="utf-8"))
    kept = record(run, before, arguments.accept)
    with written(arguments.target) as part:
        part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = named(rows_of(run))
    print(table(rows))
    lines = [
        f"SLOWER {name}, {found}: {now:.3g}, was {was:.3g}"
        for name, found, was, now in slower(rows, named(before.get("rows", [])))
    ]
    print("\n".join(lines) or "Nothing got slower than its kept ratio by more than a third.")


if __name__ == "__main__":
    main()

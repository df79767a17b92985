"""What do the tests catch? Small faults are put into the code, one at a time: `make mutants`, hours on two cores.

    python tests/mutants.py library|lab [--count N] [--seed S]

The faults are cosmic-ray's: a place is drawn, then one of the operators that apply there. Each mutant runs, in a fork
of this process, the tests of its part that reach the line (found by one run with pytest-cov), until the first fails or
the time is up. What came out stands in `mutants/PART.jsonl`, a line a mutant; one that is there is not run again.
Survivors that change nothing are listed in `tests/equivalent.txt`, with the reason. Files are changed in place, so run
it in a clone of its own, as `make mutants` does.
"""

import argparse
import ast
import difflib
import importlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: What decides in the labs: splits, search, verdicts, the identity of runs, locks.
DECIDES = ("held_out", "unicode_tree", "search", "judging", "code", "planning", "locks", "records", "verdict", "space")
PARTS = {
    "library": (
        [
            *(f"rankedu/{name}.py" for name in ("ranks", "blackbox", "hierarchy", "memory")),
            *(f"rankedu/{folder}/*.py" for folder in ("rankers", "losses", "metrics")),
        ],
        ["tests/library", "rankedu"],
    ),
    "lab": (["lab/ranklab/*/*.py"], ["tests/lab", "lab/ranklab"]),
}
#: What tests import of others, which takes most of the time of a fork.
SHARED = ("hypothesis", "numpy", "pycocotools.cocoeval", "pytest", "pytorch_metric_learning.losses")
SHARED += ("pytorch_metric_learning.miners", "scipy.stats", "sklearn.metrics", "sympy", "torch")
SHARED += ("torch._dynamo", "typer.testing")
LIMIT = 150  # seconds a mutant


def places(path: Path) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Position → the operators that apply there, each with the number of the occurrence; annotations are left out."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text(encoding="utf-8")
    hints = [getattr(node, kind, None) for node in ast.walk(ast.parse(source)) for kind in ("annotation", "returns")]
    spans = [((h.lineno, h.col_offset), (h.end_lineno, h.end_col_offset)) for h in hints if h is not None]
    nodes = list(ast_nodes(get_ast(source)))
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for name in operator_names():
        if name.startswith("core/Variable"):
            continue  # they are cosmic-ray's experiments
        spots = [spot for node in nodes for spot in get_operator(name)().mutation_positions(node)]
        for number, (start, _) in enumerate(spots):
            if not any(low <= start < high for low, high in spans):
                found.setdefault(start, []).append((name, number))
    return found


def drawn(part: str, count: int, seed: int) -> list[tuple[Path, int, str, int]]:
    """Mutants as file, line, operator, occurrence: places without replacement, then an operator at each."""
    rng, found = random.Random(seed), sorted(path for pattern in PARTS[part][0] for path in ROOT.glob(pattern))
    files = [path for path in found if part == "library" or path.stem in DECIDES]
    every = [(path, spot, sorted(ways)) for path in files for spot, ways in sorted(places(path).items())]
    chosen = rng.sample(every, min(count, len(every)))
    return [(path, spot[0], *rng.choice(ways)) for path, spot, ways in chosen]


def reached(part: str) -> tuple[dict[str, dict[int, set[str]]], dict[str, float]]:
    """File → line → the tests that run it, and pass, from one run of all tests of the part; and how long each took."""
    from coverage.numbits import numbits_to_nums

    data, log = (ROOT / "mutants" / f"{part}.{kind}" for kind in ("coverage", "txt"))
    if not data.exists():
        data.parent.mkdir(exist_ok=True)
        measured = ["--cov=rankedu", "--cov=lab/ranklab", "--cov-context=test", "--cov-report="]
        quiet = ["-q", "-rf", "--durations=0", "--durations-min=0.02", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *quiet, *measured, *PARTS[part][1]]
        with log.open("w") as out:
            subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(data)}, stdout=out, check=False)
    said = [line.split() for line in log.read_text().splitlines()]
    failing = {words[1].partition("[")[0] for words in said if words[:1] == ["FAILED"]}
    seconds: dict[str, float] = {}
    for words in said:
        if words[1:2] == ["call"]:
            test = words[2].partition("[")[0]
            seconds[test] = seconds.get(test, 0.0) + float(words[0].rstrip("s"))
    tables = "line_bits join file on file_id = file.id join context on context_id = context.id"
    found: dict[str, dict[int, set[str]]] = {}
    for path, context, bits in sqlite3.connect(data).execute(f"select path, context, numbits from {tables}"):
        test = context.partition("|")[0].partition("[")[0]
        for line in numbits_to_nums(bits) if test and test not in failing else ():
            found.setdefault(path, {}).setdefault(line, set()).add(test)
    return found, seconds


def verdict(tests: list[str], log: Path) -> str:
    """Killed, survived or out of time: what the tests say in a fork of this process, which has no code of ours."""
    if not (child := os.fork()):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        signal.alarm(LIMIT)
        sys.dont_write_bytecode = True  # of two faults as long as each other in one second, the first would be kept
        import pytest

        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=line", *tests]))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "time" if os.WTERMSIG(status) == signal.SIGALRM else "killed"
    return "survived" if os.WEXITSTATUS(status) in (0, 5) else "killed"


def main() -> None:
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    by_line, seconds = reached(asked.part)
    for library in SHARED:
        importlib.import_module(library)  # the forks then have it
    listed = (ROOT / "tests" / "equivalent.txt").read_text("utf-8").splitlines()[1:]
    known = [line.rpartition(" | ")[0].split(" | ", 1) for line in listed]
    table = ROOT / "mutants" / f"{asked.part}.jsonl"
    done = {json.loads(line)["name"] for line in table.read_text().splitlines()} if table.exists() else set()
    for path, line, operator, number in drawn(asked.part, asked.count, asked.seed):
        source = path.read_text(encoding="utf-8")
        mutant = mutate_code(source, get_operator(operator)(), number)
        name = f"{path.relative_to(ROOT)}:{line} {operator.removeprefix('core/')} {number}"
        if name in done or mutant is None or mutant == source:
            continue
        lines = by_line.get(str(path), {})
        tests = list(lines.get(line) or set().union(*lines.values()))  # what is run at import is any test's
        tests.sort(key=lambda test: (path.stem.strip("_") not in test, seconds.get(test, 0.0), test))
        start = time.time()
        try:
            path.write_text(mutant, encoding="utf-8")
            found = verdict(tests, table.with_suffix(".log")) if tests else "not reached"
        finally:
            path.write_text(source, encoding="utf-8")
        differ = difflib.unified_diff(source.splitlines(), mutant.splitlines(), n=0)
        change = [line for line in differ if line[1:3] not in "--++@ "]
        changed = " ".join(next((line[1:] for line in change if line.startswith("+")), "").split())
        if found == "survived" and [str(path.relative_to(ROOT)), changed] in known:
            found = "equivalent"
        record = {"name": name, "verdict": found, "change": change, "seconds": round(time.time() - start, 1)}
        with table.open("a", encoding="utf-8") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
        print(f"{found:10} {record['seconds']:6.1f} s  {name}", flush=True)
    print(Counter(json.loads(line)["verdict"] for line in table.read_text().splitlines()))


if __name__ == "__main__":
    main()

"""How long it takes to begin: `import rankedu` beside `import torch`, `rankedu --help`, and the first frames.

The goals stand in `goals.py`. Every command runs in a fresh process; what counts is the processor's time. The package
imports its rooms when they are first named, so that the bare import does not even load torch; the rooms of the
numerical core do.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

STATEMENTS = {
    "package": "import rankedu",
    "core": "from rankedu import rank, blackbox, rankers, metrics, landscapes, solvers",
}


def seconds(*arguments):
    """Processor time of a Python process and its children."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, timeout=120, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@pytest.mark.parametrize("name", STATEMENTS)
def test_import(benchmark, keep, name):
    seconds("-c", STATEMENTS["core"])  # fill the disk cache
    times = [(seconds("-c", STATEMENTS[name]), seconds("-c", "import torch")) for _ in range(5)]
    mine, torch_alone = map(statistics.median, zip(*times, strict=True))
    benchmark.pedantic(seconds, ("-c", STATEMENTS[name]), rounds=1)
    keep(mine, {"import torch": torch_alone})


def test_help(benchmark):
    command = ("-m", "rankedu", "--help")
    seconds(*command)
    benchmark.extra_info["seconds"] = found = round(statistics.median(seconds(*command) for _ in range(5)), 3)
    benchmark.pedantic(seconds, command, rounds=1)
    print(f"\nrankedu --help: {found} s")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="draws each explorable in a forked process")
def test_first_frames(benchmark):
    command = [sys.executable, str(Path(__file__).parent / "first_frames.py")]
    said = benchmark.pedantic(subprocess.check_output, (command,), {"text": True, "timeout": 300}, rounds=1)
    times = {name: float(found) for found, name in map(str.split, said.splitlines())}
    slowest = max(times, key=times.get)
    benchmark.extra_info.update(
        {"seconds of the slowest": times[slowest], "seconds of the median": statistics.median(times.values())}
    )
    print(f"\n{len(times)} explorables, {times[slowest]} s for the first frame of {slowest}")

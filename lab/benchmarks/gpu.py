"""Measure everything that wants a GPU, in one command of less than nine minutes: `python -m benchmarks.gpu --out FILE`.

It needs torch and NumPy; of what else is missing the rows say so. The rows of most value come first, each is written as
soon as it is measured, and what no longer fits into the budget is told as not measured. Then `make bench` and the page
of results read FILE, which is `book/data/speed_gpu.json` unless another is named.
"""

import argparse
import faulthandler
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.rows import GPU_GOALS, STEP, TRAINED
from benchmarks.works import FINE, MATMUL, catalogue, product
from rankedu.files import written
from rankedu.metrics import evaluate_retrieval
from ranklab.experiments import speed
from ranklab.experiments.speed import contestants
from ranklab.experiments.speed.contestants import ALL_PAIRS, LIMIT, OURS, PML, PRODUCT, WRITTEN, Batch, List
from ranklab.experiments.speed.stopwatch import GROWTH, Limits, Name, Row, Work, free_memory, processor, race_by_size

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "book" / "data" / "speed_gpu.json"
#: What some of the rows and tests need beside torch and NumPy.
WHEELS = ("torchvision", "torchmetrics", "sklearn", "pytorch_metric_learning", "scipy", "pytest", "hypothesis")
Works = Callable[[int], Mapping[Name, Work]]
Part = tuple[str, Callable[[], Iterable[list[Row]]]]
#: Smooth-AP's Table S2, as printed, in one piece.
TABLE_S2 = {**speed.DEFAULTS, "model": "resnet50", "chunk": 0}


def long_list(device: str, n: int) -> Mapping[Name, Work]:
    names = [(work, who) for work in ("AP", "recall") for who in (OURS, WRITTEN)]
    limits = [(LIMIT, who) for who in ("one copy", "one torch.sort", "two torch.argsort")]
    return List(n, device=device).works([*names, *limits])


def batch(device: str, size: int) -> Mapping[Name, Work]:
    names = [(loss, who) for loss in contestants.LOSSES for who in (OURS, WRITTEN)]
    return Batch(size, device=device).works([(LIMIT, PRODUCT), *names, ("Smooth-AP", PML), ("FastAP", PML)])


@cache
def network(device: str, name: str) -> contestants.Network:
    return contestants.Network(name, 512, device=device)


def training_step(device: str, quick: bool, size: int) -> Mapping[Name, Work]:
    """A ResNet-50 with mixed precision and its scaler, at most 256 pictures at a time, and losses of its embeddings."""
    net = network(device, "convnet" if quick else "resnet50")
    if net.note:
        raise ImportError(net.note)
    losses = Batch(size, device=device).works((loss, OURS) for loss in TRAINED)
    return {(LIMIT, STEP): net.work(size, chunk=256, mixed=True), **losses}


def evaluation(device: str, n: int) -> Mapping[Name, Work]:
    """R@K, mAP and mAP@R of a gallery whose items are the queries."""
    embeddings, labels = catalogue(n, device=device)
    ours = partial(evaluate_retrieval, embeddings, labels[:, 2], metrics=FINE, progress=False)
    return {("R@K, mAP, mAP@R", OURS): ours, (LIMIT, MATMUL): partial(product, embeddings, 1024)}


def some_queries(device: str, n: int) -> Mapping[Name, Work]:
    """The same for a part of the queries, in case that all of them take too long."""
    embeddings, labels = catalogue(n, device=device)
    few, all_of_them = slice(0, 10_000), {"gallery": embeddings, "gallery_labels": labels[:, 2]}
    ours = partial(evaluate_retrieval, embeddings[few], labels[few, 2], metrics=FINE, progress=False, **all_of_them)
    return {("the same, 10,000 queries", OURS): ours}


def synchronisations(size: int) -> list[Row]:
    """How many times each loss of a batch waits for the GPU, forward and backward."""
    rows = []
    for (loss, who), work in Batch(size, device="cuda").works((name, OURS) for name in contestants.LOSSES).items():
        work()
        torch.cuda.set_sync_debug_mode("warn")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            work()
        torch.cuda.set_sync_debug_mode("default")
        waits = sum("synchroniz" in str(warning.message) for warning in caught)
        rows.append({"work": loss, "contender": who, "size": size, "synchronisations": waits, "note": ""})
    return rows


class Report:
    """What was found so far, in a file that is whole at any time."""

    def __init__(self, path: Path, device: str, quick: bool) -> None:
        self.path, self.device = path, device
        name = torch.cuda.get_device_name() if device == "cuda" else processor()
        versions = {"torch": torch.__version__, "cuda": torch.version.cuda, "numpy": np.__version__}
        missing = [wheel for wheel in WHEELS if importlib.util.find_spec(wheel) is None]
        self.found = {"machine": name, "versions": versions | {"python": platform.python_version()}, "quick": quick}
        self.found |= {"missing": missing, "tests": "not run", "seconds": 0.0, "rows": []}
        self.begun = time.monotonic()
        print(f"{name}; {versions}; missing: {', '.join(missing) or 'nothing'}", flush=True)

    def add(self, part: str, rows: list[Row]) -> None:
        for row in rows:
            self.found["rows"].append({"device": self.device, "part": part, **row})
            said = row["note"] or f"{row.get('seconds', float('nan')):.4g} s, {row.get('bytes') or 0:.3g} bytes"
            print(f"{part}: {row['work']}, {row['contender']}, {row['size']:,}: {said}", flush=True)
        self.save()

    def save(self, **more: object) -> None:
        self.found |= {"seconds": round(time.monotonic() - self.begun, 1), **more}
        with written(self.path) as part:
            part.write_text(json.dumps(self.found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parts(report: Report, limits: Limits, quick: bool, tests: list[str]) -> Iterator[Part]:
    """What is measured, that of most value first: where it belongs, and the rows, size by size."""
    device, known = report.device, {}
    lengths, sizes = (10**5, 10**6, 10**7, 10**8), (512, 1024, 2048, 4096, 8192)
    steps, galleries = (128, 256, 1024), (60_502, 1_100_000)
    if quick:
        lengths, sizes, steps, galleries = (10**3, 10**4), (16, 32), (4, 8), (200, 400)

    def timed(part: str, some: tuple[int, ...], works: Works, *usual: float) -> Part:
        growth = {"usual": usual or GROWTH, "growth": ALL_PAIRS, "last": known.setdefault(part, {})}
        return part, lambda: race_by_size(some, works, limits, device=device, **growth)

    yield timed("long lists", lengths, partial(long_list, device))
    yield timed("batches", sizes[:-1], partial(batch, device), 2.1, 2.0)
    yield timed("step", steps[:-1], partial(training_step, device, quick))
    yield timed("evaluation", galleries[:1], partial(evaluation, device), 2.0, 1.0)
    if device == "cuda":
        yield "batches", lambda: [synchronisations(sizes[0])]
        yield "backbone", lambda: [speed.beside_backbone(TABLE_S2, limits, device)]
    yield "tests", lambda: report.save(tests=run_tests(tests, min(150.0, limits.left()))) or []
    yield timed("batches", sizes[-1:], partial(batch, device), 2.1, 2.0)
    yield timed("evaluation", galleries[-1:], partial(some_queries, device))
    yield timed("step", steps[-1:], partial(training_step, device, quick))
    yield timed("evaluation", galleries[-1:], partial(evaluation, device), 2.0, 1.0)


def measure(report: Report, limits: Limits, quick: bool, tests: list[str]) -> None:
    """Part by part; one that cannot be made ready does not keep the others from being measured."""
    for part, rows_by_size in parts(report, limits, quick, tests):
        missed = {"work": "all", "contender": "", "size": 0, "seconds": None}
        if limits.left() <= 0:
            report.add(part, [{**missed, "note": "not measured: the budget is used up"}])
            continue
        if report.device == "cuda":
            torch.cuda.empty_cache()
            limits.memory = speed.SHARE * free_memory("cuda")
        try:
            for rows in rows_by_size():
                report.add(part, rows)
        except Exception as error:
            report.add(part, [{**missed, "note": f"not measured: {type(error).__name__}: {error}"}])


def run_tests(paths: list[str], seconds: float) -> dict | str:
    """Those that are skipped where there is no GPU, in a process of their own: how many passed, and who did not."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()  # leaves the memory to that process
    with tempfile.TemporaryDirectory() as folder:
        report, said = Path(folder) / "report.json", "they were not collected in time"
        command = [sys.executable, "-m", "benchmarks.gpu", "--out", str(report), "--only-tests", *paths]
        here = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "lab", ROOT / "book")))}
        with suppress(subprocess.TimeoutExpired):
            run = subprocess.run(command, cwd=ROOT, env=here, timeout=max(1.0, seconds), capture_output=True, text=True)
            said = (run.stderr or run.stdout).strip().splitlines()[-1]
        return json.loads(report.read_text(encoding="utf-8")) if report.exists() else f"not run: {said}"


class NeedsGpu:
    """A plugin of pytest: keeps the tests that a missing GPU skips, and writes after each how it ended."""

    def __init__(self, path: Path) -> None:
        self.path, self.found = path, {"passed": 0, "failed": 0, "skipped": 0, "names": [], "not collected": []}

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            self.found["not collected"].append(report.nodeid)

    def pytest_collection_modifyitems(self, items: list) -> None:
        reasons = [" ".join(str(mark.kwargs.get("reason")) for mark in item.iter_markers("skipif")) for item in items]
        items[:] = [item for item, reason in zip(items, reasons, strict=True) if "GPU" in reason or "CUDA" in reason]

    def pytest_runtest_logreport(self, report) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.found[report.outcome] += 1
            self.found["names"] += [report.nodeid] if report.failed else []
            with written(self.path) as part:
                part.write_text(json.dumps(self.found), encoding="utf-8")


def goals(line: Callable[[str, float | None, float, str], str], path: Path | None = None) -> list[str]:
    """A line for each goal on a GPU, from what the command has written; without it nothing is measured."""
    path = path or RECORD
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    seconds = {
        (row["part"], row["work"], row["contender"], row["size"]): row["seconds"]
        for row in rows
        if row["device"] == "cuda" and row.get("seconds") is not None
    }
    lines = []
    for title, part, work, size, whom, at_most in GPU_GOALS:
        mine = seconds.get((part, work, OURS, size))
        other = seconds.get((part, LIMIT, whom, size)) if whom else 1.0
        value = mine / other if mine is not None and other else None
        lines.append(line(title, value, at_most, f"× {whom}" if whom else "seconds"))
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, default=RECORD)
    parser.add_argument("--budget", type=float, default=480.0, help="seconds; what would end later is not begun")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, and without a GPU on the CPU: does it run?")
    parser.add_argument("--tests", nargs="*", default=["tests/library", "tests/lab"], help="where tests are looked for")
    parser.add_argument("--only-tests", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.quick and chosen.out == RECORD:
        parser.error("--quick is a trial and no record: say where to, with --out")
    if chosen.only_tests:
        import pytest

        return pytest.main(["-q", "--continue-on-collection-errors", *chosen.only_tests], [NeedsGpu(chosen.out)])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not chosen.quick:
        print("Nothing is measured: torch finds no GPU (`--quick` tries the command on a CPU).")
        return 1
    warnings.simplefilter("ignore")
    faulthandler.dump_traceback_later(chosen.budget + 50, exit=True)  # whatever hangs: what is measured is written
    rounds, seconds = (2, 0.02) if chosen.quick else (7, 2.0)
    limits = Limits(rounds, seconds, chosen.budget, tolerant=True)
    measure(Report(chosen.out, device, chosen.quick), limits, chosen.quick, chosen.tests)
    faulthandler.cancel_dump_traceback_later()
    return 0


if __name__ == "__main__":
    sys.exit(main())

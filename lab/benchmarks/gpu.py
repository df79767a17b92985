"""Measure everything that wants a GPU, in one command of less than nine minutes: `python -m benchmarks.gpu --out FILE`.

It needs torch and NumPy; of what else is missing the rows say so. To the parts of the lab `speed` come steps of a
training, and an evaluation. The file is written after every part; what no longer fits into the budget is told as not
measured. Then `make bench` and the page of results read FILE, `book/data/speed_gpu.json` unless another is named.
"""

import argparse
import faulthandler
import importlib.util
import json
import platform
import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.rows import STEP, TRAINED
from benchmarks.works import FINE, MATMUL, catalogue, product
from rankedu.files import written
from rankedu.metrics import evaluate_retrieval
from ranklab.experiments import speed
from ranklab.experiments.speed.contestants import LIMIT, OURS, Batch, network
from ranklab.experiments.speed.stopwatch import Limits, Name, Row, Work, free_memory, processor, race

RECORD = Path(__file__).resolve().parents[2] / "book" / "data" / "speed_gpu.json"
#: What some of the rows need beside torch and NumPy.
WHEELS = ("torchvision", "torchmetrics", "sklearn", "pytorch_metric_learning", "scipy")
#: Of the lab's parts the sizes, with Smooth-AP's Table S2 as printed, in one piece; and those of step and evaluation.
SIZES = {"lengths": [10**5, 10**6, 10**7, 10**8], "batch_sizes": [512, 1024, 2048, 4096, 8192], "memory_length": 0}
SIZES |= {"model": "resnet50", "chunk": 0, "steps": [128, 256, 1024], "galleries": [60_502, 1_100_000]}
QUICK = {"lengths": [1000], "batch_sizes": [16, 32], "batch": 16, "memory_length": 0}
QUICK |= {"model": "convnet", "steps": [4, 8], "galleries": [200, 400]}


def step(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """A network with mixed precision and its scaler, at most 256 pictures at a time, and losses of its embeddings."""

    def works(size: int) -> dict[Name, Work]:
        own = network(chosen["model"], chosen["dim"], size, 256, device, mixed=True)
        return {(LIMIT, STEP): own, **Batch(size, device=device).works((loss, OURS) for loss in TRAINED)}

    return race(chosen["steps"], works, limits, device=device)


def evaluation(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """R@K, mAP and mAP@R of a gallery whose items are the queries."""

    def works(n: int) -> dict[Name, Work]:
        embeddings, labels = catalogue(n, device=device)
        ours = partial(evaluate_retrieval, embeddings, labels[:, 2], metrics=FINE, progress=False)
        return {("R@K, mAP, mAP@R", OURS): ours, (LIMIT, MATMUL): partial(product, embeddings, 1024)}

    return race(chosen["galleries"], works, limits, device=device, usual=(2.0, 1.0))


#: What is measured, that of most value first.
PARTS = {
    "long lists": speed.long_lists,
    "batches": speed.batches,
    "step": step,
    "evaluation": evaluation,
    "backbone": speed.beside_backbone,
}


def measure(path: Path, chosen: Mapping[str, Any], limits: Limits, device: str) -> None:
    """Part by part; one that cannot be made ready does not keep the others from being measured."""
    versions = {"torch": torch.__version__, "cuda": torch.version.cuda, "numpy": np.__version__}
    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    found: dict[str, Any] = {"machine": name, "versions": versions | {"python": platform.python_version()}}
    found |= {"missing": [wheel for wheel in WHEELS if importlib.util.find_spec(wheel) is None], "rows": []}
    begun = time.monotonic()
    for part, measured in PARTS.items():
        if device == "cuda":
            torch.cuda.empty_cache()
            limits.memory = speed.SHARE * free_memory("cuda")
        try:
            rows = measured(chosen, limits, device)
        except Exception as error:
            missed = {"work": "all", "contender": "", "size": 0, "seconds": None}
            rows = [{**missed, "note": f"not measured: {type(error).__name__}: {error}"}]
        found["rows"] += [{"device": device, "part": part, **row} for row in rows]
        for row in rows:
            said = row["note"] or f"{row['seconds']:.4g} s, {row['bytes'] or 0:.3g} bytes"
            print(f"{part}: {row['work']}, {row['contender']}, {row['size']:,}: {said}", flush=True)
        found["seconds"] = round(time.monotonic() - begun, 1)
        with written(path) as file:
            file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, default=RECORD)
    parser.add_argument("--budget", type=float, default=480.0, help="seconds; what would end later is not begun")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, and without a GPU on the CPU: does it run?")
    chosen = parser.parse_args(arguments)
    if chosen.quick and chosen.out == RECORD:
        parser.error("--quick is a trial and no record: say where to, with --out")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not chosen.quick:
        print("Nothing is measured: torch finds no GPU (`--quick` tries the command on a CPU).")
        return 1
    warnings.simplefilter("ignore")
    faulthandler.dump_traceback_later(chosen.budget + 50, exit=True)  # whatever hangs: what is measured is written
    rounds, seconds = (2, 0.02) if chosen.quick else (7, 2.0)
    sizes = {**speed.DEFAULTS, **(QUICK if chosen.quick else SIZES)}
    measure(chosen.out, sizes, Limits(rounds, seconds, chosen.budget), device)
    faulthandler.cancel_dump_traceback_later()
    return 0


if __name__ == "__main__":
    sys.exit(main())

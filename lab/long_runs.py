"""Train eight retrieval losses for 2,500 steps in several splits of the characters, by the rules of `records/long.md`.

Each finished run adds its rows to `records/long.csv` and is not made again, so the script can be stopped at any time::

    PYTHONPATH=$PWD:$PWD/lab OMP_NUM_THREADS=1 nice -n 19 .venv/bin/python lab/long_runs.py --workers 1
"""

import argparse
import csv
import functools
import hashlib
import io
import json
import math
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rankedu.metrics import evaluate_retrieval
from rankedu_lab.datasets import UnicodeGlyphs, augment
from rankedu_lab.methods import make_loss, parse_settings
from rankedu_lab.models.build import build
from rankedu_lab.training.retrieval import embed
from rankedu_lab.training.samplers import ClassBalancedSampler

HERE = Path(__file__).resolve().parent
#: The networks that the earlier searches chose, with their settings; `records/README.md` explains the columns.
SEARCHED = HERE / "records" / "claims_later.csv"
METHODS = ["rambo_log", "rambo_loglog", "rambo_ap", "smooth_ap", "fast_ap", "roadmap", "contrastive"]
METHODS += ["normalized_softmax", "normalized_softmax_500"]
#: The name of a search in the records, where it is not that of the method; the method was added after the first split.
SEARCHES = {"normalized_softmax_500": "softmax of twice the steps"}
SPLITS, FIRST = 16, 8  #: the first eight splits are the experiment; the others follow if there is time
#: What the learning rate that the search found is multiplied by; the rate of proxies is multiplied, too.
FACTORS = (1.0, 1 / 3, 3.0)
LATER = 9.0  #: a fourth factor, asked for when the largest of the three was often the best
STEPS, MEASURED = 2500, (0, 250, 1000, 2500)
START_STEPS, START_LR = 2400, 3e-3  #: of the network that all runs of a split begin with
BATCH, PER_CLASS, DIM = 128, 4, 64
#: Settings that the records keep as parameters of their own, with the value that means "not set".
OWN = {"margin": -1.0, "weight": -1.0, "lam": 0.0, "temperature": 0.0}
COLUMNS = (
    *("method", "split", "factor", "rate", "seed", "step"),
    *("val recall@1", "val map@r", "test recall@1", "test map@r"),
    *("seconds", "start", "settings", "commit", "torch", "processor", "finished"),
)


class Job(NamedTuple):
    """One run: a method, a split, and the factor of the learning rate; of a baseline, which is not trained, 0."""

    method: str
    split: int
    factor: float


def all_jobs() -> list[Job]:
    """List all runs in the order in which they are made, so that whatever is finished compares like with like."""
    of_split = [
        [Job(baseline, split, 0.0) for baseline in ("untrained", "start")]
        + [Job(method, split, factor) for factor in FACTORS for method in METHODS]
        for split in range(SPLITS)
    ]
    early = 2 + len(METHODS)  # the baselines, and all methods at the rate that was found
    parts = [jobs[:early] for jobs in of_split[:FIRST]] + [jobs[early:] for jobs in of_split[:FIRST]]
    parts.append([Job(method, split, LATER) for split in range(FIRST) for method in METHODS])
    return [job for part in parts + of_split[FIRST:] for job in part]


def read_rows(table: Path) -> list[dict[str, str]]:
    """Read the rows of a table; there are none before it exists."""
    if not table.exists():
        return []
    with table.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def add_rows(table: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add the rows of one run; the new table replaces the old one in one step, so that no run is ever half there."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*read_rows(table), *rows])
    part = table.with_suffix(".part")
    part.write_text(text.getvalue(), encoding="utf-8")
    part.replace(table)


def still_to_do(jobs: Iterable[Job], table: Path) -> list[Job]:
    """Leave out the runs whose rows are in the table."""
    there = {(row["method"], int(row["split"]), f"{float(row['factor']):.4g}") for row in read_rows(table)}
    return [job for job in jobs if (job.method, job.split, f"{job.factor:.4g}") not in there]


def searched_settings(method: str, split: int) -> dict[str, Any]:
    """Look up the loss, the learning rates and the settings that the earlier search chose on `val` in this split."""
    for row in read_rows(SEARCHED):
        searched = SEARCHES.get(method, method), str(split)
        if (row["method"], row["split"]) == searched and "mAP@R" in row["chosen by"].split(", "):
            own = {name: float(row[name]) for name, unset in OWN.items() if float(row[name]) != unset}
            settings = {**own, **parse_settings(row["settings"])}
            rates = {name: float(row[name]) for name in ("lr", "loss_lr")}
            return {"loss": row["loss"], **rates, "settings": settings}
    raise ValueError(f"method must have been searched for in split {split}, got {method!r} (see {SEARCHED.name})")


@functools.lru_cache(maxsize=8)
def characters(part: str, split: int) -> tuple[Tensor, Tensor]:
    """Open a part of a split: images (N, 32, 32) and the number of the character on each (N,)."""
    data = UnicodeGlyphs(part, salt=f"deal {split}")
    return data.images, data.labels[:, -1].contiguous()


def train(
    net: nn.Module, loss: nn.Module, part: str, split: int, *, lr: float, loss_lr: float = 1.0, steps: int
) -> Iterator[int]:
    """Train a network in place with Adam, at a rate that falls to 0 along half a cosine; yield the step just taken."""
    images, labels = characters(part, split)
    parts = ((net, lr), (loss, lr * loss_lr))
    optimizer = torch.optim.Adam([{"params": own, "lr": lr} for of, lr in parts if (own := list(of.parameters()))])
    rates = [group["lr"] for group in optimizer.param_groups]
    pictures = torch.Generator().manual_seed(split)
    net.train()
    for step, chosen in enumerate(ClassBalancedSampler(labels, BATCH, PER_CLASS, batches=steps, seed=split)):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * (1 + math.cos(math.pi * step / steps)) / 2
        optimizer.zero_grad()
        value = loss(net(augment(images[chosen], generator=pictures)), labels[chosen])
        value.backward()
        if not value.isfinite():
            raise FloatingPointError(f"loss must stay finite, got {value.item()} in step {step + 1}")
        optimizer.step()
        yield step + 1


def measure(net: nn.Module, split: int) -> dict[str, str]:
    """Compute R@1 and mAP@R on `val` and on the held-out characters."""
    found: dict[str, str] = {}
    for name, part in (("val", "val"), ("test", "held_out")):
        images, labels = characters(part, split)
        embeddings = embed(net, images, generator=torch.Generator().manual_seed(1))
        of = evaluate_retrieval(embeddings, labels[:, None], metrics=("recall_at_1", "map_at_r"), progress=False)
        found |= {f"{name} recall@1": f"{of['recall_at_1']:.8f}", f"{name} map@r": f"{of['map_at_r']:.8f}"}
    return found


def start_of(split: int, folder: Path, steps: int = START_STEPS) -> dict[str, Tensor]:
    """Load the network that all runs of a split begin with, or train it with the normalised softmax on `pretrain`."""
    if not (file := folder / f"start-{split:02d}-{steps}.pt").exists():
        torch.manual_seed(split)
        net = build("convnet", dim=DIM, in_channels=1)
        loss = make_loss("normalized_softmax", dim=DIM, labels=characters("pretrain", split)[1])
        for _ in train(net, loss, "pretrain", split, lr=START_LR, steps=steps):
            pass
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        torch.save(net.state_dict(), part)
        part.replace(file)
    return dict(torch.load(file, weights_only=True))


def run(job: Job, folder: Path, steps: int = STEPS, start_steps: int = START_STEPS) -> list[dict[str, Any]]:
    """Make one run and return its rows; a training that diverges has no rows but the first."""
    torch.set_num_threads(1)
    began = time.process_time()
    state = start_of(job.split, folder, start_steps) if job.method != "untrained" else {}
    torch.manual_seed(job.split)
    net = build("convnet", dim=DIM, in_channels=1)
    if job.method == "start":
        net.load_state_dict(state)
    elif state:  # the last layer is new
        head = {name: value for name, value in net.state_dict().items() if name.startswith("embed.")}
        net.load_state_dict({**state, **head})
    about = {**job._asdict(), "factor": f"{job.factor:.4g}", "seed": job.split, "start": hash_of(state), **made_by()}

    def row(step: int) -> dict[str, Any]:
        return {"step": step, **measure(net, job.split), "seconds": f"{time.process_time() - began:.1f}"}

    rows = [row(0)]
    if job.factor:
        found = searched_settings(job.method, job.split)
        loss = make_loss(found["loss"], dim=DIM, labels=characters("fit", job.split)[1], **found["settings"])
        rates = {"lr": found["lr"] * job.factor, "loss_lr": found["loss_lr"]}
        settings = json.dumps(found["settings"] | {"loss_lr": found["loss_lr"]})
        about |= {"rate": f"{rates['lr']:.6g}", "settings": settings}
        try:
            rows += [row(step) for step in train(net, loss, "fit", job.split, **rates, steps=steps) if step in MEASURED]
        except (FloatingPointError, ValueError) as error:
            print(*job, error, flush=True)
    finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return [{**about, **values, "finished": finished} for values in rows]


def hash_of(state: Mapping[str, Tensor]) -> str:
    """Name weights by their bytes, so that a table shows which runs begin with the same network."""
    return hashlib.sha256(b"".join(value.numpy().tobytes() for value in state.values())).hexdigest()[:16]


@functools.lru_cache(maxsize=1)
def made_by() -> dict[str, str]:
    """Say by which code and on which processor the rows are made; a commit with a + had changed files."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "..", ":!records/long.csv")
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = names[0].partition(":")[2].strip() if names else platform.processor()
    commit = git("rev-parse", "HEAD") + "+" * bool(changed)
    return {"commit": commit, "torch": torch.__version__, "processor": processor}


def run_all(jobs: Iterable[Job], table: Path, work: Callable[[Job], list[dict[str, Any]]], workers: int = 1) -> None:
    """Make the runs that are not in the table, and add each as soon as it is finished."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    futures = {pool.submit(work, job): job for job in still_to_do(jobs, table)}
    try:
        for future in as_completed(futures):
            add_rows(table, future.result())
            print(time.strftime("%H:%M:%S"), *futures[future], "finished", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


def main() -> None:
    """Make all runs, or some of them to try the script out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1, help="processes, with one thread each")
    parser.add_argument("--table", type=Path, default=HERE / "records" / "long.csv", help="CSV file that grows")
    parser.add_argument("--starts", type=Path, default=HERE.parent / "runs" / "long_starts", help="kept start networks")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of a run; other values only to try it out")
    parser.add_argument(
        "--first", type=int, default=None, help="number of runs to make, from the first one; by default all"
    )
    given = parser.parse_args()
    work = functools.partial(run, folder=given.starts, steps=given.steps)
    run_all(all_jobs()[: given.first], given.table, work, given.workers)


if __name__ == "__main__":
    main()

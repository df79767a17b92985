"""The lab `speed`: our losses beside Algorithm 1 as printed, other libraries, and bounds on the work.

It times one list of up to 10⁸ scores (RaMBO's Table 6), a loss beside the network (Smooth-AP's Table S2), and batches
of embeddings. `contestants` makes what is timed, `timing` times it, and `tables` makes tables of the rows.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from rankedu.checks import check_choice
from rankedu_lab.experiments.speed import contestants, tables
from rankedu_lab.experiments.speed.contestants import OURS, WRITTEN
from rankedu_lab.experiments.speed.published import PRINTED
from rankedu_lab.experiments.speed.tables import table
from rankedu_lab.experiments.speed.timing import Limits, Row, free_memory, processor, race
from rankedu_lab.runs.parameters import defaults_of
from rankedu_lab.runs.results import machine

__all__ = ["DEFAULTS", "PARTS", "PRINTED", "Speed", "check", "run", "table"]


def long_lists(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time AP and recall of lists beside Algorithm 1 and the bounds."""
    works = partial(contestants.on_list, share=chosen["share"], seed=chosen["seed"], device=device)
    return race(chosen["lengths"], works, limits, lambda name, n: 60.0 * n if name[1] == WRITTEN else 20.0 * n)


def beside_backbone(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time a network on a batch of pictures, and each loss of Table S2, with its settings, on a batch of embeddings."""
    size, dim, seed = chosen["batch"], chosen["dim"], chosen["seed"]
    on_batch = contestants.on_batch(size, chosen["per_class"], dim, seed, device, lam=4.0, bins=20)
    setting = (chosen["model"], dim, size, chosen["chunk"], device)
    network = contestants.network(*setting, pixels=chosen["image_size"], seed=seed)
    works = {("backbone", chosen["model"]): network}
    for title, loss in {"Blackbox AP": "RaMBO AP", "FastAP": "FastAP", "Smooth-AP": "Smooth-AP"}.items():
        works |= {(title, who): on_batch[loss, who] for who in (OURS, WRITTEN) if (loss, who) in on_batch}
    return race([size], lambda _: works, limits)


def batches(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time all losses of a batch, ours and others', and average precision without a gradient, at every batch size."""
    setting = (chosen["per_class"], chosen["dim"], chosen["seed"], device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other libraries
        return race(
            chosen["batch_sizes"], lambda size: contestants.on_batch(size, *setting), limits, contestants.needed
        )


#: The parts of the lab, in the order in which they are measured.
PARTS: dict[str, Callable[[Mapping[str, Any], Limits, str], list[Row]]] = {
    "long lists": long_lists,
    "backbone": beside_backbone,
    "batches": batches,
}
#: Every parameter of the lab.
DEFAULTS = defaults_of("speed")
#: The part of the free memory that may be used.
SHARE = 0.8


@dataclass(frozen=True)
class Speed:
    """The measurements: rows, as `tables` reads them, with a ``note`` where one is missing; and the machine."""

    rows: list[Row]
    machine: dict[str, Any]

    @property
    def metrics(self) -> dict[str, Any]:
        """All numbers, nested by device, part, work, contestant and size."""
        return tables.metrics_of(self.rows)

    def of(self, part: str, device: str = "cpu") -> list[Row]:
        """Return the rows of one part on one device."""
        return [row for row in self.rows if (row["part"], row["device"]) == (part, device)]

    def devices(self, part: str) -> list[str]:
        """Return the devices on which at least some of a part was timed."""
        return list(dict.fromkeys(row["device"] for row in self.rows if row["part"] == part and row["seconds"]))

    def notes(self) -> list[str]:
        """Say why something was not timed, a line each."""
        return [
            f"{row['device']}, {row['part']}, {row['work']}, {row['contender']} at {row['size']:,}: {row['note']}"
            for row in self.rows
            if row["note"]
        ]

    def ratios(self, part: str) -> str:
        """Write our time over the others' times."""
        return table(tables.ratios(self.rows, part))

    def table(self, part: str, device: str) -> list[dict[str, str]]:
        """Lay out the seconds: a line for each contestant, a column for each size."""
        return tables.pivot(self.rows, part, device)

    def backbone_table(self, device: str) -> list[dict[str, str]]:
        """Lay out the milliseconds of the network and of each loss, printed and here."""
        return tables.beside(self.of("backbone", device))


def run(parameters: Mapping[str, Any] | None = None) -> Speed:
    """Measure, with those of `DEFAULTS`, which the lab's notebook explains, that are not given; refuse what cannot be.

    Source: RaMBO Tab. 6; Smooth-AP supp. Tab. S2.
    """
    chosen = {**DEFAULTS, **(parameters or {})}
    check(chosen)
    there = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    if not {"auto", *there} >= set(chosen["devices"]):
        raise ValueError("devices must be there, got 'cuda' and no GPU (take 'cpu', or 'auto' for what there is)")
    devices = list(dict.fromkeys(one for name in chosen["devices"] for one in (there if name == "auto" else [name])))
    limits = Limits(chosen["seconds"], chosen["budget"])
    rows: list[Row] = []
    for device in devices:
        for part in chosen["parts"]:
            limits.memory = chosen["memory"] * 2**30 or SHARE * free_memory(device)
            rows += [{"device": device, "part": part, **row} for row in PARTS[part](chosen, limits, device)]
    names = [processor() if name == "cpu" else str(torch.cuda.get_device_name()) for name in devices]
    return Speed(rows, {**machine(), "device": "; ".join(names), "threads": 1})


def check(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError for what cannot be measured, before anything is."""
    for part in parameters["parts"]:
        check_choice(part, tuple(PARTS), name="parts")
    for device in parameters["devices"]:
        check_choice(device, ("auto", "cpu", "cuda"), name="devices")
    for name in ("batch", "per_class", "dim", "seconds", "budget", "image_size"):
        if not parameters[name] > 0:
            raise ValueError(f"{name} must be > 0, got {parameters[name]}")
    if min(*parameters["lengths"], *parameters["batch_sizes"], 2) < 2 or not 0 < parameters["share"] < 1:
        raise ValueError("lengths and batch_sizes must be 2 or more each, and share between 0 and 1")
    per_class = parameters["per_class"]
    for size in (*parameters["batch_sizes"], parameters["batch"]):
        if size % per_class:
            raise ValueError(f"batch_sizes and batch must be multiples of per_class={per_class}, got {size}")

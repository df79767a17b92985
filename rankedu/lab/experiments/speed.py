"""What the lab `speed` does: rank losses against their own formulas, other libraries, and the work nobody can avoid.

RaMBO's Table 6 (one list of up to 10⁸ scores), its Table 1 as measured exponents, Smooth-AP's Table S2 (a loss beside
the network), and batches of embeddings. All contenders of a part run in turn in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from rankedu._validation import check_choice
from rankedu.lab.experiments._footprint import free_memory, processor
from rankedu.lab.experiments._speed_backbone import beside_backbone
from rankedu.lab.experiments._speed_batches import BESIDE, batches
from rankedu.lab.experiments._speed_found import Speed, table
from rankedu.lab.experiments._speed_growth import growth
from rankedu.lab.experiments._speed_lists import PRINTED, long_lists
from rankedu.lab.experiments._stopwatch import Limits
from rankedu.lab.runs.parameters import did_you_mean
from rankedu.lab.runs.results import machine

__all__ = ["DEFAULTS", "PARTS", "PRINTED", "Speed", "run", "table"]

#: What can be measured, in the order in which it is.
PARTS: dict[str, Callable[[Mapping[str, Any], Limits, str], list[dict[str, Any]]]] = {
    "long lists": long_lists,
    "growth": growth,
    "backbone": beside_backbone,
    "batches": batches,
}
#: Every parameter of the lab.
DEFAULTS: dict[str, Any] = {
    "parts": list(PARTS),
    "devices": ["auto"],
    "lengths": [1000, 10_000, 100_000],
    "share": 0.01,
    "memory_length": 1_000_000,
    "scale": 0.5,
    "batch": 112,
    "model": "convnet",
    "image_size": 224,
    "chunk": 16,
    "batch_sizes": [128, 256],
    "per_class": 4,
    "dim": 512,
    "longest": [],
    "rounds": 5,
    "seconds": 0.3,
    "budget": 90.0,
    "memory": 0.0,
    "seed": 0,
}
#: Of the memory that is free, how much may be used.
SHARE = 0.8


def run(parameters: Mapping[str, Any] | None = None) -> Speed:
    """Measure.

    Parameters
    ----------
    parameters : mapping, optional
        Of `DEFAULTS`, which the lab's notebook explains; what is left out has its default.

    Returns
    -------
    Speed

    Raises
    ------
    ValueError
        For an unknown part, device or contender, a device that is not there, or a number out of range.

    Source
    ------
    RaMBO Tab. 6; RaMBO Tab. 1; Smooth-AP supp. Tab. S2.

    Examples
    --------
    >>> found = run({"parts": ["long lists"], "devices": ["cpu"], "lengths": [100], "memory_length": 0, "rounds": 1})
    >>> sorted({row["contender"] for row in found.of("long lists") if row["work"] == "AP"})
    ['ours', 'transcription']
    """
    chosen = {**DEFAULTS, **(parameters or {})}
    longest = _check(chosen)
    rows: list[dict[str, Any]] = []
    names = _devices(chosen["devices"])
    setting = {"rounds": chosen["rounds"], "seconds": chosen["seconds"], "longest": longest}
    limits = Limits(**setting, budget=chosen["budget"])
    for device in names:
        for part in chosen["parts"]:
            limits.memory = chosen["memory"] * 2**30 or SHARE * free_memory(device)
            empty = {"device": device, "part": part, "contender": "", "size": 0}
            rows += [{**empty, **row} for row in PARTS[part](chosen, limits, device)]
    return Speed(rows, _machine(names))


def _check(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Whether all can be measured, before anything is; the caps by contender."""
    for part in parameters["parts"]:
        check_choice(part, tuple(PARTS), name="parts")
    positive = ("batch", "per_class", "dim", "rounds", "seconds", "budget", "scale", "image_size")
    for name in positive:
        if not parameters[name] > 0:
            raise ValueError(f"{name} must be > 0, got {parameters[name]}")
    for name in ("lengths", "batch_sizes"):
        if any(size < 2 for size in parameters[name]):
            raise ValueError(f"{name} must be 2 or more each, got {parameters[name]}")
    if not 0 < parameters["share"] < 1:
        raise ValueError(f"share must be between 0 and 1, got {parameters['share']}")
    for size in (*parameters["batch_sizes"], parameters["batch"]):
        if size % parameters["per_class"]:
            raise ValueError(
                f"batch_sizes and batch must be multiples of per_class={parameters['per_class']}, got {size}"
            )
    return _caps(parameters["longest"])


def _caps(texts: Sequence[str]) -> dict[str, int]:
    """Read ``contender=size``."""
    known = ("ours", *BESIDE)
    caps = {}
    for text in texts:
        name, _, size = text.partition("=")
        if name not in known:
            raise ValueError(
                f"longest must name a contender{did_you_mean(name, known)}: {', '.join(known)}; got {text!r}"
            )
        try:
            caps[name] = int(float(size))
        except ValueError:
            raise ValueError(f"longest must be texts such as 'transcription=1000000', got {text!r}") from None
    return caps


def _devices(wanted: Sequence[str]) -> list[str]:
    """cpu and cuda as named; for auto the processor, and the GPU if there is one."""
    names: list[str] = []
    for name in wanted:
        check_choice(name, ("auto", "cpu", "cuda"), name="devices")
        if name == "cuda" and not torch.cuda.is_available():
            raise ValueError("devices must be there, got 'cuda' and no GPU (take 'cpu', or 'auto' for what there is)")
        found = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])] if name == "auto" else [name]
        names += [device for device in found if device not in names]
    return names


def _machine(devices: Sequence[str]) -> dict[str, Any]:
    """What the numbers were measured on."""
    parts = {"cpu": processor, "cuda": lambda: str(torch.cuda.get_device_name())}
    return {**machine(), "device": "; ".join(parts[device]() for device in devices), "threads": 1}

"""What a lab leaves behind: one `result.json`, checked and written whole or not at all."""

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankedu.files import written

#: Environment variable with the folder that results go to, instead of the current one.
RESULT_FOLDER = "RANKEDU_RESULT_FOLDER"


def save_result(result: Mapping[str, Any], *, folder: str | os.PathLike[str] | None = None) -> Path:
    """Check the result of a lab and write it to `result.json`, with the machine that it was measured on.

    ``lab`` (its name), ``parameters`` (name → value) and ``metrics`` (name → number, or mappings of such); optionally
    ``rows``, a list of flat mappings, ``evidence`` and ``notes``. Numbers may be NumPy's or torch's; what is not finite
    is written as null. The folder is by default ``$RANKEDU_RESULT_FOLDER``, else the current one, that of the run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_result({"lab": "demo", "parameters": {"n": 20}, "metrics": {"error": 0.5}}, folder=folder)
    ...     load_result(path)["metrics"]
    {'error': 0.5}
    """
    plain = _plain({"machine": machine(), **result})
    check_result(plain)
    path = Path(folder or os.environ.get(RESULT_FOLDER) or ".") / "result.json"
    write_json(path, plain)
    return path


def load_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a `result.json`; ValueError if it is not JSON, or not a result."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} must be JSON, got line {error.lineno}: {error.msg} (run the lab again)") from None
    check_result(result)
    return dict(result)


def check_result(result: Any) -> None:
    """Raise ValueError where a result, made of plain values, is not as `save_result` describes it."""
    if not isinstance(result, dict):
        raise ValueError(f"result must be an object, got {type(result).__name__}")
    for key in ("lab", "parameters", "metrics"):
        if key not in result:
            raise ValueError(f"result must have key {key!r} ({_SCHEMA[key][0]}), got {', '.join(map(repr, result))}")
    for key, value in result.items():
        if key not in _SCHEMA:
            raise ValueError(f"result must have the keys {', '.join(map(repr, _SCHEMA))} alone, got {key!r}")
        expected, fits = _SCHEMA[key]
        if not fits(value):
            raise ValueError(f"result[{key!r}] must be {expected}, got {value!r:.200}")


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))


def _are_metrics(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_number(entry) or _are_metrics(entry) for entry in value.values())


def _are_rows(value: Any) -> bool:
    flat = (
        isinstance(row, dict) and all(_is_number(v) or isinstance(v, str | bool) for v in row.values()) for row in value
    )
    return isinstance(value, list) and all(flat)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


#: Key → the expected value in words, and a test of a value.
_SCHEMA: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "lab": ("a string: the name of the lab", lambda value: isinstance(value, str) and bool(value)),
    "parameters": ("an object: every parameter of the lab with its value", _is_object),
    "metrics": ("an object of numbers or null, or of such objects", _are_metrics),
    "rows": ("a list of flat objects, the rows of a table", _are_rows),
    "notes": ("a string", lambda value: isinstance(value, str)),
    "evidence": ("an object: by which code and start, and what was found of each query", _is_object),
    "machine": ("an object: where it was measured; save_result() adds it", _is_object),
}


def _plain(result: Mapping[str, Any]) -> Any:
    """Mappings, lists and numbers of any library as those of JSON; what is not finite as null."""

    def other(value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
            return value.item()  # a number of NumPy's or torch's
        raise TypeError(
            f"result must hold numbers, strings, lists and mappings, got {value!r:.200}, {type(value).__name__} (use "
            ".item() or .tolist())"
        )

    return json.loads(json.dumps(result, default=other), parse_constant=lambda _: None)


def machine() -> dict[str, Any]:
    """The device that was used, torch's threads, and the most memory of this process, and of its GPU, so far (MiB)."""
    facts: dict[str, Any] = {"device": "CPU", "peak_memory_mib": _peak_memory()}
    torch = sys.modules.get("torch")  # a lab that never imported it needs none
    if torch is not None:
        facts["threads"] = torch.get_num_threads()
        used = {gpu: torch.cuda.max_memory_allocated(gpu) for gpu in range(torch.cuda.device_count())}
        if any(used.values()):  # a GPU that is there but was not used has measured nothing
            gpu = max(used, key=lambda number: used[number])
            facts["device"] = torch.cuda.get_device_name(gpu)
            facts["peak_gpu_memory_mib"] = round(used[gpu] / 2**20, 1)
    return facts


def _peak_memory() -> float | None:
    """The largest resident size of this process in MiB; None where the system does not say."""
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return None
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return round(kib / 1024, 1)


def write_json(path: Path, value: Any) -> None:
    """Write a file whole or not at all."""
    with written(path) as part:
        part.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")

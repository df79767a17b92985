"""What a lab leaves behind: one `result.json`, checked and written whole or not at all, in a folder of its own."""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankedu.files import written

#: Environment variable with the folder that results go to.
RESULT_FOLDER = "RANKEDU_RESULT_FOLDER"
_OBJECT = {"type": "object"}
_METRICS = {"anyOf": [{"type": ["number", "null"]}, {"$ref": "#/properties/metrics"}]}
_ROW = {"type": "object", "additionalProperties": {"type": ["number", "string", "boolean", "null"]}}
#: A result as JSON Schema: metrics are numbers, or nested objects of numbers; `machine` is added by `save_result`.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["lab", "parameters", "metrics"],
    "additionalProperties": False,
    "properties": {
        "lab": {"type": "string", "minLength": 1},
        "parameters": _OBJECT,
        "metrics": {"type": "object", "additionalProperties": _METRICS},
        "rows": {"type": "array", "items": _ROW},
        "notes": {"type": "string"},
        "evidence": _OBJECT,
        "machine": _OBJECT,
    },
}


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
    text = json.dumps({"machine": machine(), **result}, default=_plain)
    checked = _checked(json.loads(text, parse_constant=lambda _: None))
    path = Path(folder or os.environ.get(RESULT_FOLDER) or ".") / "result.json"
    write_json(path, checked)
    return path


def _plain(value: Any) -> Any:
    """Return a mapping, or a number of NumPy or torch, as JSON has it."""
    if isinstance(value, Mapping):
        return dict(value)
    if getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(
        f"result must hold numbers, strings, lists and mappings, got {value!r:.200}, {type(value).__name__} (use "
        ".item() or .tolist())"
    )


def load_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a `result.json`; ValueError if it is not JSON, or not a result."""
    return _checked(json.loads(Path(path).read_text(encoding="utf-8")))


def flatten(metrics: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """Bring nested metrics to one level.

    >>> flatten({"R@1": 0.5, "fine": {"AP": 0.25}})
    {'R@1': 0.5, 'fine/AP': 0.25}
    """
    flat: dict[str, float | None] = {}
    for name, value in metrics.items():
        flat |= flatten(value, f"{prefix}{name}/") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _checked(result: Any) -> dict[str, Any]:
    import jsonschema

    try:
        jsonschema.validate(result, SCHEMA)
    except jsonschema.ValidationError as error:
        raise ValueError(f"result{error.json_path[1:]} is wrong: {error.message:.300}") from None
    return dict(result)


def machine() -> dict[str, Any]:
    """Return the device that was used, torch's threads, and the most memory of this process and of its GPU (MiB)."""
    facts: dict[str, Any] = {"device": "CPU", "peak_memory_mib": _peak_memory()}
    if torch := sys.modules.get("torch"):  # a lab that never imported it needs none
        facts["threads"] = torch.get_num_threads()
        used = {gpu: torch.cuda.max_memory_allocated(gpu) for gpu in range(torch.cuda.device_count())}
        if any(used.values()):  # a GPU that is there but was not used has measured nothing
            gpu = max(used, key=lambda number: used[number])
            facts |= {"device": torch.cuda.get_device_name(gpu), "peak_gpu_memory_mib": round(used[gpu] / 2**20, 1)}
    return facts


def _peak_memory() -> float | None:
    """Return the largest resident size of this process in MiB; None where the system does not say."""
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


# --- The folder of a run ----------------------------------------------------------------------------------------------


def choose_folder(lab: str, parameters: Mapping[str, Any]) -> Path:
    """Choose the folder of a run of a notebook, and make it if it is missing.

    ``$RANKEDU_RESULT_FOLDER`` goes before all. The command `rankedu run` starts a lab in the folder of its run. Where
    papermill writes `out/x.ipynb`, the folder is `out/x/`, and in JupyterLab it is `<lab>/` beside the notebook. A
    folder that holds a result is left as it is, and `x-2`, `x-3` and so on are tried. A folder without a result belongs
    to a run that was interrupted, which goes on there. The parameters fill the fields of ``out/{seed}.ipynb``.
    """
    if folder := os.environ.get(RESULT_FOLDER):
        return Path(folder)
    with suppress(OSError, ValueError, KeyError):
        manifest = json.loads(Path("manifest.json").read_text(encoding="utf-8"))
        if (manifest["lab"], manifest["status"]) == (lab, "running"):
            return Path()
    base = papermill_output(parameters) or Path(lab)
    folders = (base.with_name(base.name + f"-{n}" * (n > 1)) for n in range(1, 100_000))
    free = next(folder for folder in folders if not (folder / "result.json").exists())
    free.mkdir(parents=True, exist_ok=True)
    return free


def papermill_output(parameters: Mapping[str, Any]) -> Path | None:
    """Return the path of the executed notebook, less its ending, from the command line of the papermill above us.

    papermill passes this path to a notebook only if it is asked to.
    """
    import psutil

    with suppress(psutil.Error, OSError):
        papermill = psutil.Process().parent()
        words = papermill.cmdline() if papermill else []
        books = [word for word in words if word.endswith(".ipynb") and "://" not in word]
        if len(books) > 1 and any("papermill" in Path(word).with_suffix("").parts for word in words[:3]):
            with suppress(KeyError, IndexError, ValueError):
                books[1] = books[1].format(**parameters)
            # While it runs, papermill itself is in the folder of `--cwd`, and the path counts from where it began.
            start = os.environ.get("PWD", ".") if "--cwd" in words else papermill.cwd()
            return Path(start, books[1]).with_suffix("")
    return None

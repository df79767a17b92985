"""Where a lab's notebook puts what it leaves behind: in a folder of its own, which holds no result yet."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankedu_lab.runs.results import RESULT_FOLDER


def choose_folder(lab: str, parameters: Mapping[str, Any]) -> Path:
    """Choose the folder of a run, and make it if it is missing.

    ``$RANKEDU_RESULT_FOLDER`` goes before all. The command `rankedu run` starts a lab in the folder of its run. Where
    papermill writes `out/x.ipynb`, the folder is `out/x/`, and in JupyterLab it is `<lab>/` beside the notebook. A
    folder that holds a result is left as it is, and `x-2`, `x-3` and so on are tried. A folder without a result belongs
    to a run that was interrupted, which goes on there.

    Parameters
    ----------
    lab : str
        Name of the lab.
    parameters : Mapping[str, Any]
        Its parameters, which papermill puts into an output path such as ``out/{seed}.ipynb``.

    Returns
    -------
    Path
        The folder.
    """
    if folder := os.environ.get(RESULT_FOLDER):
        return Path(folder)
    if _is_of_runner(lab):
        return Path()
    base = _papermill_output(parameters) or Path(lab)
    folders = (base.with_name(base.name + f"-{n}" * (n > 1)) for n in range(1, 100_000))
    free = next(folder for folder in folders if not (folder / "result.json").exists())
    free.mkdir(parents=True, exist_ok=True)
    return free


def _is_of_runner(lab: str) -> bool:
    """Whether `rankedu run` has made the current folder for this run."""
    with suppress(OSError, ValueError):
        manifest = json.loads(Path("manifest.json").read_text(encoding="utf-8"))
        return bool(manifest["lab"] == lab and manifest["status"] == "running")
    return False


def _papermill_output(parameters: Mapping[str, Any]) -> Path | None:
    """The path of the executed notebook, less its ending, from the command line of the papermill that runs it.

    papermill passes this path to a notebook only if it is asked to.
    """
    with suppress(ImportError, OSError):
        import psutil

        with suppress(psutil.Error):
            papermill = psutil.Process().parent()
            words = papermill.cmdline() if papermill else []
            if not any(Path(word).stem == "papermill" or "papermill" in Path(word).parts for word in words[:3]):
                return None
            books = [word for word in words if word.endswith(".ipynb") and "://" not in word]
            if len(books) > 1:
                with suppress(KeyError, IndexError, ValueError):
                    books[1] = books[1].format(**parameters)
                # While it runs, papermill itself is in the folder of `--cwd`, and the path counts from where it began.
                start = os.environ.get("PWD", ".") if "--cwd" in words else papermill.cwd()
                return Path(start, books[1]).with_suffix("")
    return None

"""What this machine has, what the book needs, and how to get what is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rankedu.cli._app import app

#: Distribution → the extra that brings it. The core comes first.
_NEEDS = {
    "torch": "",
    "numpy": "",
    "scipy": "lab",
    "sympy": "lab",
    "matplotlib": "lab",
    "pillow": "lab",
    "ipywidgets": "lab",
    "jupyterlab": "lab",
    "jupyterlab-myst": "lab",
    "jupytext": "lab",
    "torchvision": "lab",
    "papermill": "lab",
    "distributed": "lab",
    "myst-nb": "lab",
    "sphinx": "book",
    "sphinx-book-theme": "book",
    "nbval": "test",
    "pytest": "test",
    "hypothesis": "test",
    "playwright": "test",
}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Seconds that `_loop` took on the machine on which the commands below were measured.
_LOOP_SECONDS = 0.10
#: Command → seconds on the clock there, installation apart, times its two cores; and the cores that it uses at most.
_COMMANDS = {"make book": (250, None), "make test": (1200, 2)}
#: Bytes that the environment with every extra takes.
_ENVIRONMENT = 2_500_000_000


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes
    ----------
    subject, found : str
        What was looked for and what is there.
    ok : bool
    fix : str
        What to type where it is not.
    essential : bool
        Whether the core of the package fails without it.
    """

    subject: str
    found: str
    ok: bool = True
    fix: str = ""
    essential: bool = False


def examine() -> list[Finding]:
    """Look at everything; imports torch and matplotlib only if they are there."""
    machine = [_processor(), _gpu(), _disk(), _fonts(), _kernel(), _browser()]
    return [_python(), _pip(), *_distributions(), *machine, *_times()]


def _python() -> Finding:
    return Finding(
        "Python", platform.python_version(), sys.version_info >= (3, 10), "install Python 3.10 or newer", essential=True
    )


def _distributions() -> list[Finding]:
    findings = []
    for name, extra in _NEEDS.items():
        wanted = f"rankedu[{extra}]" if extra else "rankedu"
        try:
            findings.append(Finding(name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            findings.append(Finding(name, "missing", False, f"pip install '{wanted}'", essential=not extra))
    return findings


def _processor() -> Finding:
    return Finding("processor", f"{platform.machine()}, {os.cpu_count()} cores")


def _pip() -> Finding:
    fix = "python -m pip install --upgrade pip: an older one cannot install a checkout in place"
    try:
        found = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return Finding("pip", "missing", False, "python -m ensurepip")
    return Finding("pip", found, int(found.split(".")[0]) >= 22, fix)


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    space = f"{free / 1e9:.1f} GB free here; all extras take {_ENVIRONMENT / 1e9:.1f} GB"
    return Finding("disk", space, free > _ENVIRONMENT, "make room, or clone to another disk")


def _times() -> list[Finding]:
    """How long the commands take here, by how fast a loop runs here."""
    pace, cores = min(_loop() for _ in range(3)) / _LOOP_SECONDS, os.cpu_count() or 1
    return [
        Finding(command, f"about {max(1, round(seconds * pace / min(cores, most or cores) / 60))} min once installed")
        for command, (seconds, most) in _COMMANDS.items()
    ]


def _loop() -> float:
    """Seconds of the processor for some work in plain Python."""
    start = time.process_time()
    sum(number * number % 7 for number in range(2_000_000))
    return time.process_time() - start


def _gpu() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding("GPU", "unknown without torch", False, "pip install rankedu")
    import torch

    if torch.cuda.is_available():
        return Finding("GPU", f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")
    return Finding("GPU", "none; every chapter runs without one")


def _fonts() -> Finding:
    if importlib.util.find_spec("matplotlib") is None:
        return Finding("fonts", "unknown without matplotlib", False, "pip install 'rankedu[lab]'")
    from matplotlib import font_manager

    faces = {entry.fname for entry in font_manager.fontManager.ttflist if entry.name.startswith("DejaVu")}
    return Finding("fonts", f"{len(faces)} DejaVu faces", bool(faces), "pip install --force-reinstall matplotlib")


def _kernel() -> Finding:
    fix = "python -m ipykernel install --sys-prefix --name python3"
    if importlib.util.find_spec("jupyter_client") is None:
        return Finding("notebook kernel", "missing", False, "pip install 'rankedu[lab]'")
    from jupyter_client.kernelspec import KernelSpecManager

    found = "python3" in KernelSpecManager().find_kernel_specs()
    return Finding("notebook kernel", "python3" if found else "missing", found, fix)


def _browser() -> Finding:
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    fix = "install Chromium, e.g. apt-get install chromium; only the browser tests need it"
    return Finding("browser", os.path.basename(path) if path else "missing", path is not None, fix)


def table(findings: list[Finding]) -> str:
    """The report as text, one line a finding, fixes at the end."""
    width = max(len(finding.subject) for finding in findings)
    lines = [f"{'✓' if f.ok else '✗'} {f.subject:<{width}}  {f.found}" for f in findings]
    fixes = dict.fromkeys(f"  {f.subject}: {f.fix}" for f in findings if not f.ok)
    return "\n".join([*lines, "", "Nothing is missing." if not fixes else "To fix:", *fixes])


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Report versions, processor, GPU, fonts and browser, and what is missing with its fix."""
    findings = examine()
    print(json.dumps([vars(finding) for finding in findings], indent=1) if as_json else table(findings))
    raise typer.Exit(code=int(any(finding.essential and not finding.ok for finding in findings)))

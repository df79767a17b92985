"""The command that reports what this machine has, and how to install what is missing."""

import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    subject: str  #: What is looked for.
    found: str  #: What was found.
    ok: bool = True
    fix: str = ""  #: The command that installs it.
    essential: bool = False  #: Whether the library fails without it.


def core() -> list[Finding]:
    """Look for what the library needs, and for a GPU, which imports torch."""
    fix = "install Python 3.10 or newer"
    python = Finding("Python", platform.python_version(), sys.version_info >= (3, 10), fix, essential=True)
    processor = Finding("processor", f"{platform.machine()}, {os.cpu_count()} cores")
    return [python, *distributions(("torch", "numpy")), processor, _gpu()]


#: Every check of `doctor`; another package appends its own.
CHECKS: list[Callable[[], list[Finding]]] = [core]


def distributions(names: Iterable[str], extra: str = "") -> list[Finding]:
    """Look for distributions, such as "torch", which the library needs or an extra installs."""
    fix = f"pip install 'rankedu[{extra}]'" if extra else "pip install 'rankedu'"
    found = []
    for name in names:
        try:
            found.append(Finding(name, importlib.metadata.version(name), True, fix, not extra))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, "missing", False, fix, not extra))
    return found


def _gpu() -> Finding:
    if not importlib.util.find_spec("torch"):
        return Finding("GPU", "unknown without torch", False, "pip install rankedu")
    import torch

    if torch.cuda.is_available():
        return Finding("GPU", f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")
    return Finding("GPU", "none; everything runs without one")


def table(findings: list[Finding]) -> str:
    """Write the report, one line per finding, with the remedies at the end."""
    width = max(len(finding.subject) for finding in findings)
    lines = [f"{'✓' if f.ok else '✗'} {f.subject:<{width}}  {f.found}" for f in findings]
    fixes = dict.fromkeys(f"  {f.subject}: {f.fix}" for f in findings if not f.ok)
    return "\n".join([*lines, "", "Nothing is missing." if not fixes else "To fix:", *fixes])


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Report what this machine has, and how to install the rest.

    The report has versions, the processor, the GPU, fonts and the browser.
    """
    findings = [finding for check in CHECKS for finding in check()]
    print(json.dumps([vars(finding) for finding in findings], indent=1) if as_json else table(findings))
    raise typer.Exit(code=int(any(finding.essential and not finding.ok for finding in findings)))

"""What a run was made with, so that its numbers can be traced and compared."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["git_revision", "versions"]


def versions() -> dict[str, str]:
    """Versions of Python, of the package, and of the libraries that decide about a result."""
    from rankedu import __version__

    libraries = {library: importlib.metadata.version(library) for library in ("torch", "numpy", "papermill")}
    return {"python": platform.python_version(), "rankedu": __version__, **libraries}


def git_revision(folder: Path) -> dict[str, Any] | None:
    """The commit of the checkout that holds a folder, and whether files differ from it; None without one."""
    revision = _git(folder, "rev-parse", "HEAD")
    if revision is None:
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"revision": revision, "modified": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

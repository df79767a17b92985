"""What the book and the labs need of a machine, for the command `doctor`."""

import os
import shutil
import time
import timeit
from importlib.util import find_spec

from rankedu.cli.doctor import Finding, distributions

#: Extra → distributions that it brings.
_EXTRAS = {
    "lab": (
        *("scipy", "sympy", "matplotlib", "pillow", "anywidget", "ipywidgets", "jupyterlab", "jupyterlab-myst"),
        *("jupytext", "torchvision", "papermill", "distributed", "myst-nb"),
    ),
    "book": ("sphinx", "sphinx-book-theme"),
    "test": ("nbval", "pytest", "hypothesis", "playwright"),
}
#: Some work in plain Python, and its seconds on the machine on which the commands below were measured.
_LOOP, _LOOP_SECONDS = "sum(number * number % 7 for number in range(2_000_000))", 0.10
#: Command → seconds on the clock there, installation apart, times its two cores; and the cores that it uses at most.
_COMMANDS = {"make book": (250, None), "make test": (1200, 2)}
#: Bytes that an environment with every extra takes.
_ENVIRONMENT = 2_500_000_000


def findings() -> list[Finding]:
    """Look at the extras and at what they need; imports matplotlib if it is there."""
    extras = [finding for extra, names in _EXTRAS.items() for finding in distributions(names, extra)]
    return [*extras, _disk(), _fonts(), _kernel(), _browser(), *_times()]


def _disk() -> Finding:
    free = shutil.disk_usage(".").free
    found = f"{free / 1e9:.1f} GB free here; all extras take {_ENVIRONMENT / 1e9:.1f} GB"
    return Finding("disk", found, free > _ENVIRONMENT, "free some space, or clone to another disk")


def _fonts() -> Finding:
    if not find_spec("matplotlib"):
        return Finding("fonts", "unknown without matplotlib", False, "pip install 'rankedu[lab]'")
    from matplotlib import font_manager

    faces = {entry.fname for entry in font_manager.fontManager.ttflist if entry.name.startswith("DejaVu")}
    return Finding("fonts", f"{len(faces)} DejaVu faces", bool(faces), "pip install --force-reinstall matplotlib")


def _kernel() -> Finding:
    fix = "python -m ipykernel install --sys-prefix --name python3"
    if not find_spec("jupyter_client"):
        return Finding("notebook kernel", "missing", False, "pip install 'rankedu[lab]'")
    from jupyter_client.kernelspec import KernelSpecManager

    found = "python3" in KernelSpecManager().find_kernel_specs()
    return Finding("notebook kernel", "python3" if found else "missing", found, fix)


def _browser() -> Finding:
    found = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome")), None)
    fix = "install Chromium, e.g. apt-get install chromium; only the browser tests need it"
    return Finding("browser", found or "missing", found is not None, fix)


def _times() -> list[Finding]:
    """How long the commands take here, by how fast plain Python is here."""
    seconds = timeit.repeat(_LOOP, timer=time.process_time, number=1, repeat=3)
    pace, cores = min(seconds) / _LOOP_SECONDS, os.cpu_count() or 1
    return [
        Finding(command, f"about {max(1, round(work * pace / min(cores, most or cores) / 60))} min once installed")
        for command, (work, most) in _COMMANDS.items()
    ]

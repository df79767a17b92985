"""Checks of a machine for the book and the labs, for the command `doctor`."""

import shutil
from importlib.util import find_spec

from rankedu.cli.doctor import Finding, distributions

#: Extra → distributions that it brings.
_EXTRAS = {
    "lab": (
        *("scipy", "sympy", "matplotlib", "pillow", "anywidget", "ipywidgets", "jupyterlab"),
        *("jupytext", "torchvision", "papermill", "distributed", "myst-nb"),
    ),
    "book": ("sphinx", "sphinx-book-theme"),
    "test": ("nbval", "pytest", "hypothesis", "playwright"),
}
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def findings() -> list[Finding]:
    """Check the extras and their needs."""
    extras = [finding for extra, names in _EXTRAS.items() for finding in distributions(names, extra)]
    return [*extras, _kernel(), _browser()]


def _kernel() -> Finding:
    fix = "python -m ipykernel install --sys-prefix --name python3"
    if not find_spec("jupyter_client"):
        return Finding("notebook kernel", "missing", False, "pip install 'rankedu[lab]'")
    from jupyter_client.kernelspec import KernelSpecManager

    found = "python3" in KernelSpecManager().find_kernel_specs()
    return Finding("notebook kernel", "python3" if found else "missing", found, fix)


def _browser() -> Finding:
    found = next(filter(shutil.which, _BROWSERS), None)
    fix = "install Chromium, for example by apt-get install chromium; only the browser tests need it"
    return Finding("browser", found or "missing", found is not None, fix)

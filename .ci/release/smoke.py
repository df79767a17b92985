"""Run by the Python of an environment that holds the wheel alone: does the library work with torch and NumPy?

Prints what it has tried; leaves with 1 at the first thing that is not as it should be.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Parts whose docstrings must run here. What asks for an extra in one must say which.
CORE = ("ranks", "blackbox", "solvers", "rankers", "hierarchy", "metrics", "losses", "memory", "landscapes")
#: Brought by the extras alone.
ABSENT = ("scipy", "matplotlib", "typer", "papermill", "dask", "pytorch_metric_learning", "torchvision", "PIL")
NAMES_THE_EXTRA = re.compile(r"pip install (-U )?'rankedu\[(lab|vision)\]'")


def main() -> None:
    """Try all."""
    import rankedu

    home = Path(rankedu.__file__).resolve().parent
    assert home.is_relative_to(Path(sys.prefix).resolve()), f"rankedu is imported from {home}, not from the wheel"
    assert rankedu.__version__ == importlib.metadata.version("rankedu")
    assert (home / "py.typed").is_file(), "type checkers would not see the annotations"
    there = [name for name in ABSENT if importlib.util.find_spec(name)]
    assert not there, f"this environment is not clean: it has {', '.join(there)}"
    print(f"README: {readme()} examples of the library run")
    print("doctests: {} examples in {} docstrings run; {} docstrings ask for an extra, by name".format(*doctests()))
    print(f"extras: {extras()} features that need one say which")


def readme() -> int:
    """Run the Python blocks of the README one after another, with embeddings and labels at hand."""
    import torch

    text = str(importlib.metadata.metadata("rankedu").get_payload())
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(64, 8, generator=generator).requires_grad_()
    names: dict[str, Any] = {"embeddings": embeddings, "labels": torch.arange(64) // 4}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert blocks and str(names["ranks"].detach()) in text and str(names["scores"].grad) in text, "not what it says"
    assert embeddings.grad is not None and embeddings.grad.any(), "the loss of the README moves nothing"
    return len(blocks)


def doctests() -> tuple[int, int, int]:
    """Run the examples of the core: how many, in how many docstrings, and how many of these ask for an extra."""
    finder, runner = doctest.DocTestFinder(), Patient()
    for part in CORE:
        module = importlib.import_module(f"rankedu.{part}")
        inside = [f"rankedu.{part}.{one.name}" for one in pkgutil.iter_modules(getattr(module, "__path__", []))]
        for name in [f"rankedu.{part}", *inside]:
            for test in finder.find(importlib.import_module(name), name):
                runner.run(test)
    assert not runner.wrong, f"the examples of {len(runner.wrong)} docstrings fail: {sorted(runner.wrong)}"
    ran = {name: count for name, count in runner.tried.items() if count and name not in runner.asked}
    assert len(ran) > 50, "hardly any example was found"
    return sum(ran.values()), len(ran), len(runner.asked)


class Patient(doctest.DocTestRunner):
    """Pass over what is left of a docstring once it has asked for an extra."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.FAIL_FAST)
        self.tried: dict[str, int] = {}
        self.asked: set[str] = set()
        self.wrong: set[str] = set()

    def run(self, test: doctest.DocTest, *args: Any, **options: Any) -> Any:
        self.tried[test.name] = len(test.examples)
        return super().run(test, *args, **options)

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        if NAMES_THE_EXTRA.search(str(exc_info[1])):
            self.asked.add(test.name)
        else:
            self.wrong.add(test.name)
            super().report_unexpected_exception(out, test, example, exc_info)

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.wrong.add(test.name)
        super().report_failure(out, test, example, got)


def extras() -> int:
    """Ask for what is not there."""
    import torch

    import rankedu

    def command() -> None:
        done = subprocess.run([Path(sys.executable).with_name("rankedu"), "--help"], capture_output=True, text=True)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        raise ModuleNotFoundError(done.stderr)

    asks: dict[str, Callable[[], Any]] = {
        "assignment": lambda: rankedu.solvers.assignment(torch.rand(2, 2)),
        "the command line": command,
    }
    for name, ask in asks.items():
        said = answer(ask)
        assert NAMES_THE_EXTRA.search(said), f"{name} says {said!r}, which names no extra"
    return len(asks)


def answer(ask: Callable[[], Any]) -> str:
    """What is said of a missing import; nothing if it works."""
    try:
        ask()
    except ImportError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main()

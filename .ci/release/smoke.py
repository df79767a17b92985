"""Run by the Python of an environment that holds the wheel alone: does the library work with torch and NumPy?

Prints what it has tried; leaves with 1 at the first thing that is not as it should be.
"""

import doctest
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Parts whose docstrings must run here. What asks for an extra in one must say which.
CORE = ("ranks", "blackbox", "rankers", "hierarchy", "metrics", "losses", "memory")
#: Brought by the extras alone.
ABSENT = ("scipy", "matplotlib", "typer", "papermill", "dask", "pytorch_metric_learning", "torchvision", "PIL")
NAMES_THE_EXTRA = re.compile(r"pip install (-U )?'rankedu\[(cli|lab|vision)\]'")


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
    """Run the Python blocks of the README one after another."""
    text = str(importlib.metadata.metadata("rankedu").get_payload())
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    gradient = names["embeddings"].grad
    assert gradient is not None and gradient.any(), "the loss of the README moves nothing"
    return len(blocks)


def doctests() -> tuple[int, int, int]:
    """Run the examples of the core: how many, in how many docstrings, and how many of these ask for an extra."""
    finder, runner = doctest.DocTestFinder(), doctest.DebugRunner(verbose=False)
    ran, asked = [], 0
    for part in CORE:
        module = importlib.import_module(f"rankedu.{part}")
        inside = [f"rankedu.{part}.{one.name}" for one in pkgutil.iter_modules(getattr(module, "__path__", []))]
        for name in [f"rankedu.{part}", *inside]:
            for test in filter(lambda test: test.examples, finder.find(importlib.import_module(name), name)):
                try:
                    runner.run(test)
                    ran.append(len(test.examples))
                except doctest.UnexpectedException as error:
                    if not NAMES_THE_EXTRA.search(str(error.exc_info[1])):
                        raise
                    asked += 1
    assert len(ran) > 50, "hardly any example was found"
    return sum(ran), len(ran), asked


def extras() -> int:
    """Ask for what is not there: a proof that needs SymPy, and the command line."""
    from rankedu.proofs import recall_weights

    told = [subprocess.run([Path(sys.executable).with_name("rankedu")], capture_output=True, text=True).stderr]
    try:
        recall_weights.closed_form("log")
    except ImportError as error:
        told.append(str(error))
    assert len(told) == 2 and not any("Traceback" in said for said in told), told
    assert all(NAMES_THE_EXTRA.search(said) for said in told), f"no extra is named in {told}"
    return len(told)


if __name__ == "__main__":
    main()

"""Run the tests of what changed since `main`: the examples of modules, and the tests that import one, if indirectly.

What looks at the whole book, in `tests/book/site` and in a browser, is left to `make test`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from rankedu_lab.runs.code import CHECKOUT, PACKAGES, closure

TESTS = CHECKOUT / "tests"
WHOLE_BOOK = {TESTS / "book" / "site", TESTS / "book" / "browser"}
EXAMPLES = {CHECKOUT / "rankedu", CHECKOUT / "lab", CHECKOUT / "book" / "rankedu_book"}
CONFTESTS = set(TESTS.rglob("conftest.py"))


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()


def changed() -> set[Path]:
    """Files that differ from where this branch left `main`; on `main`, from the commit before the last one."""
    [head], [base] = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "main")
    names = git("diff", "--name-only", "HEAD~1" if base == head else base)
    return {CHECKOUT / name for name in names + git("ls-files", "--others", "--exclude-standard")}


def to_run(changes: set[Path]) -> list[Path]:
    """Modules with examples, and files of tests: those of a folder whose `conftest.py` changed, too."""
    helpers = {path.stem: path.parent for path in TESTS.rglob("*.py") if path.parent not in WHOLE_BOOK}
    PACKAGES.update(helpers, tools=CHECKOUT / "book")
    found = {path for path in changes if path.suffix == ".py" and path.exists() and EXAMPLES & set(path.parents)}
    for path in TESTS.rglob("test_*.py"):
        around = {folder / "conftest.py" for folder in path.parents} & CONFTESTS
        if closure(path, *around) & changes and not WHOLE_BOOK & set(path.parents):
            found.add(path)
    return sorted(found)


if __name__ == "__main__":
    files = [str(path.relative_to(CHECKOUT)) for path in to_run(changed())]
    print("\n".join(files) or "No tests hang on what changed.", flush=True)
    status = pytest.main(["-q", *files]) if files else pytest.ExitCode.OK
    sys.exit(0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status)

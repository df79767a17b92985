"""Run the tests of what changed since `main`: the examples of modules, and the tests that import one of these by name.

Tests that look at the whole book, in `tests/book/site` and in a browser, and tests that reach a changed module only
through others are left to `make test`.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.closure import PACKAGES, ROOT, imported

TESTS = ROOT / "tests"
WHOLE_BOOK = {TESTS / "book" / "site", TESTS / "book" / "browser"}
EXAMPLES = {ROOT / "rankedu", ROOT / "lab", ROOT / "book" / "rankedu_book"}


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def changed() -> set[Path]:
    """Files that differ from where this branch left `main`; on `main`, from the commit before the last one."""
    [head], [base] = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "main")
    names = git("diff", "--name-only", "HEAD~1" if base == head else base)
    return {ROOT / name for name in names + git("ls-files", "--others", "--exclude-standard")}


def depends_on(test: Path) -> set[Path]:
    """A file of tests, the fixtures and helpers that it uses, and the modules from which these import a name."""
    around = (folder / "conftest.py" for folder in test.parents if folder.is_relative_to(TESTS))
    own = {test, *filter(Path.exists, around)}
    for _ in range(2):
        own |= {near for path in own for near in imported(path) if TESTS in near.parents}
    return own.union(*map(imported, own))


def to_run(changes: set[Path]) -> list[Path]:
    """Modules with examples, and files of tests."""
    PACKAGES.update({path.stem: path.parent for path in TESTS.rglob("*.py") if path.parent not in WHOLE_BOOK})
    found = {path for path in changes if path.suffix == ".py" and path.exists() and EXAMPLES & set(path.parents)}
    tests = (path for path in TESTS.rglob("test_*.py") if not WHOLE_BOOK & set(path.parents))
    return sorted(found.union(path for path in tests if depends_on(path) & changes))


if __name__ == "__main__":
    files = [str(path.relative_to(ROOT)) for path in to_run(changed())]
    print("\n".join(files) or "No test depends on what changed.", flush=True)
    workers = ["-n", "2", "--dist", "loadscope"] if len(files) > 4 else []
    status = pytest.main(["-q", *workers, *files]) if files else pytest.ExitCode.OK
    sys.exit(0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status)

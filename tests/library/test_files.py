"""A file is complete or not there."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product

import pytest

from rankedu.files import written

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, and limits of the size of files")


@pytest.fixture
def path(tmp_path):
    """Of a file that there is, and after the test nothing beside it."""
    (tmp_path / "file.txt").write_text("old")
    yield tmp_path / "file.txt"
    assert [other.name for other in tmp_path.iterdir()] == ["file.txt"]


@contextmanager
def full_disk():
    """No file may be longer than 1,000 bytes."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_the_new_file_takes_the_place_of_the_old_one_at_the_end_with_the_mode_of_the_umask(path):
    for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        path.write_text("old")
        before = os.umask(mask)
        try:
            with written(path) as part:
                part.write_text("new")
                assert path.read_text() == "old" and part.parent == path.parent
        finally:
            os.umask(before)
        assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == mode


def test_what_fails_leaves_the_old_file_and_nothing_else(path):
    def fail(part, error, begun):
        if begun:
            part.write_text("ne")
        raise error("in between")

    for error, begun in product([ValueError, KeyboardInterrupt, OSError], [True, False]):
        with pytest.raises(error, match="in between"), written(path) as part:
            fail(part, error, begun)
    with pytest.raises(FileNotFoundError), written(path):
        pass  # it was never written
    with pytest.raises(OSError, match="too large"), full_disk(), written(path) as part:
        part.write_bytes(b"1" * 2000)
    with pytest.raises(OSError, match=r"file\.txt"), written(path / "file"):
        pytest.fail("there is no place to write to")
    assert path.read_text() == "old"


def test_folders_are_made_and_writers_at_once_do_not_mix(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    with written(path) as first, written(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # it was closed last

    def write(number):
        with written(path) as part:
            part.write_text(str(number) * 10_000)
        return len(path.read_text()), len(set(path.read_text()))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(write, [1, 2, 3, 4] * 10)) == {(10_000, 1)}
    assert [other.name for other in path.parent.iterdir()] == ["file"]

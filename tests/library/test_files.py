"""A file is complete or not there."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from rankedu.files import written


@pytest.fixture
def path(tmp_path):
    """Of a file that there is."""
    (tmp_path / "file.txt").write_text("old")
    return tmp_path / "file.txt"


def alone(path):
    return [other.name for other in path.parent.iterdir()] == [path.name]


def test_the_new_file_takes_the_place_of_the_old_one_at_the_end(path):
    with written(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.parent == path.parent
    assert path.read_text() == "new"
    assert alone(path)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("begun", [True, False])
def test_what_fails_leaves_the_old_file_and_nothing_else(path, error, begun):
    def fail(part):
        if begun:
            part.write_text("ne")
        raise error("in between")

    with pytest.raises(error, match="in between"), written(path) as part:
        fail(part)
    assert path.read_text() == "old"
    assert alone(path)


def test_a_file_that_was_never_written_is_missed(path):
    with pytest.raises(FileNotFoundError), written(path):
        pass
    assert path.read_text() == "old"


def test_folders_are_made(tmp_path):
    with written(tmp_path / "a" / "b" / "file") as part:
        part.write_bytes(b"new")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"new"


def test_a_folder_that_is_a_file_is_named(path):
    with pytest.raises(OSError, match=r"file\.txt"), written(path / "file"):
        pytest.fail("there is no place to write to")


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_others_may_read_it_as_the_umask_says(path, mask, mode):
    before = os.umask(mask)
    try:
        with written(path) as part:
            part.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_writers_at_once_do_not_mix(path):
    with written(path) as first, written(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # it was closed last
    assert alone(path)

    def write(number):
        with written(path) as part:
            part.write_text(str(number) * 10_000)
        return len(path.read_text()), len(set(path.read_text()))

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(write, [1, 2, 3, 4] * 10)) == {(10_000, 1)}
    assert alone(path)


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_full_disk_leaves_the_old_file(path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"), written(path) as part:
            part.write_bytes(b"1" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert alone(path)

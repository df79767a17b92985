"""A file is complete or absent; labels are read as they are written, and a doubt is never decided in silence."""

import os
import re
import stat
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest

from rankedu.files import number_labels, read_labels, spellings, written

posix = pytest.mark.skipif(os.name != "posix", reason="modes, and limits of the size of files")


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


@posix
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


@posix
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
    with pytest.raises(OSError, match=r"too large: .*/file\.txt'$"), full_disk(), written(path) as part:
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


def found(path, content, n=None, **settings):
    """Labels as one number per item, the head, and all that was said."""
    if isinstance(content, np.ndarray):
        np.save(path, content)
    else:
        path.write_text(content, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels, names = read_labels(path, n, **settings)
        return number_labels([labels])[0][:, -1].tolist(), names, [str(warning.message) for warning in caught]


def same(numbers, values):
    """Whether two items have one number just if they have one value."""
    return len({*zip(numbers, values, strict=True)}) == len({*numbers}) == len({*values})


def test_integers_of_all_sizes_are_classes_and_only_minus_one_is_no_label(tmp_path):
    generator = np.random.default_rng(0)
    for _ in range(20):
        values = generator.integers(2**63 - 5, 2**64 - 1, 5, dtype=np.uint64, endpoint=True)
        values = np.append(values, np.uint64(2**64 - 1))[generator.integers(0, 6, 30)]
        numbers = found(tmp_path / "y.npy", values)[0]
        assert same(numbers, values.tolist()) and min(numbers) >= 0
        assert same(found(tmp_path / "y.csv", "\n".join(map(str, values)), 30)[0], values.tolist())
    ours, theirs = number_labels([np.array([[2**64 - 1], [3]], dtype=np.uint64), np.array([[-1], [3]])])
    assert ours[0] != theirs[0] == -1 and ours[1] == theirs[1] >= 0


def test_bytes_are_text_and_python_objects_come_with_the_line_that_converts_them(tmp_path):
    words = ["Löwe", "Bär", "Löwe", "Maus"]
    path = tmp_path / "y.npy"
    assert same(found(path, np.array([word.encode() for word in words]))[0], words)
    with pytest.raises(ValueError, match="must be text in UTF-8, got bytes"):
        found(path, np.array([word.encode("latin-1") for word in words]))
    with pytest.raises(ValueError, match="no objects") as error:
        found(path, np.array(words, dtype=object))
    exec(re.search(r"if you trust the file: (.*)\)$", str(error.value))[1], {"numpy": np})
    assert same(number_labels([read_labels(path)[0]])[0][:, 0].tolist(), words)


#: What is said of a .csv of four items.
REFUSED = {
    "a\nb\n\na\nb": "line 3: it is empty",
    "\na\nb\na\nb": "line 1: it is empty",
    "x,a\nx,b\n,\ny,c": "row 3: labels must not be empty (write -1",
    'a\n"b\na\nb': "line 2: ",
    "a,b\na,c\na\nb,d": "line 3: lines must have 2 cells as the first, got 1: 'a'",
    "label\na\na\nb": "must have 4 rows below the head, one for each item, got 3",
    "shape,colour\na,x\na,x\nb,y": "must have 4 rows below the head, one for each item, got 3",
    "0,a\n1,b\n2,a\n3,b": "the first column numbers the rows: leave it out (--columns 2)",
    "row,label\n3,a\n1,b\n2,a\n4,b": "the first column numbers the rows: leave it out (--columns 2)",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_lost_row_an_empty_label_and_a_number_of_the_row_are_no_classes(tmp_path, text):
    with pytest.raises(ValueError, match=re.escape(REFUSED[text])):
        found(tmp_path / "y.csv", text, 4)
    whole = [line for line in text.splitlines() if line.strip(",")]
    if "got 3" in REFUSED[text]:  # with the lost row the first one is the head
        assert found(tmp_path / "y.csv", "\n".join([*whole, whole[1]]), 4)[1] == whole[0].split(",")


def test_the_index_of_a_pandas_table_is_left_out_and_so_are_the_commas(tmp_path):
    for index in (range(4), (9, 2, 30, 7)):
        text = "\n".join([",label", *(f"{row},{word}" for row, word in zip(index, "abab", strict=True))])
        numbers, names, said = found(tmp_path / "y.csv", text, 4)
        assert same(numbers, "abab") and names == ["label"] and "the first column numbers the rows" in said[0]
        numbers, names, said = found(tmp_path / "y.csv", text.replace(",", ";"), 4)
        assert same(numbers, "abab") and names == ["label"] and "separated by ';'" in said[0]
    assert same(found(tmp_path / "y.csv", "index\n3\n1\n2\n0", 4)[0], "abcd")  # a single column is never left out


def test_spellings_of_one_class_are_said_within_a_file_and_refused_between_two(tmp_path):
    for one, other in (("1", "01"), ("1", "1.0"), ("cat", "CAT"), ("é", "e\u0301"), ("a b", "a  b"), ("x", "x\u200b")):
        for words in (["dog", one, other, "dog"], [other, one, one, other]):
            numbers, _, said = found(tmp_path / "y.csv", "\n".join(words), 4)
            assert same(numbers, words) and any("differ only in spelling" in line for line in said), words
            assert any("differ only in spelling" in line for line in found(tmp_path / "y.npy", np.array(words))[2])
        with pytest.raises(ValueError, match="labels must be written as in"):
            number_labels([np.array([[one], ["dog"]]), np.array([[other], ["dog"]])])
    assert not spellings(["1", "10", "-1", "cat", "cats", "a1", "", "1.5", "１0x"])
    assert "'nan' is the name of a class" in " ".join(found(tmp_path / "y.csv", "a\na\nnan\nnan", 4)[2])

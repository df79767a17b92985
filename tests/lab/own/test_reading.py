"""Reading of folders, tables and pictures: nothing is lost, doubled or changed without a note."""

import io
import re
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from rankedu_lab.datasets.transforms import normalise
from rankedu_lab.experiments import own
from rankedu_lab.experiments.own import pictures


def noise(seed, shape=(20, 24, 3)):
    return np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8)


def fill(folder, *classes, each=3, make=noise, ending="png", **settings):
    """Pictures of their own in every class."""
    for at, name in enumerate(classes):
        for item in range(each):
            path = folder / name / f"{item}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            made = make(zlib.crc32(f"{folder} {name} {at} {item}".encode()))
            (made if isinstance(made, Image.Image) else Image.fromarray(made)).save(path, **settings)


def read(source, **settings):
    return own.read(source, size=16, progress=False, **settings)


def classes(read, part=None):
    return {row.names[-1] for row in read.rows if part in (None, row.part)}


def refused(source, message, **settings):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(source, **settings)


@pytest.mark.parametrize("sides", [("train", "valid", "test"), ("Train", "validation"), ("train2017", "val2017")])
@pytest.mark.parametrize("above", ["", "photos/"])
def test_folders_named_as_a_split_are_one_and_never_classes(tmp_path, sides, above):
    for side in sides:
        fill(tmp_path / "own", *(f"{above}{side}/{side}{name}" for name in "ab"))
        fill(tmp_path / "same", *(f"{above}{side}/{name}" for name in "abcd"))
    found = read(tmp_path / "same", draw_split=True)
    assert found.levels == ("class",) and classes(found) == {*"abcd"} and "drawn by seed" in found.split
    refused(tmp_path / "same", "--draw-split")
    found = read(tmp_path / "own")
    assert found.levels == ("class",) and classes(found, "train") == {f"{sides[0]}a", f"{sides[0]}b"}
    assert any(f"{sides[-1]} is test" in note for note in found.notes) and found.split == "as given"
    fill(tmp_path / "own", f"{above}extra/more")
    refused(tmp_path / "own", "beside extra")


def test_a_side_alone_is_no_split_and_a_train_may_be_a_class_of_vehicles(tmp_path):
    fill(tmp_path / "one", *(f"train/{name}" for name in "abcd"))
    assert classes(read(tmp_path / "one")) == {*"abcd"}
    fill(tmp_path / "two", "bus", "car", "ship", "train", "train 1", "train 2")
    assert classes(read(tmp_path / "two")) == {"bus", "car", "ship", "train", "train 1", "train 2"}
    fill(tmp_path / "four", *(f"engine/train {at}" for at in range(4)))
    assert len(classes(read(tmp_path / "four"))) == 4
    fill(tmp_path / "two", "wings/train", "wings/test")
    refused(tmp_path / "two", "all equally deep")


def test_a_column_of_a_split_is_one_whatever_its_words_and_never_a_label(tmp_path):
    fill(tmp_path, *"abcd")
    word = {"a": "Train", "b": "Train", "c": "validation", "d": "validation"}
    lines = [f"{name}/{item}.png,{name},{word[name]}" for name in "abcd" for item in range(3)]
    (tmp_path / "t.CSV").write_text("\n".join(["Path,Label,Split", *lines]))
    found = read(tmp_path / "t.CSV")
    assert classes(found, "test") == {"c", "d"} and "validation is test" in " ".join(found.notes)
    (tmp_path / "t.CSV").write_text("\n".join(["path,label,subset", *lines]))
    refused(tmp_path / "t.CSV", "'subset' holds a split")


def test_links_are_followed_but_not_in_circles_and_dead_ones_are_named(tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    fill(mine, *"abcd")
    fill(other, "e")
    (mine / "e").symlink_to(other / "e")
    (mine / "a" / "3.png").symlink_to(other / "e" / "0.png")
    (mine / "b" / "up").symlink_to(mine)
    found = read(mine)
    assert classes(found) == {*"abcde"} and len(found.rows) == 16
    assert "b/up is a link to a folder that it is in" in found.notes[0]
    assert "a/3.png (a, " in found.notes[-1] and "are the same in several classes" in found.notes[-1]
    (mine / "a" / "dead").symlink_to(tmp_path / "nowhere")
    refused(mine, "dead is a link that leads nowhere")
    (mine / "a" / "dead").rename(mine / "a" / "dead.png")
    refused(mine, "dead.png (it is not there)")


def test_every_format_of_pillow_is_used_whatever_its_ending(tmp_path):
    kinds = {"avif": "AVIF", "jfif": "JPEG", "WEBP": "WEBP", "jp2": "JPEG2000", "jpg_large": "PNG", "pgm": "PPM"}
    for ending, kind in kinds.items():
        fill(tmp_path, ending, ending=ending, format=kind)
    assert classes(read(tmp_path)) == {*kinds}


def test_a_class_that_would_be_lost_whole_is_an_error_and_other_files_are_noted(tmp_path):
    fill(tmp_path, *"abcdf")
    (tmp_path / "a" / "notes.txt").write_text("P1 is no picture")
    assert read(tmp_path).notes == ["1 other files are passed over: a/notes.txt"]
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "0.heic").write_bytes(b"\0\0\0\x18ftypheic")
    refused(tmp_path, "no picture in 1 folders that this Pillow can read: e (such as 0.heic)")
    assert classes(read(tmp_path, skip_unreadable=True)) == {*"abcdf"}
    for path in (tmp_path / "b").iterdir():
        path.write_bytes(b"")
    assert "classes that are left out with them: b" in read(tmp_path, skip_unreadable=True).notes


def clear(seed):
    """Black, with a shape in the transparency only, and noise where nothing is to be seen."""
    picture = noise(seed, (20, 24, 4))
    picture[..., 3] = 0
    picture[4:9, seed % 10 :] = (0, 0, 0, 255)
    return picture


def palette(seed):
    return Image.fromarray(clear(seed)).quantize(16)


def grey(seed):
    picture = Image.fromarray(clear(seed))
    return Image.merge("LA", (picture.getchannel(0), picture.getchannel(3)))


@pytest.mark.parametrize("make", [clear, palette, grey])
def test_transparency_is_white_and_its_shape_is_seen(tmp_path, make):
    fill(tmp_path, *"abcd", make=make)
    found = read(tmp_path)
    assert "12 of 12 pictures are transparent in places, and were composed on white" in found.notes[0]
    for row in found.rows:
        seen = np.asarray(pictures.opened(tmp_path / row.file)[0]).astype(int)
        assert (seen[:4] > 240).all() and (seen[4:9, -5:] < 15).all() and (seen[9:] > 240).all()
    white = np.full((20, 24, 4), 255, dtype=np.uint8)
    white[:10, :, 3] = 0
    Image.fromarray(white).save(tmp_path / "a" / "0.png")
    refused(tmp_path, "0.png (it is of one colour when composed on white")


@pytest.mark.parametrize(("kind", "ending", "white"), [("u2", "png", 65535), ("i4", "tif", 65535), ("f4", "tif", 1)])
def test_deep_pictures_are_scaled_and_those_that_would_come_out_black_are_refused(tmp_path, kind, ending, white):
    def make(seed, most=1.0):
        return (np.random.default_rng(seed).random((20, 24)) * most * white).astype(kind)

    fill(tmp_path, *"abcd", make=make, ending=ending)
    found = read(tmp_path)
    assert "12 of 12 pictures have more than 8 bits per colour" in found.notes[0] and found.pixels.float().std() > 20
    for most in (1 / 20, 1 / 300, 1e-6, 3.0 if kind in ("i4", "f4") else 1 / 17):
        Image.fromarray(make(0, most)).save(tmp_path / "a" / f"0.{ending}")
        refused(tmp_path, f"1 of 12 pictures cannot be read: {tmp_path}/a/0.{ending} (it")


@pytest.mark.filterwarnings("ignore")  # Pillow's, of damaged metadata
def test_an_orientation_is_followed_unless_as_stored_and_damaged_metadata_is_no_damaged_picture(tmp_path):
    generator, upright = np.random.default_rng(0), Image.fromarray(noise(1))
    fill(tmp_path, *"abcd")
    for kind in ("PNG", "WEBP", "JPEG", "TIFF"):
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            best = {"JPEG": {"quality": 100}, "WEBP": {"lossless": True}}.get(kind, {})
            upright.save(packed := io.BytesIO(), kind, exif=exif, **best)
            with Image.open(packed) as image:
                expected = np.asarray(ImageOps.exif_transpose(image), dtype=int)
            seen, remarks = pictures.opened(packed)
            assert np.array_equal(np.asarray(seen), expected) and remarks == ({"turned"} if orientation > 1 else set())
            stored, remarks = pictures.opened(packed, as_stored=True)
            assert stored.size == upright.size or kind == "TIFF"  # which Pillow turns
            assert remarks == (set() if orientation == 1 else {"turned" if kind == "TIFF" else "as stored"})
    for _ in range(100):
        damaged = bytearray(exif.tobytes())
        damaged[generator.integers(6, len(damaged))] = generator.integers(256)
        upright.save(packed := io.BytesIO(), "PNG", exif=bytes(damaged))
        pictures.opened(packed)
    upright.save(tmp_path / "a" / "0.png", exif=exif)
    turned, stored = read(tmp_path), read(tmp_path, as_stored=True)
    assert "1 of 12 pictures were turned upright" in turned.notes[0] and "which was ignored" in stored.notes[0]
    assert turned.digest != stored.digest


def test_pictures_that_are_the_same_or_plain_or_move_are_noted(tmp_path):
    fill(tmp_path, *"abcd")
    image = Image.open(tmp_path / "a" / "0.png")
    image.save(tmp_path / "b" / "other.bmp")  # other bytes, the same picture
    image.save(tmp_path / "a" / "again.png")
    Image.new("RGB", (9, 9), "red").save(tmp_path / "c" / "plain.png")
    image.save(tmp_path / "d" / "moves.gif", save_all=True, append_images=[Image.fromarray(noise(5))])
    said = " | ".join(read(tmp_path).notes)
    assert re.search(
        r"1 pictures are the same in several classes: a/0.png \(a, t\w+\) and b/other.bmp \(b, t\w+\)", said
    )
    assert "1 of 16 pictures have several frames, of which only the first was used: d/moves.gif" in said
    assert "1 of 16 pictures are of one colour throughout: c/plain.png" in said
    (tmp_path / "b" / "other.bmp").unlink()
    assert "1 pictures are in one class more than once: a/0.png" in " ".join(read(tmp_path).notes)
    for path in tmp_path.glob("*/*"):
        Image.new("RGB", (8, 8), "blue").save(path)
    assert "all 15 pictures are alike" in read(tmp_path).notes[-1]


def test_spellings_of_one_class_and_words_for_none_are_noted(tmp_path):
    fill(tmp_path, "1", "01", "cat", "CAT", "nan")
    said = " ".join(read(tmp_path).notes)
    assert "2 pairs of classes differ only in spelling" in said and "'nan' is the name of a class here" in said


#: Errors of the lines of a table with four classes of three pictures, and a change of its lines for each.
LINES = {
    "line 14: path must be given once, got 'a/../a/0.png' of line 2": lambda lines: [*lines, "a/../a/0.png,b"],
    "line 14: path must be given once, got 'a/linked.png' of": lambda lines: [*lines, "a/linked.png,b"],
    "line 4: it is empty": lambda lines: [*lines[:3], "", *lines[3:]],
    "line 5: must have 2 cells, none empty, got 'b/0.png,'": lambda lines: [*lines[:4], "b/0.png,", *lines[5:]],
    "'id' numbers the rows: leave it out": lambda lines: [f"{line},{at or 'id'}" for at, line in enumerate(lines)],
}


def test_a_table_is_read_line_by_line_and_a_picture_counts_once(tmp_path):
    fill(tmp_path, *"abcd")
    (tmp_path / "a" / "linked.png").symlink_to(tmp_path / "a" / "0.png")
    lines = ["path,label", *(f"{name}/{item}.png,{name}" for name in "abcd" for item in range(3))]
    table = tmp_path / "t.csv"
    for message, change in LINES.items():
        table.write_text("\n".join(change([*lines])))
        refused(table, message)
    for mark in ";\t":
        table.write_text("\n".join(line.replace(",", mark) for line in lines))
        found = read(table)
        assert classes(found) == {*"abcd"} and len(found.rows) == 12


def test_a_picture_is_decoded_once_and_views_are_windows_of_it(tmp_path, monkeypatch):
    fill(tmp_path, *"abcd")
    opened = []
    monkeypatch.setattr(pictures, "opened", lambda *a, of=pictures.opened, **b: opened.append(a) or of(*a, **b))
    found = own.read(tmp_path, size=16, progress=False)
    assert len(opened) == 12 and found.pixels.shape == (12, 3, 18, 18) and found.pixels.dtype == torch.uint8
    side, kept = own.OwnPictures(found, "train"), {pixels.numpy().tobytes() for pixels in found.pixels}
    views = {side.load(0, torch.Generator().manual_seed(seed)).numpy().tobytes() for seed in range(200)}
    windows = {
        normalise(side.pixels[side.at[0]][:, top : top + 16, left : left + 16]).numpy().tobytes()
        for top in range(3)
        for left in range(3)
    }
    assert len(opened) == 12 == len(kept) and views == windows
    assert torch.equal(side.load(0), normalise(side.pixels[side.at[0]][:, 1:17, 1:17]))
    assert torch.equal(own.load_picture(tmp_path / side.rows[0].file, size=16), side.load(0))
    Image.fromarray(noise(0, (64, 64, 3))).resize((1600, 1600)).save(packed := io.BytesIO(), "JPEG")
    assert pictures.opened(packed, 37)[0].size == (200, 200), "a large JPEG is decoded at a fraction"


def test_pictures_that_memory_cannot_hold_are_refused_with_a_remedy(tmp_path, monkeypatch):
    fill(tmp_path, *"abcd")
    for share, fits in ((1.2, False), (1.3, True)):
        memory = SimpleNamespace(total=share * 12 * 3 * 18**2)
        monkeypatch.setattr("psutil.virtual_memory", lambda memory=memory: memory)
        read(tmp_path) if fits else refused(tmp_path, "memory must hold 12 pictures")

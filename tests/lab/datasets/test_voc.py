"""Pascal VOC in small trees of the published layout: reading and checking."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.datasets import DETECTION, VOC, check, checking, open_detection
from ranklab.datasets.voc import NAMES, read_annotation

run = CliRunner().invoke

BOX = "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>"
OBJECT = "<object><name>{}</name>{}" + BOX + "</object>"


def annotation(folder, name, *objects):
    """Write an annotation and a picture of 40 × 30 pixels."""
    for part in ("Annotations", "JPEGImages"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    text = f"<annotation><filename>{name}.jpg</filename>{''.join(objects)}</annotation>"
    (folder / "Annotations" / f"{name}.xml").write_text(text, encoding="utf-8")
    Image.new("RGB", (40, 30), "orange").save(folder / "JPEGImages" / f"{name}.jpg")


def write_list(folder, part, names):
    (folder / "ImageSets" / "Main").mkdir(parents=True, exist_ok=True)
    (folder / "ImageSets" / "Main" / f"{part}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def make_voc(root, years=(2007, 2012)):
    """Two pictures for training a year, and one for the test of 2007."""
    for year in years:
        folder = root / "VOCdevkit" / f"VOC{year}"
        names = [f"{year}_1", f"{year}_2"]
        annotation(folder, names[0], OBJECT.format("dog", "<difficult>0</difficult>", 1, 1, 1, 1))
        cat = OBJECT.format("cat", "<difficult>1</difficult>", 3, 4, 10, 20)
        annotation(folder, names[1], cat, OBJECT.format("person", "", 11, 5, 40, 30))
        write_list(folder, "trainval", names)
        write_list(folder, "train", names[:1])
        write_list(folder, "val", names[1:])
    folder = root / "VOCdevkit" / "VOC2007"
    annotation(folder, "000001", OBJECT.format("sofa", "<difficult>0</difficult>", 5, 6, 7, 8))
    write_list(folder, "test", ["000001"])
    return root


# --- reading -------------------------------------------------------------------------------------------------------


def test_the_owner_counts_from_one_and_a_box_holds_its_last_pixel(tmp_path):
    data = VOC("trainval", make_voc(tmp_path))
    image, target = data[0]
    assert image.shape == (3, 30, 40) and image.dtype == torch.uint8 and image.is_contiguous()
    assert target["boxes"].tolist() == [[0, 0, 1, 1]], "one pixel has a width of 1"
    assert [data.names[label - 1] for label in target["labels"].tolist()] == ["dog"]
    image, target = data[-1]
    assert target["boxes"].tolist() == [[2, 3, 10, 20], [10, 4, 40, 30]] and target["boxes"].dtype == torch.float32
    assert target["difficult"].tolist() == [True, False] and target["labels"].dtype == torch.int64
    assert all(torch.equal(data.target(1)[key], target[key]) for key in target)
    assert data.flips and data.names == NAMES and len(NAMES) == 20 and list(NAMES) == sorted(NAMES)


def test_open_detection_opens_07_and_07_12(tmp_path, monkeypatch):
    make_voc(tmp_path)
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path))
    for name, split, count in (("voc07", "train", 2), ("voc07", "test", 1), ("voc0712", "train", 4)):
        data = open_detection(name, split)
        assert len(data) == count == len(list(data))
        assert len(open_detection(name, split, tmp_path, images=1)) == 1
    both = VOC("train", tmp_path, years=(2012, 2007))
    assert repr(both) == "VOC('train' of 2012 and 2007: 2 images)" and len(VOC("val", tmp_path)) == 1


def test_parts_fractions_and_missing_marks(tmp_path):
    """As some annotations of 2011 and 2012 have them."""
    head = "<part><name>head</name>" + BOX.format(3, 3, 4, 4) + "</part>"
    person = "<object><name>person</name>" + head + BOX.format("2.5", "3", "10.75", "20") + "</object>"
    annotation(tmp_path, "p", person)
    found = read_annotation(tmp_path / "Annotations" / "p.xml")
    assert found.names == ["person"] and found.boxes == [(1.5, 2, 10.75, 20)] and found.difficult == [False]


def test_a_picture_without_objects(tmp_path):
    make_voc(tmp_path)
    annotation(tmp_path / "VOCdevkit" / "VOC2007", "2007_1")
    target = VOC("trainval", tmp_path).target(0)
    assert target["boxes"].shape == (0, 4) and target["labels"].shape == target["difficult"].shape == (0,)
    assert target["difficult"].dtype == torch.bool and target["labels"].dtype == torch.int64


def test_bad_settings(tmp_path):
    make_voc(tmp_path)
    for settings, message in (
        ({"split": "validation"}, "split must be one of 'train', 'val', 'trainval', 'test', got 'validation'"),
        ({"split": "test", "years": (2012,)}, r"years must be \(2007,\) for the split 'test', got \(2012,\)"),
        ({"years": ()}, r"got \(\) \(for instance \(2007, 2012\)\)"),
        ({"images": 0}, "images must be >= 1, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            VOC(**{"root": tmp_path, **settings})


def test_what_is_missing_is_named_with_who_publishes_it(tmp_path):
    make_voc(tmp_path)
    for file in (
        *("VOC2007/JPEGImages/2007_1.jpg", "VOC2007/Annotations/2007_1.xml", "VOC2007/ImageSets/Main/trainval.txt"),
        *("VOC2007", ""),
    ):
        path = tmp_path / "VOCdevkit" / file
        path.rename(tmp_path / f"elsewhere{len(file)}")
        with pytest.raises(FileNotFoundError, match=r"is missing .*host\.robots\.ox\.ac\.uk") as error:
            VOC("trainval", tmp_path)[0]
        assert str(path) in str(error.value)


def annotated(*objects):
    return f"<annotation><filename>a.jpg</filename>{''.join(objects)}</annotation>"


WRONG = {
    "cut off": ("<annotation>", "must be an annotation of Pascal VOC: no element found"),
    "no file": ("<annotation></annotation>", "<annotation> has no <filename>"),
    "no name": (annotated(OBJECT.format("", "", 1, 1, 2, 2)), "has no <name>"),
    "no box": (annotated("<object><name>dog</name></object>"), "no <bndbox/xmin>"),
    "no number": (annotated(OBJECT.format("dog", "", 1, 1, "x", 2)), "'x'"),
    "from the right": (annotated(OBJECT.format("dog", "", 5, 1, 4, 2)), "<bndbox> ends before it begins: 5, 1, 4, 2"),
    "from below": (annotated(OBJECT.format("dog", "", 1, 3, 4, 2)), "<bndbox> ends before it begins: 1, 3, 4, 2"),
    "a yeti": (annotated(OBJECT.format("yeti", "", 1, 1, 4, 2)), "a name must be one of the 20 classes, got 'yeti'"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_an_annotation_that_is_not_as_published(tmp_path, text, message):
    make_voc(tmp_path)
    path = tmp_path / "VOCdevkit" / "VOC2007" / "Annotations" / "2007_1.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        VOC("trainval", tmp_path)[0]
    assert str(path) in str(error.value)


def test_a_picture_that_cannot_be_decoded_and_an_index_outside(tmp_path):
    make_voc(tmp_path)
    path = tmp_path / "VOCdevkit" / "VOC2007" / "JPEGImages" / "2007_1.jpg"
    path.write_bytes(b"\xff\xd8 no picture")
    data = VOC("trainval", tmp_path)
    with pytest.raises(ValueError, match=r"2007_1\.jpg cannot be decoded"):
        data[0]
    assert len(data.target(0)["labels"]) == 1
    with pytest.raises(IndexError, match="the 2 images"):
        data[2]


# --- checking ------------------------------------------------------------------------------------------------------


def test_check_counts_what_the_owner_counts(tmp_path):
    report = check("voc", make_voc(tmp_path))
    found = {(count.part, count.what): count.found for count in report.counts}
    for year in (2007, 2012):
        part = f"{year} trainval"
        assert [found[part, what] for what in ("images", "objects", "difficult", "classes")] == [2, 2, 1, 3]
    assert [found["2007 test", what] for what in ("images", "objects", "difficult", "classes")] == [1, 1, 0, 1]
    told = {(part, what) for part, counts in DETECTION["voc"].counts.items() for what in counts}
    assert told <= set(found), "every published count is compared"
    assert not report.problems and not report.ok and "published: 12,608" in str(report)


def test_check_is_content_with_what_is_as_published(tmp_path, monkeypatch):
    counts = {"2007 trainval": {"images": 2, "objects": 2}, "2007 test": {"images": 1}, "2012 trainval": {"images": 2}}
    monkeypatch.setitem(checking.DETECTION, "voc", replace(DETECTION["voc"], counts=counts))
    make_voc(tmp_path, years=(2007,))
    assert check("voc", tmp_path).ok


def test_check_lists_what_is_missing_and_names_what_is_wrong(tmp_path):
    make_voc(tmp_path)
    home = tmp_path / "VOCdevkit"
    (home / "VOC2007" / "JPEGImages" / "2007_2.jpg").unlink()
    [problem] = check("voc", tmp_path).problems
    assert re.search(r"missing pictures of 2007 trainval: 1, .*2007_2\.jpg .*host\.robots", problem)
    (home / "VOC2012" / "Annotations" / "2012_2.xml").write_text("<html>", encoding="utf-8")
    with pytest.raises(ValueError, match=r"2012_2\.xml must be an annotation of Pascal VOC"):
        check("voc", tmp_path)


def test_the_command_line(tmp_path):
    root = ["--data-root", str(make_voc(tmp_path))]
    listed, done = run(app, ["data", "list", *root]), run(app, ["data", "check", "voc", *root])
    assert listed.exit_code == 0 and f"found in {tmp_path / 'VOCdevkit'}" in listed.stdout and "27,450" in listed.stdout
    assert done.exit_code == 1 and "published: 4,952" in done.stdout
    (tmp_path / "VOCdevkit" / "VOC2007" / "ImageSets" / "Main" / "test.txt").unlink()
    done = run(app, ["data", "check", "voc", *root])
    assert done.exit_code == 2 and "Traceback" not in done.output
    assert "test.txt is missing" in done.output and "host.robots.ox.ac.uk" in done.output

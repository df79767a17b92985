"""The papers' data sets, in small trees of the published layouts: reading, views, checking, and the command line."""

import json
import pickle
import re

import numpy as np
import pytest
import torch
from drawn import seeded
from PIL import Image
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab.datasets import DATASETS, DETECTION, VOC, check, open_dataset, open_detection
from rankedu_lab.datasets.registry import catalogue
from rankedu_lab.datasets.transforms import IMAGENET_MEAN, IMAGENET_SD, draw, view
from rankedu_lab.datasets.voc import read_annotation

run = CliRunner().invoke
BIRDS = [f"{number:03}.Bird_{number}" for number in range(1, 104)]
BIRD_FILES = [f"{name}/{name[4:]}_{copy}.jpg" for name in BIRDS for copy in range(2)][:-1]  # the last class has one
PRODUCTS = {
    "train": ["1 1 1 bicycle_final/a_0.JPG", "2 1 1 bicycle_final/a_1.JPG", "3 2 2 mug_final/b_0.JPG"],
    "test": ["4 3 2 mug_final/c_0.JPG", "5 3 2 mug_final/c_1.JPG"],
}
CLOTHES = """5
image_name item_id evaluation_status
img/WOMEN/Dresses/id_00000002/02_1_front.jpg      id_00000002      query
img/MEN/Denim/id_00000001/01_1_front.jpg      id_00000001      train
img/MEN/Denim/id_00000001/01_2_side.jpg      id_00000001      train
img/WOMEN/Dresses/id_00000002/02_2_side.jpg      id_00000002      gallery
img/WOMEN/Skirts/id_00000002/02_3_back.jpg      id_00000002      gallery"""
RANKS = ("kingdom", "phylum", "class", "order", "family", "genus")
BOOBIES = ("Animalia", "Chordata", "Aves", "Suliformes", "Sulidae")
TAXONOMY = [
    {"id": i, "name": f"species {i}", "supercategory": "", **dict(zip(RANKS, names, strict=True))}
    for i, names in {7: (*BOOBIES, "Morus"), 2: ("Plantae", *"PCOF", "Morus"), 5: (*BOOBIES, "Sula")}.items()
]
CREATURES = {"train": ("Aves/7/a.jpg", "Aves/7/b.jpg", "Plantae/2/c.jpg"), "test": ("Aves/5/d.jpg", "Aves/5/e.jpg")}
CREATURES = {part: [f"train_val2018/{file}" for file in files] for part, files in CREATURES.items()}
HEADS = "image_id class_id super_class_id path"
HEAD, LEVELS = "fname, coarse_id, middle_id, fine_id", ("coarse", "middle", "fine")


def numbered(words):
    return "".join(f"{i} {word}\n" for i, word in enumerate(words, 1))


def dyml(*benchmarks):
    """The head of a list and its first image share a line, as in the files as released."""
    lists = {"train/label.csv": f"{HEAD}0.jpg, 0, 3, 8\n1.jpg, 0, 3, 8\n2.jpg, 1, 4, 9\n"}
    images = [f"train/imgs/{i}.jpg" for i in range(3)]
    for level in benchmarks:
        lists |= {f"bmk_{level}/query.csv": "fname, labels0.jpg, 6\n"}
        lists |= {f"bmk_{level}/gallery.csv": "fname, labels0.jpg, 5\n1.jpg, 6\n"}
        images += [f"bmk_{level}/{file}" for file in ("query/0.jpg", "gallery/0.jpg", "gallery/1.jpg")]
    if not benchmarks:
        lists |= {"mini-bmk_all_in_one/label.csv": f"{HEAD}0.jpg, 0, 1, 2\n1.jpg, 0, 1, 2"}
        images += [f"mini-bmk_all_in_one/imgs/{i}.jpg" for i in range(2)]
    return lists, images


INAT = {f"Inat_dataset_splits/Inaturalist_{part}_set1.txt": "\n".join(files) for part, files in CREATURES.items()}
#: Of each data set its lists, and its pictures.
TREES = {
    "cub": (
        {"classes.txt": numbered(BIRDS), "images.txt": numbered(BIRD_FILES)}
        | {"image_class_labels.txt": numbered(int(file[:3]) for file in BIRD_FILES)},
        [f"images/{file}" for file in BIRD_FILES],
    ),
    "sop": (
        {f"Ebay_{p}.txt": "\n".join([HEADS, *PRODUCTS[p]]) for p in PRODUCTS},
        [line.split()[3] for lines in PRODUCTS.values() for line in lines],
    ),
    "inshop": ({"Eval/list_eval_partition.txt": CLOTHES}, [f"Img/{at.split()[0]}" for at in CLOTHES.split("\n")[2:]]),
    "inat_base": (INAT, [*CREATURES["train"], *CREATURES["test"]]),
    "inat_full": (INAT | {"categories.json": json.dumps(TAXONOMY)}, [*CREATURES["train"], *CREATURES["test"]]),
}
TREES |= {"dyml_vehicle": dyml(*LEVELS), "dyml_animal": dyml(*LEVELS), "dyml_product": dyml()}
DENIM, DRESS = ("MEN/Denim", "id_00000001"), ("WOMEN/Dresses", "id_00000002")
FINE = [("0", "3", "8")] * 2 + [("1", "4", "9")]
VEHICLES = {"train": FINE, "query": [("6",)], "gallery": [("5",), ("6",)], "test": [("6",), ("5",), ("6",)]}
#: Of each data set the names of the labels in each split, from root to leaf.
PATHS = {
    "cub": {"train": [(n,) for n in sorted(BIRDS[:100] * 2)], "test": [(n,) for n in sorted(BIRDS[100:] * 2)[:5]]},
    "sop": {"train": [("bicycle", "1")] * 2 + [("mug", "2")], "test": [("mug", "3")] * 2},
    "inshop": {"train": [DENIM] * 2, "query": [DRESS], "gallery": [DRESS] * 2, "test": [DRESS] * 3},
    "inat_base": {"train": [("Aves", "7")] * 2 + [("Plantae", "2")], "test": [("Aves", "5")] * 2},
    "inat_full": {
        "train": [(*BOOBIES, "Morus", "7 species 7")] * 2 + [("Plantae", *"PCOF", "Morus", "2 species 2")],
        "test": [(*BOOBIES, "Sula", "5 species 5")] * 2,
    },
    **dict.fromkeys(("dyml_vehicle", "dyml_animal"), VEHICLES),
    "dyml_product": {"train": FINE, "test": [("0", "1", "2")] * 2},
}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def make(root, name, **lists):
    """A data set in its folder, with other lists in place of some."""
    folder, (own, pictures) = root / DATASETS[name].folder, TREES[name]
    Image.new("RGB", (12, 9), "orange").save(root / "picture.jpg")
    content = (root / "picture.jpg").read_bytes()
    for file, text in {**own, **lists, **dict.fromkeys(pictures, content)}.items():
        write(folder / file, text)
    return folder


def paths(data):
    return [tuple(data.names[level][label] for level, label in enumerate(row)) for row in data.labels.tolist()]


@pytest.mark.parametrize("name", TREES)
def test_every_data_set_is_read_by_its_name_and_check_says_which_counts_differ(name, tmp_path, monkeypatch):
    make(tmp_path, name)
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path))
    assert {*PATHS[name]} == {*DATASETS[name].splits}
    for split, expected in PATHS[name].items():
        data = open_dataset(name, split, image_size=8)
        assert data.split == split and paths(data) == expected and len(data.paths) == len(expected)
        assert all(data.load(index).shape == (3, 8, 8) for index in range(min(3, len(data))))
    report = check(name, tmp_path)
    assert not report.ok and not report.problems
    for count in report.counts:
        published = DATASETS[name].counts.get(count.part, {}).get(count.what)
        assert count.published == published and count.ok == (published in (None, count.found))
    told = {(part, what) for part, counts in DATASETS[name].counts.items() for what in counts}
    assert told <= {(count.part, count.what) for count in report.counts}, "every published count is compared"


def test_labels_are_numbered_over_both_sides_and_other_layouts_are_read_as_well(tmp_path):
    for name in ("sop", "inat_full", "dyml_vehicle"):
        make(tmp_path, name)
    assert open_dataset("sop", "test", tmp_path).labels.tolist() == [[1, 2]] * 2
    train, test = (open_dataset("inat_full", split, tmp_path).labels for split in ("train", "test"))
    assert train[:, -2].tolist() == [0, 0, 1], "two genera are called Morus"
    assert test.tolist() == [[0, 0, 0, 0, 0, 2, 2]] * 2
    for level in LEVELS:
        query, gallery = (open_dataset("dyml_vehicle", split, tmp_path, level=level) for split in ("query", "gallery"))
        assert query.levels == (level,) and query.labels[0] == gallery.labels[1], "numbered together"
        assert gallery.paths[1].parts[-3:] == (f"bmk_{level}", "gallery", "1.jpg")
    folder = make(tmp_path, "inshop")
    (folder / "Img" / "img").rename(folder / "img")
    (folder / "Eval" / "list_eval_partition.txt").rename(folder / "list_eval_partition.txt")
    assert open_dataset("inshop", "gallery", tmp_path).load(1).shape == (3, 224, 224)
    folder = make(tmp_path, "inat_full")
    listed = {"categories": TAXONOMY, "images": []}
    (folder / "categories.json").rename(folder / "train2018.json").write_text(json.dumps(listed))
    assert paths(open_dataset("inat_full", "train", tmp_path)) == PATHS["inat_full"]["train"]
    (folder / "train2018.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"categories\.json is missing, and so is train2018\.json .*inat_comp"):
        open_dataset("inat_full", "test", tmp_path)


def test_a_wrong_name_setting_or_list_is_named(tmp_path, monkeypatch, refused):
    """With who publishes it, or with the line."""
    make(tmp_path, "sop")
    monkeypatch.delenv("RANKEDU_DATA", raising=False)
    where = r"--data-root or \$RANKEDU_DATA.*'CUB_200_2011'.*vision\.caltech\.edu"
    refused([(lambda: open_dataset("cub"), FileNotFoundError, where)])
    settings = "settings of 'glyphs' must be one of .*, got 'image_size'"
    refused([(lambda: open_dataset("glyphs", image_size=8), ValueError, settings)])
    for name, file, content, message in DAMAGED:
        make(tmp_path, name, **{file: content})
        refused([(lambda name=name: open_dataset(name, "train", tmp_path), ValueError, message)])
    for name, file in LISTS.items():
        path = make(tmp_path, name) / file
        write(path, path.read_bytes() + b"\n<html>404</html>\n")
        wrong = f"{re.escape(str(path))}.*must read .* got '<html>404</html>'"
        refused([(lambda name=name: open_dataset(name, "train", tmp_path), ValueError, wrong)])
        path.unlink()
        publisher = "drive.google.com" if "Inat" in file else DATASETS[name].url
        gone = f"{re.escape(str(path))} is missing.*{re.escape(publisher)}"
        refused([(lambda name=name: open_dataset(name, "train", tmp_path), FileNotFoundError, gone)])


LISTS = {
    "cub": "images.txt",
    "sop": "Ebay_test.txt",
    "inshop": "Eval/list_eval_partition.txt",
    "inat_base": "Inat_dataset_splits/Inaturalist_test_set1.txt",
    "dyml_animal": "train/label.csv",
}
DAMAGED = [
    ("cub", "image_class_labels.txt", b"1 1\n2 999\n", "must have a class of CUB-200-2011 for image 2"),
    ("inat_full", "categories.json", b"{", "must be the owner's list of categories"),
    ("inat_full", "categories.json", b"[]", "must have category 7"),
    ("dyml_vehicle", "train/label.csv", b"\xff\xd8\xff\xe0", r"label\.csv must be a text file"),
    ("dyml_vehicle", "train/label.csv", b"", r"label\.csv: each line must read"),
]


def test_the_commands_list_and_check_them(tmp_path, voc, monkeypatch):
    make(tmp_path, "sop")
    monkeypatch.delenv("RANKEDU_DATA", raising=False)
    root = ["--data-root", str(tmp_path)]
    listed = run(app, ["data", "list", *root])
    assert f"found in {tmp_path}" in listed.stdout and listed.stdout.count("not found") == len(TREES) - 1
    assert "$RANKEDU_DATA" not in listed.stdout and "$RANKEDU_DATA" in catalogue()
    for datasets in (DATASETS, DETECTION):
        for name, facts in datasets.items():
            assert name in listed.stdout and facts.title in listed.stdout and facts.url in listed.stdout
            counts = [f"{count:,}" for part in facts.counts.values() for count in part.values()]
            assert all(count in listed.stdout for count in counts)
    for name, code, message in (
        ("sop", 1, "published: 59,551"),
        ("cub", 2, "https://www.vision.caltech.edu"),
        ("cup", 2, "name must be one of"),
        ("voc", 1, "published: 4,952"),
        ("voc", 2, "test.txt is missing .*host.robots.ox.ac.uk"),
    ):
        if (name, code) == ("voc", 2):
            (voc / "ImageSets" / "Main" / "test.txt").unlink()
        done = run(app, ["data", "check", name, *root])
        assert done.exit_code == code and re.search(message, done.output.replace("\n", " ")), name
        assert "Traceback" not in done.output


def test_check_names_missing_pictures_and_shared_classes_and_counts_objects_without_difficult_ones(tmp_path, voc):
    folder = make(tmp_path, "sop", **{"Ebay_test.txt": "\n".join([HEADS, *PRODUCTS["test"], *PRODUCTS["train"][:1]])})
    (folder / "mug_final" / "c_0.JPG").unlink()
    missing, shared = check("sop", tmp_path).problems
    assert missing.startswith("missing images: 1, among them ") and "c_0.JPG (" in missing
    assert shared.startswith("classes in training and test: 1, ")
    write(voc / "ImageSets" / "Main" / "test.txt", "")
    found = {(count.part, count.what): count.found for count in check("voc", tmp_path).counts}
    assert (found["2007 trainval", "objects"], found["2007 trainval", "difficult"]) == (2, 1)
    assert (found["2007 test", "images"], found["2007 test", "classes"]) == (0, 0)


BOX = "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>"
OBJECT = "<object><name>{}</name>{}" + BOX + "</object>"


def annotated(name, *objects):
    return f"<annotation><filename>{name}.jpg</filename>{''.join(objects)}</annotation>"


def annotation(folder, name, *objects):
    """Write an annotation and a picture of 40 × 30 pixels."""
    write(folder / "Annotations" / f"{name}.xml", annotated(name, *objects))
    write(folder / "JPEGImages" / f"{name}.jpg", b"")
    Image.new("RGB", (40, 30), "orange").save(folder / "JPEGImages" / f"{name}.jpg")


def make_voc(root, years=(2007, 2012)):
    """Two pictures for training a year, and one for the test of 2007."""
    for year in years:
        folder, names = root / "VOCdevkit" / f"VOC{year}", [f"{year}_1", f"{year}_2"]
        annotation(folder, names[0], OBJECT.format("dog", "<difficult>0</difficult>", 1, 1, 1, 1))
        cat = OBJECT.format("cat", "<difficult>1</difficult>", 3, 4, 10, 20)
        annotation(folder, names[1], cat, OBJECT.format("person", "", 11, 5, 40, 30))
        for part, listed in {"trainval": names, "train": names[:1], "val": names[1:], "test": ["000001"]}.items():
            if part != "test" or year == 2007:
                write(folder / "ImageSets" / "Main" / f"{part}.txt", "\n".join(listed) + "\n")
    sofa = OBJECT.format("sofa", "<difficult>0</difficult>", 5, 6, 7, 8)
    annotation(root / "VOCdevkit" / "VOC2007", "000001", sofa)
    return root


@pytest.fixture
def voc(tmp_path):
    """The folder of VOC 2007, beside 2012."""
    return make_voc(tmp_path) / "VOCdevkit" / "VOC2007"


def test_the_owner_counts_from_one_and_a_box_holds_its_last_pixel(tmp_path, voc, monkeypatch):
    data = VOC("trainval", tmp_path)
    image, target = data[0]
    assert image.shape == (3, 30, 40) and image.dtype == torch.uint8 and image.is_contiguous()
    assert target["boxes"].tolist() == [[0, 0, 1, 1]], "one pixel has a width of 1"
    assert [data.names[label - 1] for label in target["labels"].tolist()] == ["dog"]
    image, target = data[-1]
    assert target["boxes"].tolist() == [[2, 3, 10, 20], [10, 4, 40, 30]]
    assert target["difficult"].tolist() == [True, False]
    assert all(torch.equal(data.target(1)[key], target[key]) for key in target) and data.flips
    annotation(voc, "2007_1")
    empty = data.target(0)
    assert [empty[key].shape for key in ("boxes", "labels", "difficult")] == [(0, 4), (0,), (0,)]
    for each in (target, empty):
        kinds = [each[key].dtype for key in ("boxes", "labels", "difficult")]
        assert kinds == [torch.float32, torch.int64, torch.bool]
    # As some annotations of 2011 and 2012 have them: parts, fractions, and no mark.
    head = "<part><name>head</name>" + BOX.format(3, 3, 4, 4) + "</part>"
    annotation(voc, "p", f"<object><name>person</name>{head}{BOX.format('2.5', '3', '10.75', '20')}</object>")
    picture, found = read_annotation(voc / "Annotations" / "p.xml")
    assert picture.name == "p.jpg" and [data.names[label - 1] for label in found["labels"]] == ["person"]
    assert found["boxes"].tolist() == [[1.5, 2, 10.75, 20]] and found["difficult"].tolist() == [False]
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path))
    for name, split, count in (("voc07", "train", 2), ("voc07", "test", 1), ("voc0712", "train", 4)):
        data = open_detection(name, split)
        assert len(data) == count == len(list(data))
        assert len(open_detection(name, split, tmp_path, images=1)) == 1
    both = VOC("train", tmp_path, years=(2012, 2007))
    assert repr(both) == "VOC('train' of 2012 and 2007: 2 images)" and len(VOC("val", tmp_path)) == 1


WRONG = [
    ("<annotation>", "must be an annotation of Pascal VOC: no element found"),
    (annotated("a", "<object><name>dog</name></object>"), "no <bndbox/xmin>"),
    (annotated("a", OBJECT.format("dog", "", 5, 1, 4, 2)), "<bndbox> ends before it begins: 5, 1, 4, 2"),
    (annotated("a", OBJECT.format("yeti", "", 1, 1, 4, 2)), "a name must be one of the 20 classes, got 'yeti'"),
]


def test_what_is_damaged_missing_or_wrong_is_named(tmp_path, voc, refused):
    years = (
        lambda: VOC("test", tmp_path, years=(2012,)),
        ValueError,
        r"be \(2007,\) for the split 'test', got \(2012,",
    )
    refused([years])
    data = VOC("trainval", tmp_path)
    with pytest.raises(IndexError):
        data[2]
    for text, message in WRONG:
        write(voc / "Annotations" / "2007_1.xml", text)
        refused([(lambda: data[0], ValueError, rf"2007_1\.xml.*{message}|{message}.*2007_1\.xml")])
    make_voc(tmp_path)
    write(voc / "JPEGImages" / "2007_1.jpg", b"\xff\xd8 no picture")
    refused([(lambda: data[0], ValueError, r"2007_1\.jpg cannot be decoded")])
    assert len(data.target(0)["labels"]) == 1
    for file in ("JPEGImages/2007_1.jpg", "Annotations/2007_1.xml", "ImageSets/Main/trainval.txt", ".."):
        path = voc / file
        path.resolve().rename(tmp_path / f"elsewhere{len(file)}")
        where = rf"{re.escape(str(path.resolve()))} is missing .*host\.robots\.ox\.ac\.uk"
        refused([(lambda: VOC("trainval", tmp_path)[0], FileNotFoundError, where)])


def test_a_generator_decides_the_view_and_bad_files_and_settings_are_named(tmp_path, refused):
    folder, g, h = make(tmp_path, "sop"), seeded(), seeded()
    Image.new("RGB", (40, 30), (210, 0, 0)).save(folder / "bicycle_final" / "a_1.JPG")
    data = open_dataset("sop", "train", tmp_path, image_size=16)
    assert colours(data[1][0])[0].mean() * 255 == pytest.approx(210, abs=2) and data[1][1].tolist() == [0, 0]
    assert repr(data) == "Stanford Online Products (train: images 3, super-class 2, product 2)"
    assert torch.equal(data.load(0, g), data.load(0, h))
    data.load(0, g)
    data.load(1, h)
    assert torch.equal(g.get_state(), h.get_state()), "it moves on by the same step for every image"
    assert torch.equal(pickle.loads(pickle.dumps(data)).load(1), data.load(1)), "workers get a copy"
    file = data.paths[1]
    for content in (b"", file.read_bytes()[:200]):
        file.write_bytes(content)
        refused([(lambda: data.load(1), ValueError, r"a_1\.JPG cannot be decoded: .*remove it from the list")])
    file.unlink()
    refused([(lambda: data.load(1), FileNotFoundError, r"a_1\.JPG is missing \(.*cvgl\.stanford\.edu")])
    write(folder / "Ebay_test.txt", HEADS)
    empty = r"split must have images, got 'test'.*cvgl\.stanford\.edu"
    refused([(lambda: open_dataset("sop", "test", tmp_path), ValueError, empty)])


def ramp(width, height):
    """A picture whose red is the column and whose green is the row, from 0 to 255."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, np.zeros_like(x)], axis=2).round().astype(np.uint8))


def colours(picture):
    """Undo the normalisation."""
    return picture * torch.tensor(IMAGENET_SD)[:, None, None] + torch.tensor(IMAGENET_MEAN)[:, None, None]


@pytest.mark.parametrize("crop", ["area", "window"])
@pytest.mark.parametrize(("width", "height"), [(256, 256), (300, 200), (90, 400)])
def test_the_test_view_is_the_middle(width, height, crop):
    """Shorter side to 256 and the central 224, or everything to 256 × 256 and the central 224."""
    w, h = (width, height) if crop == "window" else (min(width, height),) * 2
    found = colours(view(ramp(width, height), size=64, crop=crop))
    assert found.shape == (3, 64, 64) and found.dtype == torch.float32 and found.is_contiguous()
    for line, side, whole in ((found[0].mean(0), w, width), (found[1].mean(1), h, height)):
        edge = 0.5 * 224 / 256 * side / whole
        assert line[0] == pytest.approx(0.5 - edge, abs=0.02) and line[-1] == pytest.approx(0.5 + edge, abs=0.02)
    assert found[2].abs().max() < 1e-6


def test_random_views_stay_in_their_bounds():
    """The box is read off the picture: area 16 to 100 %, shape 3:4 to 4:3, half of them flipped."""
    photograph, flipped, boxes = ramp(300, 200), 0, []
    for seed in range(60):
        red, green, _ = colours(view(photograph, draw(seeded(seed)), size=32))
        left, right, top, bottom = red[:, 0].mean(), red[:, -1].mean(), green[0].mean(), green[-1].mean()
        flipped += bool(left > right)
        boxes.append((300 * abs(float(right - left)), 200 * float(bottom - top)))
        assert min(left, right, top) > -1e-6 and max(left, right, bottom) < 1 + 1e-6 and bottom > top
    widths, heights = np.array(boxes).T * 32 / 31  # from the centres of the outer pixels to their edges
    area, ratio = widths * heights / (300 * 200), widths / heights
    assert 0.14 < area.min() < 0.3 and 0.7 < area.max() <= 1.05
    assert 0.74 < ratio.min() < 0.85 and 1.2 < ratio.max() < 1.36
    assert 15 < flipped < 45


def test_a_window_is_seven_eighths_of_any_picture_and_a_large_jpeg_is_decoded_no_larger_than_needed(tmp_path):
    red, green, _ = colours(view(ramp(300, 200), draw(seeded()), size=64, crop="window"))
    for line in (red.mean(0), green.mean(1)):
        assert abs(float(line[-1] - line[0])) * 64 / 63 == pytest.approx(0.875, abs=0.01)
    for sides in ((1000, 8), (8, 1000), (1, 1)):
        found = view(ramp(*sides), draw(seeded()), size=16)
        assert found.shape == (3, 16, 16) and found.isfinite().all(), sides
    for mode in ("L", "RGBA", "P", "CMYK", "1", "I;16"):
        assert view(Image.new(mode, (20, 20)), size=8).shape == (3, 8, 8), mode
    ramp(800, 600).save(tmp_path / "a.jpg", quality=95)
    with Image.open(tmp_path / "a.jpg") as image:
        assert (view(image, size=32) - view(ramp(800, 600), size=32)).abs().max() < 0.1 and image.size == (100, 75)

"""The papers' data sets, in small trees of the published layouts: reading, checking, and the command line."""

import json
import re
from dataclasses import replace

import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.datasets import DATASETS, DETECTION, VOC, check, checking, open_dataset, open_detection
from ranklab.datasets.registry import catalogue, markdown
from ranklab.datasets.voc import NAMES, read_annotation

run = CliRunner().invoke


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def pictures(folder, files):
    """One tiny JPEG, under many names."""
    first = None
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if first is None:
            Image.new("RGB", (12, 9), "orange").save(path)
            first = path.read_bytes()
        path.write_bytes(first)


def make_cub(root, classes=103):
    """Two images of each class, but one of the last."""
    folder = root / "CUB_200_2011"
    names = [f"{number:03}.Bird_{number}" for number in range(1, classes + 1)]
    files = [f"{name}/{name[4:]}_{copy}.jpg" for name in names for copy in range(2)][:-1]
    write(folder / "classes.txt", "".join(f"{i} {name}\n" for i, name in enumerate(names, 1)))
    write(folder / "images.txt", "".join(f"{i} {file}\n" for i, file in enumerate(files, 1)))
    labels = "".join(f"{i} {int(file[:3])}\n" for i, file in enumerate(files, 1))
    write(folder / "image_class_labels.txt", labels)
    pictures(folder / "images", files)
    return folder


def make_sop(root):
    folder, head = root / "Stanford_Online_Products", "image_id class_id super_class_id path\n"
    train = ["1 1 1 bicycle_final/a_0.JPG", "2 1 1 bicycle_final/a_1.JPG", "3 2 2 mug_final/b_0.JPG"]
    test = ["4 3 2 mug_final/c_0.JPG", "5 3 2 mug_final/c_1.JPG"]
    write(folder / "Ebay_train.txt", head + "\n".join(train) + "\n")
    write(folder / "Ebay_test.txt", head + "\r\n".join(test))
    pictures(folder, [line.split()[3] for line in train + test])
    return folder


def make_inshop(root, images="Img"):
    folder = root / "In-shop Clothes Retrieval Benchmark"
    rows = [
        ("img/WOMEN/Dresses/id_00000002/02_1_front.jpg", "id_00000002", "query"),
        ("img/MEN/Denim/id_00000001/01_1_front.jpg", "id_00000001", "train"),
        ("img/MEN/Denim/id_00000001/01_2_side.jpg", "id_00000001", "train"),
        ("img/WOMEN/Dresses/id_00000002/02_2_side.jpg", "id_00000002", "gallery"),
        ("img/WOMEN/Skirts/id_00000002/02_3_back.jpg", "id_00000002", "gallery"),
    ]
    lines = [f"{file}      {item} {part}" for file, item, part in rows]
    write(folder / "Eval" / "list_eval_partition.txt", "\n".join(["5", "image_name item_id evaluation_status", *lines]))
    pictures(folder / images, [file for file, _, _ in rows])
    return folder


RANKS = ("kingdom", "phylum", "class", "order", "family", "genus")


def make_inaturalist(root, taxonomy="categories.json"):
    folder = root / "inaturalist_2018"
    parts = {
        "train": ["train_val2018/Aves/7/a.jpg", "train_val2018/Aves/7/b.jpg", "train_val2018/Plantae/2/c.jpg"],
        "test": ["train_val2018/Aves/5/d.jpg", "train_val2018/Aves/5/e.jpg"],
    }
    for part, lines in parts.items():
        write(folder / "Inat_dataset_splits" / f"Inaturalist_{part}_set1.txt", "\n".join(lines) + "\n")
        pictures(folder, lines)
    above = {7: ("Animalia", "Chordata", "Aves", "Suliformes", "Sulidae", "Morus"), 2: ("Plantae", *"PCOF", "Morus")}
    above[5] = (*above[7][:5], "Sula")
    entries = [
        {"id": i, "name": f"species {i}", "supercategory": "", **dict(zip(RANKS, names, strict=True))}
        for i, names in above.items()
    ]
    if taxonomy:
        content = entries if taxonomy == "categories.json" else {"categories": entries, "images": []}
        write(folder / taxonomy, json.dumps(content))
    return folder


def make_dyml(root, kind="vehicle", joined=True):
    """`joined`: the head of a list and its first image share a line, as in the files as released."""
    folder, seam = root / f"dyml_{kind}", "" if joined else "\n"
    head = "fname, coarse_id, middle_id, fine_id"
    write(folder / "train" / "label.csv", f"{head}{seam}0.jpg, 0, 3, 8\n1.jpg, 0, 3, 8\n2.jpg, 1, 4, 9\n")
    pictures(folder / "train" / "imgs", [f"{i}.jpg" for i in range(3)])
    if kind == "product":
        write(folder / "mini-bmk_all_in_one" / "label.csv", f"{head}{seam}0.jpg, 0, 1, 2\n1.jpg, 0, 1, 2")
        pictures(folder / "mini-bmk_all_in_one" / "imgs", ["0.jpg", "1.jpg"])
        return folder
    for level in ("coarse", "middle", "fine"):
        benchmark = folder / f"bmk_{level}"
        write(benchmark / "query.csv", f"fname, labels{seam}0.jpg, 6\n")
        write(benchmark / "gallery.csv", f"fname, labels{seam}0.jpg, 5\n1.jpg, 6\n")
        pictures(benchmark, ["query/0.jpg", "gallery/0.jpg", "gallery/1.jpg"])
    return folder


MAKE = {
    "cub": make_cub,
    "sop": make_sop,
    "inshop": make_inshop,
    "inat_base": make_inaturalist,
    "inat_full": make_inaturalist,
    "dyml_vehicle": make_dyml,
    "dyml_animal": lambda root: make_dyml(root, "animal"),
    "dyml_product": lambda root: make_dyml(root, "product"),
}


def paths(data):
    """The label names of every image, from root to leaf."""
    return [tuple(data.names[level][label] for level, label in enumerate(row)) for row in data.labels.tolist()]


def test_cub_the_first_100_classes_train(tmp_path):
    make_cub(tmp_path)
    train, test = open_dataset("cub", "train", tmp_path), open_dataset("cub", "test", tmp_path)
    assert len(train) == 200 and len(test) == 5, "a class of one image is a class"
    assert train.labels.flatten().unique().tolist() == list(range(100))
    assert paths(test)[-1] == ("103.Bird_103",) and test.labels.shape == (5, 1)
    assert test.paths[0].parts[-3:] == ("images", "101.Bird_101", "Bird_101_0.jpg")


def test_online_products(tmp_path):
    make_sop(tmp_path)
    train, test = open_dataset("sop", "train", tmp_path), open_dataset("sop", "test", tmp_path)
    assert paths(train) == [("bicycle", "1"), ("bicycle", "1"), ("mug", "2")]
    assert test.labels.tolist() == [[1, 2], [1, 2]], "the super-class has the number that it has in the training"


@pytest.mark.parametrize("images", ["Img", "."])
def test_inshop_has_queries_and_a_gallery(tmp_path, images):
    make_inshop(tmp_path, images)
    parts = {split: open_dataset("inshop", split, tmp_path) for split in ("train", "query", "gallery", "test")}
    assert {split: len(data) for split, data in parts.items()} == {"train": 2, "query": 1, "gallery": 2, "test": 3}
    assert paths(parts["train"]) == [("MEN/Denim", "id_00000001")] * 2 and parts["train"].labels.max() == 0
    assert paths(parts["test"]) == [("WOMEN/Dresses", "id_00000002")] * 3, "an item keeps its first category"
    assert torch.equal(parts["query"].labels[0], parts["gallery"].labels[0])
    assert parts["gallery"].load(1).shape == (3, 224, 224) and DATASETS["inshop"].separate_gallery


@pytest.mark.parametrize("taxonomy", ["categories.json", "train2018.json"])
def test_inaturalist_has_two_levels_or_seven(tmp_path, taxonomy):
    make_inaturalist(tmp_path, taxonomy)
    base, full = (open_dataset(name, "train", tmp_path) for name in ("inat_base", "inat_full"))
    assert base.labels.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert full.labels.shape == (3, 7) and full.labels[:, -2].tolist() == [0, 0, 1], "two genera are called Morus"
    assert paths(full)[0] == ("Animalia", "Chordata", "Aves", "Suliformes", "Sulidae", "Morus", "7 species 7")
    assert open_dataset("inat_full", "test", tmp_path).labels.tolist() == [[0, 0, 0, 0, 0, 2, 2]] * 2


def test_inaturalist_base_needs_no_taxonomy(tmp_path):
    make_inaturalist(tmp_path, taxonomy=None)
    assert paths(open_dataset("inat_base", "test", tmp_path)) == [("Aves", "5")] * 2
    with pytest.raises(FileNotFoundError, match=r"categories\.json is missing, and so is train2018\.json .*inat_comp"):
        open_dataset("inat_full", "test", tmp_path)


@pytest.mark.parametrize("joined", [True, False])
def test_dyml_training(tmp_path, joined):
    for kind in ("vehicle", "product"):
        make_dyml(tmp_path, kind, joined)
        data = open_dataset(f"dyml_{kind}", "train", tmp_path)
        assert paths(data) == [("0", "3", "8"), ("0", "3", "8"), ("1", "4", "9")], "the first image is not lost"
        assert data.labels.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]


def test_dyml_has_a_benchmark_for_each_level_or_one_set(tmp_path):
    make_dyml(tmp_path)
    make_dyml(tmp_path, "product")
    for level in ("coarse", "middle", "fine"):
        query, gallery = (open_dataset("dyml_vehicle", split, tmp_path, level=level) for split in ("query", "gallery"))
        assert query.levels == (level,) and paths(query) == [("6",)] and paths(gallery) == [("5",), ("6",)]
        assert query.labels[0] == gallery.labels[1], "numbered together"
        assert gallery.paths[1].parts[-3:] == (f"bmk_{level}", "gallery", "1.jpg")
    assert paths(open_dataset("dyml_product", "test", tmp_path)) == [("0", "1", "2")] * 2


@pytest.mark.parametrize("name", MAKE)
def test_every_data_set_opens_by_its_name_and_check_says_which_counts_differ(name, tmp_path, monkeypatch):
    MAKE[name](tmp_path)
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path))
    for split in DATASETS[name].splits:
        data = open_dataset(name, split, image_size=8)
        assert data.split == split and data.labels.shape[0] == len(data) == len(data.paths)
        assert data.load(0).shape == (3, 8, 8) and not hasattr(data, "images")
    report = check(name, tmp_path)
    assert not report.ok and not report.problems
    for count in report.counts:
        published = DATASETS[name].counts.get(count.part, {}).get(count.what)
        assert count.published == published and count.ok == (published in (None, count.found))
    told = {(part, what) for part, counts in DATASETS[name].counts.items() for what in counts}
    assert told <= {(count.part, count.what) for count in report.counts}, "every published count is compared"


def test_a_wrong_name_split_or_setting(tmp_path):
    make_sop(tmp_path)
    for arguments, settings, message in (
        (("cup",), {}, "name must be one of 'glyphs', 'cub', .* got 'cup'"),
        (("cub", "query"), {}, "split must be one of 'train', 'test', got 'query'"),
        (("dyml_product", "query"), {}, "split must be one of 'train', 'test', got 'query'"),
        (("glyphs",), {"image_size": 8}, "settings of 'glyphs' must be its own, got 'image_size'"),
        (("sop",), {"level": "fine"}, "settings of 'sop' must be its own, got 'level'"),
    ):
        with pytest.raises(ValueError, match=message):
            open_dataset(*arguments, root=tmp_path, **settings)


def test_without_a_folder_the_error_says_how_to_name_one(monkeypatch):
    monkeypatch.delenv("RANKEDU_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"--data-root or \$RANKEDU_DATA.*'CUB_200_2011'.*vision\.caltech\.edu"):
        open_dataset("cub")


LISTS = {
    "cub": ("images.txt", "image_class_labels.txt", "classes.txt"),
    "sop": ("Ebay_train.txt", "Ebay_test.txt"),
    "inshop": ("Eval/list_eval_partition.txt",),
    "inat_base": ("Inat_dataset_splits/Inaturalist_test_set1.txt",),
    "dyml_animal": ("train/label.csv",),
}


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, files in LISTS.items() for file in files])
def test_a_list_that_is_missing_or_not_as_published_is_named(name, file, tmp_path):
    """With who publishes it, or with the line."""
    path = MAKE[name](tmp_path) / file
    with path.open("a", encoding="utf-8") as stream:
        stream.write("\n<html>404</html>\n")
    with pytest.raises(ValueError, match=r"must read .* got '<html>404</html>'") as error:
        open_dataset(name, "train", tmp_path)
    assert str(path) in str(error.value)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="is missing") as error:
        open_dataset(name, "train", tmp_path)
    publisher = "drive.google.com" if "Inat" in file else DATASETS[name].url
    assert str(path) in str(error.value) and publisher in str(error.value)


DAMAGED = [
    ("cub", "image_class_labels.txt", b"1 1\n2 999\n", "must have a class of CUB-200-2011 for image 2"),
    ("inat_full", "categories.json", b"{", "must be the owner's list of categories"),
    ("inat_full", "categories.json", b'[{"id": 7}]', "must be the owner's list of categories with id, name, kingdom"),
    ("inat_full", "categories.json", b"[]", "must have category 7"),
    ("dyml_vehicle", "train/label.csv", b"\xff\xd8\xff\xe0", r"label\.csv must be a text file"),
    ("dyml_vehicle", "train/label.csv", b"", r"label\.csv: each line must read"),
]


def test_a_damaged_list_is_an_error(tmp_path, refused):
    for place, (name, file, content, message) in enumerate(DAMAGED):
        root = tmp_path / str(place)
        (MAKE[name](root) / file).write_bytes(content)
        refused([(lambda name=name, root=root: open_dataset(name, "train", root), ValueError, message)])


def test_check_tells_people_what_differs(tmp_path):
    make_cub(tmp_path)
    text = str(check("cub", tmp_path))
    lines = text.splitlines()
    assert lines[0].startswith("CUB-200-2011 in ")
    assert lines[1].split() == ["✗", "train", "images", "200", "published:", "5,864"]
    assert lines[2].split() == ["✓", "train", "species", "100", "as", "published"]
    assert lines[-1] == "3 things differ." and "RaMBO, Sec. 5.1" in text


def test_check_is_content_with_what_is_as_published(tmp_path, monkeypatch):
    make_sop(tmp_path)
    counts = {"train": {"images": 3, "product": 2}, "test": {"images": 2, "product": 1}, "all": {"super-class": 2}}
    monkeypatch.setitem(checking.PUBLISHED, "sop", replace(DATASETS["sop"], counts=counts))
    year = {"2007 trainval": {"images": 2, "objects": 2}, "2007 test": {"images": 1}, "2012 trainval": {"images": 2}}
    monkeypatch.setitem(checking.DETECTION, "voc", replace(DETECTION["voc"], counts=year))
    assert check("voc", make_voc(tmp_path, years=(2007,))).ok
    assert check("sop", tmp_path).ok and str(check("sop", tmp_path)).endswith("Nothing differs.")


def test_check_names_what_is_missing_or_on_both_sides(tmp_path):
    folder = make_sop(tmp_path)
    (folder / "mug_final" / "b_0.JPG").unlink()
    with (folder / "Ebay_test.txt").open("a") as stream:
        stream.write("\n6 1 1 bicycle_final/a_1.JPG\n")
    missing, shared = check("sop", tmp_path).problems
    assert "missing images: 1, " in missing and "b_0.JPG" in missing and "cvgl.stanford.edu" in missing
    assert shared.startswith("classes in training and test: 1, ")


def test_data_list_shows_all_of_them(tmp_path, monkeypatch):
    make_sop(tmp_path)
    monkeypatch.delenv("RANKEDU_DATA", raising=False)
    done = run(app, ["data", "list", "--data-root", str(tmp_path)])
    assert done.exit_code == 0
    for name, facts in {**DATASETS, **DETECTION}.items():
        assert name in done.stdout and facts.title in done.stdout and facts.url in done.stdout
    assert "59,551" in done.stdout and "14,218" in done.stdout
    assert f"found in {tmp_path}" in done.stdout and done.stdout.count("not found") == 8
    assert "$RANKEDU_DATA" not in done.stdout and "$RANKEDU_DATA" in catalogue()


def test_data_check_leaves_with_a_code(tmp_path):
    make_sop(tmp_path)
    for name, code, message in [
        ("sop", 1, "published: 59,551"),
        ("cub", 2, "https://www.vision.caltech.edu"),
        ("cup", 2, "name must be one of"),
    ]:
        done = run(app, ["data", "check", name, "--data-root", str(tmp_path)])
        assert done.exit_code == code and message in done.output and "Traceback" not in done.output, name


def test_the_table_of_the_book_has_every_count():
    for datasets, rows in ((DATASETS, len(MAKE)), (DETECTION, 1)):
        table = markdown(datasets)
        assert table.count("\n") == 2 + rows
        counts = [count for facts in datasets.values() for part in facts.counts.values() for count in part.values()]
        assert all(f"{count:,}" in table for count in counts)


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


WRONG = [
    ("<annotation>", "must be an annotation of Pascal VOC: no element found"),
    ("<annotation></annotation>", "<annotation> has no <filename>"),
    (annotated(OBJECT.format("", "", 1, 1, 2, 2)), "has no <name>"),
    (annotated("<object><name>dog</name></object>"), "no <bndbox/xmin>"),
    (annotated(OBJECT.format("dog", "", 1, 1, "x", 2)), "'x'"),
    (annotated(OBJECT.format("dog", "", 5, 1, 4, 2)), "<bndbox> ends before it begins: 5, 1, 4, 2"),
    (annotated(OBJECT.format("dog", "", 1, 3, 4, 2)), "<bndbox> ends before it begins: 1, 3, 4, 2"),
    (annotated(OBJECT.format("yeti", "", 1, 1, 4, 2)), "a name must be one of the 20 classes, got 'yeti'"),
]


def test_an_annotation_that_is_not_as_published(tmp_path, refused):
    path = make_voc(tmp_path) / "VOCdevkit" / "VOC2007" / "Annotations" / "2007_1.xml"
    for text, message in WRONG:
        path.write_text(text, encoding="utf-8")
        refused([(lambda: VOC("trainval", tmp_path)[0], ValueError, rf"2007_1\.xml.*{message}|{message}.*2007_1\.xml")])


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


def test_check_lists_what_is_missing_and_names_what_is_wrong(tmp_path):
    make_voc(tmp_path)
    home = tmp_path / "VOCdevkit"
    (home / "VOC2007" / "JPEGImages" / "2007_2.jpg").unlink()
    [problem] = check("voc", tmp_path).problems
    assert re.search(r"missing pictures of 2007 trainval: 1, .*2007_2\.jpg .*host\.robots", problem)
    (home / "VOC2012" / "Annotations" / "2012_2.xml").write_text("<html>", encoding="utf-8")
    with pytest.raises(ValueError, match=r"2012_2\.xml must be an annotation of Pascal VOC"):
        check("voc", tmp_path)


def test_the_commands_know_voc(tmp_path):
    root = ["--data-root", str(make_voc(tmp_path))]
    listed, done = run(app, ["data", "list", *root]), run(app, ["data", "check", "voc", *root])
    assert listed.exit_code == 0 and f"found in {tmp_path / 'VOCdevkit'}" in listed.stdout and "27,450" in listed.stdout
    assert done.exit_code == 1 and "published: 4,952" in done.stdout
    (tmp_path / "VOCdevkit" / "VOC2007" / "ImageSets" / "Main" / "test.txt").unlink()
    done = run(app, ["data", "check", "voc", *root])
    assert done.exit_code == 2 and "Traceback" not in done.output
    assert "test.txt is missing" in done.output and "host.robots.ox.ac.uk" in done.output

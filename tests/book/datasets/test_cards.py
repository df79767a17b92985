"""The tables of the page on data sets count every picture once, and show every published count."""

from rankedu_book.datasets import cards
from rankedu_lab.datasets import DATASETS, DETECTION, Scenes


def test_the_splits_of_the_glyphs_add_up_to_all_pictures():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in cards.glyphs().splitlines()]
    images = [cells for name, *cells in filter(None, rows) if name == "images" and cells != ["characters"]]
    halved, protocol, letters = ([int(cell.replace(",", "")) for cell in cells] for cells in images)
    assert halved[0] + halved[1] == halved[2] == sum(protocol) == 35_690 > sum(letters)


def test_the_objects_of_the_scenes_are_counted_in_both_splits():
    table = cards.scenes(images=10)
    objects = [sum(len(data.target(at)["labels"]) for at in range(10)) for data in (Scenes("train"), Scenes("test"))]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert ["images", "10", "10"] in rows and ["objects", *map(str, objects)] in rows
    data = Scenes("train")
    first = sum(int((data.target(at)["labels"] == 1).sum()) for at in range(10))
    assert f"in the training: {data.names[0]} {first}, " in table


def test_the_table_of_the_papers_data_has_every_count():
    for datasets in (DATASETS, DETECTION):
        table = cards.published(datasets)
        for facts in datasets.values():
            assert all(f"{count:,}" in table for part in facts.counts.values() for count in part.values())

"""What the owners and the papers say about the data sets: where each is published, its folder, its splits and counts.

Nothing here reads a file; :func:`ranklab.datasets.check` compares these numbers with what lies on a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["DETECTION", "PUBLISHED", "Published"]

INAT_LISTS = "https://drive.google.com/file/d/1sXfkBTFDrRU3__-NUs1qBP3sf_0uMB98/view"
RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "species")


@dataclass(frozen=True)
class Published:
    """One data set, as published.

    ``folders`` are the names its folder may have, the usual one first; ``levels`` those of the labels from root to
    leaf; ``splits`` the parts of the owner's lists that make each split; ``counts[part]`` has images and classes of a
    level, where published, and ``counted_by`` who printed them. With ``separate_gallery`` open the splits "query" and
    "gallery"; ``benchmarks`` are levels that have their own queries and gallery.
    """

    name: str
    title: str
    url: str
    folders: tuple[str, ...]
    levels: tuple[str, ...]
    splits: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    counted_by: str = ""
    separate_gallery: bool = False
    benchmarks: tuple[str, ...] = ()

    def where(self) -> str:
        """One sentence on where the data come from."""
        return (
            f"{self.title} is published by its owner at {self.url}" if self.url else f"{self.title} needs no download"
        )


_TWO = {"train": ("train",), "test": ("test",)}
_GALLERY = {"train": ("train",), "query": ("query",), "gallery": ("gallery",), "test": ("query", "gallery")}


def _inaturalist(
    name: str, title: str, levels: tuple[str, ...], train: dict[str, int], more: dict[str, int]
) -> Published:
    """iNaturalist 2018 with one of its two hierarchies."""
    return Published(
        name,
        title,
        "https://github.com/visipedia/inat_comp/tree/master/2018",
        ("inaturalist_2018", "iNaturalist_2018", "iNaturalist2018", "Inaturalist", "inaturalist", "iNaturalist"),
        levels,
        _TWO,
        {"train": {"images": 325_846, **train}, "test": {"images": 136_093, **more}},
        "HAPPIER's released configuration (train); the test is what it leaves of the owner's counts",
    )


def _dyml(kind: str, classes: tuple[int, int, int]) -> Published:
    """One of the three sets of Dynamic Metric Learning."""
    levels = ("coarse", "middle", "fine")
    apart = kind != "product"
    return Published(
        f"dyml_{kind}",
        f"DyML-{kind.title()}",
        "https://github.com/SupetZYK/DynamicMetricLearning",
        (f"dyml_{kind}", f"DyML-{kind}", f"DyML-{kind.title()}", f"DyML_{kind}"),
        levels,
        _GALLERY if apart else _TWO,
        {"train": dict(zip(levels, classes, strict=True))},
        "HAPPIER's released configuration",
        separate_gallery=apart,
        benchmarks=levels if apart else (),
    )


_ALL = (
    Published(
        "glyphs",
        "UnicodeGlyphs",
        "",
        (),
        ("script", "base letter", "character"),
        {split: (split,) for split in ("train", "test", "all", "pretrain", "fit", "val", "held_out")},
    ),
    Published(
        "cub",
        "CUB-200-2011",
        "https://www.vision.caltech.edu/datasets/cub_200_2011/",
        ("CUB_200_2011",),
        ("species",),
        _TWO,
        {"train": {"images": 5_864, "species": 100}, "test": {"images": 5_924, "species": 100}},
        "RaMBO, Sec. 5.1",
    ),
    Published(
        "sop",
        "Stanford Online Products",
        "https://cvgl.stanford.edu/projects/lifted_struct/",
        ("Stanford_Online_Products",),
        ("super-class", "product"),
        _TWO,
        {
            "train": {"images": 59_551, "product": 11_318},
            "test": {"images": 60_502, "product": 11_316},
            "all": {"super-class": 12},
        },
        "RaMBO, Sec. 5.1",
    ),
    Published(
        "inshop",
        "In-shop Clothes Retrieval",
        "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html",
        ("In-shop Clothes Retrieval Benchmark", "In-shop", "InShop", "inshop", "in-shop"),
        ("category", "item"),
        _GALLERY,
        {
            "train": {"images": 25_882, "item": 3_997},
            "query": {"images": 14_218, "item": 3_985},
            "gallery": {"images": 12_612, "item": 3_985},
            "all": {"category": 23},
        },
        "RaMBO, Sec. 5.1",
        separate_gallery=True,
    ),
    _inaturalist(
        "inat_base",
        "iNaturalist 2018, two levels",
        ("super-category", "species"),
        {"super-category": 13, "species": 5_690},
        {"species": 2_452},
    ),
    _inaturalist(
        "inat_full",
        "iNaturalist 2018, seven levels",
        RANKS,
        dict(zip(RANKS, (5, 23, 54, 249, 961, 3_438, 5_690), strict=True)),
        {"species": 2_452},
    ),
    _dyml("vehicle", (5, 93, 39_491)),
    _dyml("animal", (5, 28, 495)),
    _dyml("product", (36, 171, 1_639)),
)

#: All data sets for retrieval that have a name, the default first.
PUBLISHED: dict[str, Published] = {entry.name: entry for entry in _ALL}

_DETECTION = (
    Published("scenes", "Scenes", "", (), ("character",), {"train": ("train",), "test": ("test",)}),
    Published(
        "voc",
        "Pascal VOC",
        "http://host.robots.ox.ac.uk/pascal/VOC/",
        ("VOCdevkit",),
        ("class",),
        {"train": ("2007 trainval", "2012 trainval"), "test": ("2007 test",)},
        {
            "2007 trainval": {"images": 5_011, "objects": 12_608, "classes": 20},
            "2007 test": {"images": 4_952, "objects": 12_032, "classes": 20},
            "2012 trainval": {"images": 11_540, "objects": 27_450, "classes": 20},
        },
        "the owner's development kits of 2007 and 2012, Table 1; the test is what trainval leaves of 9,963 images and "
        "24,640 objects; objects without difficult ones",
    ),
)

#: All data sets for object detection, the default first.
DETECTION: dict[str, Published] = {entry.name: entry for entry in _DETECTION}

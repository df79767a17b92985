"""What the owners and the papers say about the data sets: where each is published, its folder, its splits and counts.

Nothing here reads a file; :func:`ranklab.datasets.check` compares these numbers with what lies on a disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["DETECTION", "PUBLISHED", "Published"]

INAT_LISTS = "https://drive.google.com/file/d/1sXfkBTFDrRU3__-NUs1qBP3sf_0uMB98/view"
RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "species")
DYML = ("vehicle", "animal", "product")
TWO = {"train": ("train",), "test": ("test",)}
GALLERY = {"train": ("train",), "query": ("query",), "gallery": ("gallery",), "test": ("query", "gallery")}
RAMBO = "RaMBO, Sec. 5.1"


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


def _glyphs() -> Published:
    splits = {split: (split,) for split in ("train", "test", "all", "pretrain", "fit", "val", "held_out")}
    return Published("glyphs", "UnicodeGlyphs", "", (), ("script", "base letter", "character"), splits)


def _cub() -> Published:
    url = "https://www.vision.caltech.edu/datasets/cub_200_2011/"
    counts = {"train": {"images": 5_864, "species": 100}, "test": {"images": 5_924, "species": 100}}
    return Published("cub", "CUB-200-2011", url, ("CUB_200_2011",), ("species",), TWO, counts, RAMBO)


def _sop() -> Published:
    folder, title = "Stanford_Online_Products", "Stanford Online Products"
    url, levels = "https://cvgl.stanford.edu/projects/lifted_struct/", ("super-class", "product")
    counts = {"train": {"images": 59_551, "product": 11_318}, "test": {"images": 60_502, "product": 11_316}}
    return Published("sop", title, url, (folder,), levels, TWO, counts | {"all": {"super-class": 12}}, RAMBO)


def _inshop() -> Published:
    folders = ("In-shop Clothes Retrieval Benchmark", "In-shop", "InShop", "inshop", "in-shop")
    title, levels = "In-shop Clothes Retrieval", ("category", "item")
    url = "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html"
    counts = {"train": (25_882, 3_997), "query": (14_218, 3_985), "gallery": (12_612, 3_985)}
    counted = {part: {"images": images, "item": items} for part, (images, items) in counts.items()}
    counted["all"] = {"category": 23}
    return Published("inshop", title, url, folders, levels, GALLERY, counted, RAMBO, separate_gallery=True)


def _inaturalist(kind: str, how_many: str, levels: tuple[str, ...], classes: tuple[int, ...]) -> Published:
    """iNaturalist 2018 with one of its two hierarchies; the classes are those of the training."""
    names = ("inaturalist_2018", "iNaturalist_2018", "iNaturalist2018", "Inaturalist", "inaturalist", "iNaturalist")
    train = {"images": 325_846, **dict(zip(levels, classes, strict=True))}
    counts = {"train": train, "test": {"images": 136_093, "species": 2_452}}
    by = "HAPPIER's released configuration (train); the test is what it leaves of the owner's counts"
    url, title = "https://github.com/visipedia/inat_comp/tree/master/2018", f"iNaturalist 2018, {how_many} levels"
    return Published(f"inat_{kind}", title, url, names, levels, TWO, counts, by)


def _dyml(kind: str, classes: tuple[int, int, int]) -> Published:
    """One of the three sets of Dynamic Metric Learning."""
    levels, title, apart = ("coarse", "middle", "fine"), f"DyML-{kind.title()}", kind != "product"
    folders = (f"dyml_{kind}", f"DyML-{kind}", title, f"DyML_{kind}")
    url, by = "https://github.com/SupetZYK/DynamicMetricLearning", "HAPPIER's released configuration"
    counts = {"train": dict(zip(levels, classes, strict=True))}
    splits, benchmarks = (GALLERY, levels) if apart else (TWO, ())
    return Published(f"dyml_{kind}", title, url, folders, levels, splits, counts, by, apart, benchmarks)


def _voc() -> Published:
    parts = {"2007 trainval": (5_011, 12_608), "2007 test": (4_952, 12_032), "2012 trainval": (11_540, 27_450)}
    counts = {part: {"images": n, "objects": boxes, "classes": 20} for part, (n, boxes) in parts.items()}
    url, train = "http://host.robots.ox.ac.uk/pascal/VOC/", ("2007 trainval", "2012 trainval")
    splits = {"train": train, "test": ("2007 test",)}
    by = (
        "the owner's development kits of 2007 and 2012, Table 1; the test is what trainval leaves of 9,963 images and "
        "24,640 objects; objects without difficult ones"
    )
    return Published("voc", "Pascal VOC", url, ("VOCdevkit",), ("class",), splits, counts, by)


_RETRIEVAL = (
    *(_glyphs(), _cub(), _sop(), _inshop()),
    _inaturalist("base", "two", ("super-category", "species"), (13, 5_690)),
    _inaturalist("full", "seven", RANKS, (5, 23, 54, 249, 961, 3_438, 5_690)),
    _dyml("vehicle", (5, 93, 39_491)),
    _dyml("animal", (5, 28, 495)),
    _dyml("product", (36, 171, 1_639)),
)

#: All data sets for retrieval that have a name, the default first.
PUBLISHED: dict[str, Published] = {entry.name: entry for entry in _RETRIEVAL}

#: All data sets for object detection, the default first.
DETECTION: dict[str, Published] = {
    "scenes": Published("scenes", "Scenes", "", (), ("character",), TWO),
    "voc": _voc(),
}

"""What the owners and the papers say about the data sets: where each is published, its folder, its splits and counts.

Nothing here reads a file; :func:`rankedu_lab.datasets.check` compares these numbers with what lies on a disk.
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

    ``folder`` is the name of its folder; ``levels`` are those of the labels from root to leaf; ``splits`` the parts of
    the owner's lists that make each split; ``counts[part]`` has images and classes of a level, where published, and
    ``counted_by`` who printed them; ``benchmarks`` are levels that have their own queries and gallery.
    """

    name: str
    title: str
    url: str
    folder: str
    levels: tuple[str, ...]
    splits: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    counted_by: str = ""
    benchmarks: tuple[str, ...] = ()

    def where(self) -> str:
        """One sentence on where the data come from."""
        return f"{self.title} is published by its owner at {self.url}"


def _counts(*things: str, **parts: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """Of each part how many there are of some things."""
    return {part: dict(zip(things, numbers, strict=True)) for part, numbers in parts.items()}


def _cub() -> Published:
    url = "https://www.vision.caltech.edu/datasets/cub_200_2011/"
    counts = _counts("images", "species", train=(5_864, 100), test=(5_924, 100))
    return Published("cub", "CUB-200-2011", url, "CUB_200_2011", ("species",), TWO, counts, RAMBO)


def _sop() -> Published:
    title, url = "Stanford Online Products", "https://cvgl.stanford.edu/projects/lifted_struct/"
    counts = _counts("images", "product", train=(59_551, 11_318), test=(60_502, 11_316)) | {"all": {"super-class": 12}}
    return Published("sop", title, url, title.replace(" ", "_"), ("super-class", "product"), TWO, counts, RAMBO)


def _inshop() -> Published:
    url = "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html"
    parts = {"train": (25_882, 3_997), "query": (14_218, 3_985), "gallery": (12_612, 3_985)}
    counts, title = _counts("images", "item", **parts) | {"all": {"category": 23}}, "In-shop Clothes Retrieval"
    levels = ("category", "item")
    return Published("inshop", title, url, f"{title} Benchmark", levels, GALLERY, counts, RAMBO)


def _inaturalist(kind: str, how_many: str, levels: tuple[str, ...], classes: tuple[int, ...]) -> Published:
    """iNaturalist 2018 with one of its two hierarchies; the classes are those of the training."""
    counts = _counts("images", *levels, train=(325_846, *classes)) | _counts("images", "species", test=(136_093, 2_452))
    by = "HAPPIER's released configuration (train); the test is what it leaves of the owner's counts"
    url, title = "https://github.com/visipedia/inat_comp/tree/master/2018", f"iNaturalist 2018, {how_many} levels"
    return Published(f"inat_{kind}", title, url, "inaturalist_2018", levels, TWO, counts, by)


def _dyml(kind: str, classes: tuple[int, int, int]) -> Published:
    """One of the three sets of Dynamic Metric Learning."""
    name, levels = f"dyml_{kind}", ("coarse", "middle", "fine")
    url, by = "https://github.com/SupetZYK/DynamicMetricLearning", "HAPPIER's released configuration"
    splits, benchmarks = (TWO, ()) if kind == "product" else (GALLERY, levels)
    counts = _counts(*levels, train=classes)
    return Published(name, f"DyML-{kind.title()}", url, name, levels, splits, counts, by, benchmarks)


def _voc() -> Published:
    parts = {"2007 trainval": (5_011, 12_608), "2007 test": (4_952, 12_032), "2012 trainval": (11_540, 27_450)}
    counts = _counts("images", "objects", "classes", **{part: (*numbers, 20) for part, numbers in parts.items()})
    splits = {"train": ("2007 trainval", "2012 trainval"), "test": ("2007 test",)}
    by = (
        "the owner's development kits of 2007 and 2012, Table 1; the test is what trainval leaves of 9,963 images and "
        "24,640 objects; objects without difficult ones"
    )
    url = "http://host.robots.ox.ac.uk/pascal/VOC/"
    return Published("voc", "Pascal VOC", url, "VOCdevkit", ("class",), splits, counts, by)


_GLYPH_SPLITS = {split: (split,) for split in ("train", "test", "all", "pretrain", "fit", "val", "held_out")}
_RETRIEVAL = (
    Published("glyphs", "UnicodeGlyphs", "", "", ("script", "base letter", "character"), _GLYPH_SPLITS),
    *(_cub(), _sop(), _inshop()),
    _inaturalist("base", "two", ("super-category", "species"), (13, 5_690)),
    _inaturalist("full", "seven", RANKS, (5, 23, 54, 249, 961, 3_438, 5_690)),
    _dyml("vehicle", (5, 93, 39_491)),
    _dyml("animal", (5, 28, 495)),
    _dyml("product", (36, 171, 1_639)),
)

#: All data sets for retrieval that have a name, the default first.
PUBLISHED: dict[str, Published] = {entry.name: entry for entry in _RETRIEVAL}

#: All data sets for object detection, the default first.
DETECTION = {"scenes": Published("scenes", "Scenes", "", "", ("character",), TWO), "voc": _voc()}

"""Data sets: images, labels from root to leaf, and a split whose two sides share no class."""

from rankedu.datasets.augmentation import augment
from rankedu.datasets.checking import Report, check
from rankedu.datasets.cub import CUB200
from rankedu.datasets.dyml import DyML
from rankedu.datasets.files import ImageFiles
from rankedu.datasets.glyphs import UnicodeGlyphs
from rankedu.datasets.inaturalist import INaturalist2018
from rankedu.datasets.inshop import InShop
from rankedu.datasets.registry import DATASETS, open_dataset
from rankedu.datasets.sop import OnlineProducts

__all__ = [
    "CUB200",
    "DATASETS",
    "DyML",
    "INaturalist2018",
    "ImageFiles",
    "InShop",
    "OnlineProducts",
    "Report",
    "UnicodeGlyphs",
    "augment",
    "check",
    "open_dataset",
]

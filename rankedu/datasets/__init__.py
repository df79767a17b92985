"""Data sets: images with labels from root to leaf, split so that two sides share no class; and pictures with boxes."""

from rankedu.datasets.augmentation import augment
from rankedu.datasets.checking import Report, check
from rankedu.datasets.cub import CUB200
from rankedu.datasets.detection import open_detection
from rankedu.datasets.dyml import DyML
from rankedu.datasets.files import ImageFiles
from rankedu.datasets.glyphs import UnicodeGlyphs
from rankedu.datasets.inaturalist import INaturalist2018
from rankedu.datasets.inshop import InShop
from rankedu.datasets.published import DETECTION
from rankedu.datasets.registry import DATASETS, open_dataset
from rankedu.datasets.scenes import Scenes
from rankedu.datasets.sop import OnlineProducts
from rankedu.datasets.voc import VOC

__all__ = [
    "CUB200",
    "DATASETS",
    "DETECTION",
    "VOC",
    "DyML",
    "INaturalist2018",
    "ImageFiles",
    "InShop",
    "OnlineProducts",
    "Report",
    "Scenes",
    "UnicodeGlyphs",
    "augment",
    "check",
    "open_dataset",
    "open_detection",
]

"""Data sets: images with labels from root to leaf, split so that two sides share no class; and pictures with boxes."""

from rankedu.lab.datasets.augmentation import augment
from rankedu.lab.datasets.checking import Report, check
from rankedu.lab.datasets.cub import CUB200
from rankedu.lab.datasets.detection import open_detection
from rankedu.lab.datasets.dyml import DyML
from rankedu.lab.datasets.files import ImageFiles
from rankedu.lab.datasets.glyphs import UnicodeGlyphs
from rankedu.lab.datasets.inaturalist import INaturalist2018
from rankedu.lab.datasets.inshop import InShop
from rankedu.lab.datasets.published import DETECTION
from rankedu.lab.datasets.registry import DATASETS, open_dataset
from rankedu.lab.datasets.scenes import Scenes
from rankedu.lab.datasets.sop import OnlineProducts
from rankedu.lab.datasets.voc import VOC

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

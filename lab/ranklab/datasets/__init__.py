"""Data sets: images with labels from root to leaf, split so that two sides share no class; and pictures with boxes."""

from ranklab.datasets.augmentation import augment
from ranklab.datasets.checking import Report, check
from ranklab.datasets.detection import open_detection
from ranklab.datasets.files import ImageFiles
from ranklab.datasets.glyphs import UnicodeGlyphs
from ranklab.datasets.layouts import CUB200, DyML, INaturalist2018, InShop, OnlineProducts
from ranklab.datasets.published import DETECTION
from ranklab.datasets.registry import DATASETS, open_dataset
from ranklab.datasets.scenes import Scenes
from ranklab.datasets.voc import VOC

__all__ = ["CUB200", "DATASETS", "DETECTION", "VOC", "DyML", "INaturalist2018", "ImageFiles", "InShop"]
__all__ += ["OnlineProducts", "Report", "Scenes", "UnicodeGlyphs", "augment", "check", "open_dataset", "open_detection"]

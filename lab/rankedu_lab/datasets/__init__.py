"""Data sets: images with labels from root to leaf, split so that two sides share no class; and pictures with boxes."""

from rankedu_lab.datasets.augmentation import augment
from rankedu_lab.datasets.checking import Report, check
from rankedu_lab.datasets.files import ImageFiles
from rankedu_lab.datasets.glyphs import UnicodeGlyphs
from rankedu_lab.datasets.published import DETECTION
from rankedu_lab.datasets.registry import DATASETS, open_dataset, open_detection
from rankedu_lab.datasets.scenes import Scenes
from rankedu_lab.datasets.voc import VOC

__all__ = ["DATASETS", "DETECTION", "VOC", "ImageFiles", "Report", "Scenes", "UnicodeGlyphs"]
__all__ += ["augment", "check", "open_dataset", "open_detection"]

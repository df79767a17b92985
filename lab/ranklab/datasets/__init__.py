"""Data sets: images with labels from root to leaf, split so that two sides share no class; and pictures with boxes."""

from ranklab.datasets.augmentation import augment
from ranklab.datasets.checking import Report, check
from ranklab.datasets.files import ImageFiles
from ranklab.datasets.glyphs import UnicodeGlyphs
from ranklab.datasets.published import DETECTION
from ranklab.datasets.registry import DATASETS, open_dataset, open_detection
from ranklab.datasets.scenes import Scenes
from ranklab.datasets.voc import VOC

__all__ = ["DATASETS", "DETECTION", "VOC", "ImageFiles", "Report", "Scenes", "UnicodeGlyphs"]
__all__ += ["augment", "check", "open_dataset", "open_detection"]

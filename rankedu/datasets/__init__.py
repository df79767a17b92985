"""Data sets: images, labels from root to leaf, and a split whose two sides share no class."""

from rankedu.datasets.augmentation import augment
from rankedu.datasets.glyphs import UnicodeGlyphs

__all__ = ["UnicodeGlyphs", "augment"]

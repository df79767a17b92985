"""From pictures of your own to a network that is judged: what the command `rankedu train` does."""

from ranklab.experiments.own.reading import OwnPictures, Read, read
from ranklab.experiments.own.training import SETTINGS, train

__all__ = ["SETTINGS", "OwnPictures", "Read", "read", "train"]

"""Train a network on pictures of your own and evaluate it: the command `rankedu train`."""

from rankedu_lab.experiments.own.pictures import load_picture
from rankedu_lab.experiments.own.reading import OwnPictures, Read, read
from rankedu_lab.experiments.own.training import SETTINGS, claimed, settled, train

__all__ = ["SETTINGS", "OwnPictures", "Read", "claimed", "load_picture", "read", "settled", "train"]

"""Lets these tests import what they share with those of the library: `from drawn import random`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "library"))

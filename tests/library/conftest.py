"""Lets the tests of the library import what they share: `from drawn import random`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

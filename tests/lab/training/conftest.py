"""What several tests of training share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ranklab.datasets import UnicodeGlyphs

sys.path.insert(0, str(Path(__file__).parent))  # two_processes.py is a script, and read by its test, too


@pytest.fixture(scope="session")
def glyphs():
    """Pictures of 26 letters."""
    return UnicodeGlyphs("all", characters="ABDEFGHJKLMNPRSTabdeghkmnr")

"""What several parts of these tests share."""

import sys
from pathlib import Path

import pytest
import refusals

from ranklab.datasets import UnicodeGlyphs

sys.path.insert(0, str(Path(__file__).parents[1] / "library"))  # drawn.py is shared with the tests of the library


@pytest.fixture(scope="session")
def refused():
    """A function that makes calls, rows of (call, error, message), and holds each to its error, on one line or more."""
    return lambda rows: refusals.refused(*((call, error, f"(?s){message}") for call, error, message in rows))


@pytest.fixture(scope="session")
def glyphs():
    """Pictures of 26 letters."""
    return UnicodeGlyphs("all", characters="ABDEFGHJKLMNPRSTabdeghkmnr")

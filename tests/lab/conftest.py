"""What several parts of these tests share."""

import re
import sys
from pathlib import Path

import pytest

from ranklab.datasets import UnicodeGlyphs

sys.path.insert(0, str(Path(__file__).parents[1] / "library"))  # drawn.py is shared with the tests of the library


@pytest.fixture(scope="session")
def refused():
    """A function that makes calls, rows of (call, error, message), and holds each to its error."""

    def check(rows):
        for call, error, message in rows:
            said = "nothing"
            try:
                call()
            except error as found:
                said = str(found)
            assert re.search(message, said, re.DOTALL), f"said was {said!r} and not {message!r}"

    return check


@pytest.fixture(scope="session")
def glyphs():
    """Pictures of 26 letters."""
    return UnicodeGlyphs("all", characters="ABDEFGHJKLMNPRSTabdeghkmnr")

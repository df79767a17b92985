"""What several parts of these tests share."""

import drawn
import pytest

from rankedu_lab.datasets import UnicodeGlyphs


@pytest.fixture(scope="session")
def refused():
    """A function that makes calls, rows of (call, error, message), and holds each to its error, on one line or more."""
    return lambda rows: drawn.refused(*((call, error, f"(?s){message}") for call, error, message in rows))


@pytest.fixture(scope="session")
def glyphs():
    """Pictures of 26 letters."""
    return UnicodeGlyphs("all", characters="ABDEFGHJKLMNPRSTabdeghkmnr")

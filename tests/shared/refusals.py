"""What is refused, and what is said of it."""

import re


def refused(*rows):
    """Each row is a call, an error, and a pattern of what it says."""
    for call, error, message in rows:
        told = ""
        try:
            call()
        except error as refusal:
            told = str(refusal)
        assert re.search(message, told), f"expected {message}, got {told or 'no error'}"

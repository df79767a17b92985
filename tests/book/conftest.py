"""What the tests of figures read off what is drawn."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def lines() -> Callable[[Any], Mapping[str, np.ndarray]]:
    """The heights of every labelled line of some axes, by its label."""
    return lambda axes: {
        str(line.get_label()): np.asarray(line.get_ydata())
        for line in axes.lines
        if not str(line.get_label()).startswith("_")
    }

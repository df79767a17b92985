"""What several tests share."""

import gc
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book"))  # the package `tools` that makes the book lies there
sys.path.insert(0, str(ROOT / "tests" / "shared"))

# A first call imports, and a busy machine waits: how long an example took says nothing about it.
settings.register_profile("rankedu", deadline=None)
settings.load_profile("rankedu")

# What is imported and collected stays until the end; not to look through it for garbage again saves 8 % of the time.
gc.disable()

#: They fail a test, unless it expects them or filters them.
WARNINGS = ("rankers.NoStepWarning", "rankers.LongStepWarning", "losses.NoPositivesWarning")
WARNINGS += ("metrics.UndefinedMetricWarning", "hierarchy.FlatHierarchyWarning", "hierarchy.InvertedRelevanceWarning")


def pytest_configure(config: pytest.Config) -> None:
    """Not in `pyproject.toml`, for which pytest would import the library before its coverage is measured."""
    for name in WARNINGS:
        config.addinivalue_line("filterwarnings", f"error::rankedu.{name}")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()

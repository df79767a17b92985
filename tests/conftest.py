"""What several tests share."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book"))  # pairs.py and generate.py are scripts of the book, not part of the package

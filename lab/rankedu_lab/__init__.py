"""The experiments: data sets, networks, training, methods, and how runs are made and kept. A part of a checkout."""

from pathlib import Path

#: The folder of the repository.
CHECKOUT = Path(__file__).resolve().parents[2]

"""Run a command as it would run on a lesser processor: `python tests/elsewhere.py python -m pytest …`.

Torch, NumPy, oneDNN, MKL and OpenBLAS each choose their loops by what the processor can do, and so the order in which
they add. Here they use the oldest, so that a digit that hangs on the newest is found before a reader
finds it.
"""

import os
import sys

SWITCHES = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
SWITCHES |= {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem"}


def switches() -> dict[str, str]:
    """The environment variables; NumPy's names the features that are there, as it knows no word for all."""
    from numpy._core import _multiarray_umath as numpy_core

    there = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)]
    return SWITCHES | ({"NPY_DISABLE_CPU_FEATURES": " ".join(there)} if there else {})


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(f"name the command to run: {sys.argv[0]} python -m pytest tests")
    os.environ |= switches()
    os.execvp(sys.argv[1], sys.argv[1:])

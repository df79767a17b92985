"""Install the wheel alone into a new environment, with the versions of `constraints.txt`, and run `smoke.py` there.

`python .ci/release/install.py dist` takes the one wheel and the one sdist of that folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from contents import built

ROOT = Path(__file__).resolve().parents[2]


def main(folder: Path) -> None:
    """Check the files, then the wheel at work."""
    wheel, _ = built(folder)
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        venv.create(place, with_pip=True)
        python = str(Path(place) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "constraints.txt"]
        subprocess.run([*pip, str(wheel.resolve())], cwd=ROOT, check=True)
        print(f"installed into a new environment in {time.perf_counter() - started:.0f} s")
        # Isolated, and elsewhere: neither the checkout nor PYTHONPATH may lend it a module.
        smoke = str(Path(__file__).resolve().with_name("smoke.py"))
        done = subprocess.run([python, "-I", smoke], cwd=place)
        if done.returncode:
            raise SystemExit(done.returncode)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

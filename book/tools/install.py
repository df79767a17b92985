"""Install one extra of the package into an environment of its own: `python3 book/tools/install.py .venv book`.

Runs on a bare Python before anything is installed, also on one that is too old, and says what is wrong in one sentence.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: Bytes that an environment with everything takes, and a little more for what pip unpacks on the way.
NEEDED = 3000000000


def obstacles(folder):
    """What would make an installation fail: a sentence each, which ends with what to do."""
    found = []
    if sys.version_info < (3, 10):  # noqa: UP036 (this file is read by whatever Python there is)
        found.append(f"Python >= 3.10 is needed, this is {sys.version.split()[0]}: make … PYTHON=python3.12")
    if not (find_spec("venv") and find_spec("ensurepip")):
        found.append("this Python has no venv: apt-get install python3-venv, or install Python from python.org")
    free = shutil.disk_usage(ROOT).free
    if not os.path.exists(folder) and free < NEEDED:
        needed = f"up to {NEEDED / 1e9:.0f} GB are needed"
        found.append(f"{needed}, {free / 1e9:.1f} are free: delete something, or use another disk")
    return found


def install(folder, extra):
    """Make the environment if there is none, and install the package there with an extra; returns an exit status."""
    found = obstacles(folder)
    if found:
        sys.exit("\n".join(found))
    python = os.path.join(folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", folder])
    print(f"installing rankedu[{extra}] into {folder}; about two minutes and 2 GB the first time", flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    version = subprocess.check_output([python, "-m", "pip", "--version"], universal_newlines=True).split()[1]
    if int(version.split(".")[0]) < 22:  # it cannot install a checkout in place
        subprocess.call([*pip, "--upgrade", "pip"])
    # Without --no-compile pip would compile every module of every library; Python compiles those that are used.
    status = subprocess.call([*pip, "--no-compile", "-c", "constraints.txt", "-e", f".[{extra}]"], cwd=ROOT)
    if status:
        sys.stderr.write("Nothing was installed. The first time needs the network, or a mirror that pip knows.\n")
    return status


if __name__ == "__main__":
    sys.exit(install(*sys.argv[1:3]))

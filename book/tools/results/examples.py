"""Run the example scripts as a reader would, and keep what they print for the pages that show them.

`python book/tools examples` runs those that have changed since.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rankedu_lab.runs.results import write_json
from tools.closure import hashed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECORD = EXAMPLES / "recorded.json"
#: The commands for each script, in order; all run in one folder.
COMMANDS = {
    "draw_letters": [
        "python draw_letters.py",
        "rankedu train letters --steps 100",
        "head -n 24 letters-trained/card.md",
        "rankedu train letters --steps 100 --loss contrastive --out letters-contrastive",
    ],
    "in_plain_pytorch": ["python draw_letters.py", "python in_plain_pytorch.py"],
    "with_pytorch_metric_learning": ["python with_pytorch_metric_learning.py"],
    "with_sentence_transformers": ["python with_sentence_transformers.py"],
    "with_open_metric_learning": ["python with_open_metric_learning.py"],
    "with_a_memory": ["python with_a_memory.py", "rankedu evaluate embeddings.npy classes.csv"],
    "evaluate_a_dump": [
        "python evaluate_a_dump.py",
        "rankedu evaluate pixels.npy labels.csv --metrics ap,recall@1,h-ap --json result.json",
        "rankedu evaluate pixels.npy labels.csv --columns character --metrics map@r,r@1,r@10 --json -",
    ],
    "documents_for_a_query": ["python documents_for_a_query.py"],
    "texts_and_pictures": ["python texts_and_pictures.py"],
}


def fingerprint(name: str) -> str:
    """Return a hash of a script and of the commands that run it."""
    return hashed([EXAMPLES / f"{name}.py"], *COMMANDS[name], whole=True)


def run(name: str) -> str:
    """Return what a terminal shows after the commands of a script: each command and its output."""
    found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    printed = []
    with tempfile.TemporaryDirectory() as folder:
        for script in EXAMPLES.glob("*.py"):
            shutil.copy(script, folder)
        for command in COMMANDS[name]:
            surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": found}
            done = subprocess.run(command.split(), cwd=folder, env=surroundings, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{command}\n{done.stderr}")
            printed.append(f"$ {command}\n{done.stdout}")
    return "\n".join(printed)


def main() -> None:
    """Run the command line."""
    known = json.loads(RECORD.read_text(encoding="utf-8"))
    for name in COMMANDS:
        if known.get(name) != fingerprint(name):
            print(f"running {name} …", flush=True)
            (EXAMPLES / f"{name}.txt").write_text(run(name), encoding="utf-8")
            known[name] = fingerprint(name)
            write_json(RECORD, known)

"""Note which files of the repository a process reads; `pairs.execute` runs this file in every kernel that it starts.

A module that is imported is noted as the file in which its compiled form lies.
"""

import os
import sys


def _watch(root, note):
    lines = open(note, "a", encoding="utf-8", buffering=1)  # noqa: SIM115 (open as long as the process lives)
    writing = os.O_WRONLY | os.O_RDWR

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], str) and not arguments[2] & writing:
            path = os.path.realpath(arguments[0])
            if path.startswith(root):
                lines.write(path + "\n")

    sys.addaudithook(hook)


_watch(os.environ["RANKEDU_REPOSITORY_FOLDER"] + os.sep, os.environ["RANKEDU_OPENED"])

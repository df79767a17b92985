"""A fresh Python at once: `fresh.run([sys.executable, "-c", code, ...])` does what `subprocess.run` does with that.

To import torch takes two seconds. One process has imported it and NumPy, and has done nothing else; each run is a fork
of it, in which libraries don't listen again to `OMP_NUM_THREADS` and the like. Other commands, and systems other than
Linux, get `subprocess.run` itself. It stands in for that where it isn't the test that calls.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

PLAIN = subprocess.run


def run(command, *, cwd=None, env=None, check=False, timeout=None, **_):
    """As `subprocess.run`; what is said is always kept, as text."""
    if not sys.platform.startswith("linux") or command[:2] != [sys.executable, "-c"]:
        return PLAIN(command, cwd=cwd, env=env, check=check, timeout=timeout, capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as said:
        asked = [*map(str, command[2:])], str(cwd or os.getcwd()), dict(env or os.environ), said, timeout
        code = _ask(json.dumps(asked))
        out, err = (Path(said, name).read_text(encoding="utf-8") for name in ("out", "err"))
    done = subprocess.CompletedProcess(command, code, out, err)
    if check:
        done.check_returncode()
    return done


@cache
def _server() -> subprocess.Popen[str]:
    """It ends when its standard input does, with the tests."""
    command = [sys.executable, "-c", f"exec(compile(open({__file__!r}).read(), 'fresh', 'exec')); serve()"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(asked: str) -> int:
    server = _server()
    server.stdin.write(asked + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


def serve() -> None:
    import numpy  # noqa: F401
    import torch  # noqa: F401

    gc.freeze()
    libraries = sys.path[sys.path.index(os.path.dirname(os.__file__)) :]  # what stands behind PYTHONPATH
    for line in iter(sys.stdin.readline, ""):
        if not (child := os.fork()):
            return _begin(libraries, *json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _begin(libraries, arguments, cwd, env, said, timeout) -> None:
    """Be what was asked for: with these words, this folder these surroundings, for so long at most."""
    for number, name in enumerate((os.devnull, f"{said}/out", f"{said}/err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    signal.alarm(int(timeout or 300))
    code, *words = arguments
    sys.argv = ["-c", *words]
    sys.path[:] = ["", *filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *libraries]
    main = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), vars(main))

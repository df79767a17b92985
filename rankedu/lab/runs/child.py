"""The process of one run of a sweep: ``python -m rankedu.lab.runs.child``, told what to do on its standard input.

It ends when its standard input does, so that none is left behind by a worker that was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from rankedu.lab.runs import LabError, plan, run_lab
from rankedu.lab.runs.worker import FAILED, GRACE


def main() -> int:
    """Do the run; the exit code says how it went."""
    # jsonschema takes a second to read a grammar of web addresses that no notebook needs
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs in the background ignores it
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_follow, daemon=True).start()
    expected, timeout = Path(job.pop("folder")), job.pop("timeout")
    try:
        if plan(**job).folder != expected:
            raise ValueError(f"lab {job['lab']!r} has changed since the sweep began (start the sweep again)")
        run_lab(**job, timeout=timeout, progress=False)
    except LabError:
        return FAILED
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _follow() -> None:
    """Interrupt the run once standard input has ended, and end the process if that does not help."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(GRACE)
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())

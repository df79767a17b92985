"""Everything that makes the book: `python book/tools COMMAND …`, and `--help` after a command for what it takes.

build        bring the notebooks up to date and build the book
notebooks    check which notebooks are current, execute those that are not
works        write the bibliography as plain Markdown, for those who read the notebooks
copies       copy the notebooks to a folder of the reader's own
exercises    derive the starters from the chapters
examples     run the scripts of the page "Use it in your project" and keep what they print
timings      measure how long chapters and labs run
offline      the whole built book as PDF and as EPUB
figures      take the pictures of the figures to play with, for print and wherever no script runs
"""

import sys
from importlib import import_module
from pathlib import Path

BOOK = Path(__file__).resolve().parents[1]
COMMANDS = {
    "build": "site.build",
    "notebooks": "notebooks.pairs",
    "works": "site.works",
    "copies": "copies",
    "exercises": "notebooks.exercises",
    "examples": "results.examples",
    "timings": "results.timings",
    "offline": "site.offline",
    "figures": "site.figures",
}


def main() -> int:
    """Run the module of the command that was given."""
    command = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if command not in COMMANDS:
        print(__doc__)
        return int(command not in ("", "-h", "--help"))
    sys.path[0] = str(BOOK)  # so that `tools` is a package
    sys.argv[0] = f"{Path(sys.argv[0]).name} {command}"
    try:
        return import_module(f"tools.{COMMANDS[command]}").main() or 0
    except KeyboardInterrupt:
        print("\nInterrupted. What was done is kept: the same command goes on where it was.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

"""The command line, a file for each group of commands.

Commands import what they need when they run, so that `rankedu --help` answers at once.
"""

from rankedu.cli import book, claims, data, doctor, evaluate, labs, search
from rankedu.cli._app import app

__all__ = ["app", "book", "claims", "data", "doctor", "evaluate", "labs", "search"]

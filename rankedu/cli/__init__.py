"""The command line: `doctor`, `evaluate`, and in a checkout the commands of the labs and of the book.

Commands import what they need when they run, so that `rankedu --help` answers at once.
"""

import importlib.util
import sys
from typing import Annotated

import typer

from rankedu.cli import doctor, evaluate

__all__ = ["app", "doctor", "evaluate"]

#: Package of the repository → the commands that its module `cli` adds.
PACKAGES = {
    "rankedu_lab": ("train", "run", "sweep", "results", "search", "data"),
    "rankedu_book": ("figures",),
}
_THERE = [package for package in PACKAGES if importlib.util.find_spec(package)]
_MISSING = [name for package, names in PACKAGES.items() if package not in _THERE for name in names]

app = typer.Typer(
    name="rankedu",
    help="Train and evaluate on ranking metrics, with the tools of the book.",
    epilog=f"A checkout of the repository has more commands: {', '.join(_MISSING)}." if _MISSING else None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the other help shows flags as if they took a value
)


def _version(wanted: bool) -> None:
    if wanted:
        from rankedu import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Train and evaluate on ranking metrics, with the tools of the book."""


def _refuse(context: typer.Context) -> None:
    """Take the place of a command that is only in a checkout."""
    where = "in a checkout of the repository (install it there: pip install -e '.[lab]')"
    print(f"rankedu {context.info_name}: this command works {where}", file=sys.stderr)
    raise typer.Exit(code=2)


app.command()(doctor.doctor)
app.command()(evaluate.evaluate)
for _package in _THERE:
    importlib.import_module(f"{_package}.cli").add_to(app)
for _name in _MISSING:
    _anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(_name, hidden=True, add_help_option=False, context_settings=_anything)(_refuse)

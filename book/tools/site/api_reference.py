"""The API reference, with a page per package made from its public names, and a Sphinx extension for its docstrings.

A name is in the reference if it is in the `__all__` of its package, or of a public module of the package.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import typer
from sphinx.util.nodes import make_refnode
from typer.cli import get_docs_for_click

from rankedu.cli import app

#: Docstrings before napoleon changed them, by the names of their objects.
WRITTEN: dict[str, list[str]] = {}
#: A class shows its own members and those of our private base classes.
MEMBERS = ["   :members:", "   :inherited-members: Module, Sampler, Mapping, tuple, BaseException, object"]


class Page(NamedTuple):
    """A page of the reference: its packages, and then modules that a reader may need."""

    title: str
    modules: tuple[str, ...]


PROOFS = tuple(f"rankedu.proofs.{name}" for name in importlib.import_module("rankedu.proofs").__all__)
DATASETS = tuple(f"rankedu_lab.datasets.{name}" for name in ("files", "published", "rendering", "transforms"))
TRAINING = tuple(f"rankedu_lab.training.{name}" for name in ("distributed", "large_batch", "loading", "retrieval"))
RUNS = tuple(f"rankedu_lab.runs.{name}" for name in ("sweeps", "search", "records", "tables"))
EXPERIMENTS = tuple(
    f"rankedu_lab.experiments.{name}"
    for name in ("retrieval", "hierarchical_retrieval", "detection", "minibatch_statistics", "sodeep")
)
#: The pages in their order, by the name of the file.
PAGES = {
    "ranks": Page("Ranks", ("rankedu",)),
    "blackbox": Page("Blackbox differentiation", ("rankedu.blackbox",)),
    "rankers": Page("Rankers", ("rankedu.rankers",)),
    "hierarchy": Page("Hierarchies", ("rankedu.hierarchy", "rankedu.labels")),
    "metrics": Page("Metrics", ("rankedu.metrics", "rankedu.metrics.names")),
    "losses": Page("Losses", ("rankedu.losses",)),
    "memory": Page("Memories", ("rankedu.memory",)),
    "proofs": Page("Proofs", ("rankedu.proofs", *PROOFS)),
    "checks": Page("Checks, files and extras", ("rankedu.checks", "rankedu.files", "rankedu.extras")),
    "contestants": Page("Contestants", ("rankedu_lab.contestants",)),
    "detections": Page("Detections", ("rankedu_lab.detections",)),
    "datasets": Page("Data sets", ("rankedu_lab.datasets", *DATASETS)),
    "models": Page("Models", ("rankedu_lab.models",)),
    "training": Page("Training", ("rankedu_lab.training", *TRAINING)),
    "labs": Page("Labs", ("rankedu_lab.runs", *RUNS, "rankedu_lab.methods", *EXPERIMENTS)),
    "solvers": Page("Solvers", ("rankedu_book.kit.solvers",)),
    "landscapes": Page("Landscapes", ("rankedu_book.kit.landscapes",)),
    "exercises": Page("Exercises", ("rankedu_book.kit.check",)),
}


def write_pages(folder: Path) -> None:
    """Write all pages of the reference except its front page, which is written by hand."""
    for name, page in PAGES.items():
        sections = [section(module, first=not at) for at, module in enumerate(page.modules)]
        text = f"(api-{name})=\n# {page.title}\n\n" + "\n".join(sections)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "cli.md").write_text(command_line(), encoding="utf-8")


def public(module: str) -> dict[str, Any]:
    """Return the public names of a module, without modules and without names that its package offers."""
    found = importlib.import_module(module)
    names = [name for name in getattr(found, "__all__", ()) if not name.startswith("__")]
    offered = {name: value for name in names if not inspect.ismodule(value := getattr(found, name))}
    if module.count(".") < 2 or hasattr(found, "__path__"):
        return offered
    above = importlib.import_module(module.rpartition(".")[0])
    own = {name for name, value in offered.items() if getattr(value, "__module__", module) == module}
    return {name: value for name, value in offered.items() if name in own and getattr(above, name, None) is not value}


def section(module: str, *, first: bool) -> str:
    """Return the section of a module: its docstring, a table of its names, and each of these."""
    names = public(module)
    lines = [] if first else [f"## {module.partition('.')[2]}", ""]
    lines += ["```{eval-rst}", f".. automodule:: {module}", "   :no-members:", "", f".. currentmodule:: {module}", ""]
    listed = [name for name, value in names.items() if kind(value) != "data"]
    if listed:
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in listed), ""]
    for name, value in names.items():
        lines += constant(module, name) if kind(value) == "data" else [f".. auto{kind(value)}:: {name}"]
        lines += [*(MEMBERS if inspect.isclass(value) else []), ""]
    return "\n".join([*lines, "```", ""])


def constant(module: str, name: str) -> list[str]:
    """Return a constant with its `#:` comment, wherever in the package it is defined."""
    found = importlib.import_module(module)
    head, value = Path(str(found.__file__)), repr(getattr(found, name))
    lines = [f".. py:data:: {name}", *([f"   :value: {value}"] if len(value) < 80 and "<" not in value else []), ""]
    for path in [head, *sorted(head.parent.glob("*.py"))] if head.stem == "__init__" else [head]:
        comment = re.search(rf"((?:^#:.*\n)+){name}\b[^\n]*=", path.read_text(encoding="utf-8"), re.MULTILINE)
        if comment:
            return lines + [f"   {line.removeprefix('#:').strip()}" for line in comment[1].splitlines()]
    return lines


def kind(value: Any) -> str:
    """Return the name of autodoc's directive for an object."""
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"


def command_line() -> str:
    """Return the page of the commands, which typer makes from their help texts."""
    command = typer.main.get_command(app)
    page = get_docs_for_click(obj=command, ctx=typer.Context(command), name="rankedu", title="Command line")
    return f"(api-cli)=\n{page}\n"


def prepare(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn chapters in "Explained in chapters 4 and 12" into links, before napoleon reads the lines."""
    text = re.sub(r"(?<=chapter )\d+|(?<=chapters )\d+(?:, \d+)*,? (?:and|to) \d+", linked, "\n".join(lines))
    text = re.sub(r"^(\s*)([A-Za-z])\. ", r"\1\\\2. ", text, flags=re.MULTILINE)  # "L. Default: 1" begins no list
    lines[:] = text.split("\n")
    WRITTEN[name] = list(lines)


def linked(numbers: re.Match[str]) -> str:
    """Turn each number into a reference to its chapter."""
    return re.sub(r"\d+", lambda m: f":ref:`{m[0]} <ch-{int(m[0]):02d}>`", numbers[0])


def restore(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Restore an attribute's docstring, in which napoleon takes the words before a colon for a type."""
    if what in ("attribute", "data", "property"):
        lines[:] = WRITTEN[name]


def find_in_package(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Find a name that a module uses and its package offers, such as `find_labs` in `rankedu_lab.runs.folders`."""
    module, domain = node.get("py:module") or "", env.get_domain("py")
    name = f"{module.rpartition('.')[0]}.{node.get('reftarget', '')}"
    if not module.startswith(("rankedu.", "rankedu_lab.", "rankedu_book.")) or name not in domain.objects:
        return None
    found = domain.objects[name]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, name)


def skip(app: Any, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Skip methods that work in place, such as `step_`, because they only exist for speed."""
    return True if name.endswith("_") else None


def setup(app: Any) -> dict[str, bool]:
    """Connect the hooks; autodoc is loaded before."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", find_in_package)
    return {"parallel_read_safe": True}

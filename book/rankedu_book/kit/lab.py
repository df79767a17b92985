"""What the notebook of a lab starts from: parameters that are checked, and a folder for what the run leaves behind."""

import ast
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_book.kit.figures import show
from rankedu_book.kit.predict import predict
from rankedu_lab.runs.parameters import check_parameters, declared_in, find_lab, find_labs, read_parameters
from rankedu_lab.runs.results import choose_folder, save_result
from rankedu_lab.runs.runner import check_names

__all__ = ["Lab", "begin", "predict"]

#: Endings of the files that a run keeps.
KEPT = {".json", ".npz", ".png", ".pt", ".svg"}


@dataclass(frozen=True)
class Lab:
    """One run of a lab."""

    name: str
    parameters: dict[str, Any]  #: a value for every parameter
    folder: Path  #: where figures, weights and the result go

    def say(self, *sentences: str) -> None:
        """Show sentences as text, each a paragraph, so that a number stands beside the cell that computed it."""
        from IPython.display import Markdown, display

        display(Markdown("\n\n".join(sentences)))

    def show(self, figure: Figure, name: str, text: str = "") -> None:
        """Show a figure, and keep it as `<name>.png` in the folder of the run."""
        show(figure, text)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.png").write_bytes(style.png(figure))

    def save(self, outcome: Any = None, **result: Any) -> None:
        """Save metrics and rows as :func:`rankedu_lab.runs.save_result` does, and say where they are.

        The outcome of a training adds its notes and evidence, and gives up its checkpoint.
        """
        told = {} if outcome is None else {"notes": "; ".join(outcome.notes), "evidence": outcome.evidence}
        save_result({"lab": self.name, "parameters": self.parameters, **told, **result}, folder=self.folder)
        if outcome is not None:
            outcome.close()
        files = sorted(path.name for path in self.folder.iterdir() if path.suffix in KEPT)
        self.say(f"This run saved {', '.join(f'`{name}`' for name in files)} in {_called(self.folder)}.")


def begin(name: str, given: Mapping[str, Any]) -> Lab:
    """Check the parameters of a lab's notebook, whose variables are given, and choose the folder of the run.

    papermill only warns of a parameter that a notebook does not have. Here it is a ValueError, as is the name of an
    unknown loss, data set or network; a parameter of another type than its default is a TypeError.
    """
    own = [source for source in given.get("In", ()) if re.match(r"\w+: [\w\[\]]+ = ", source)]  # a copy may have more
    declared = declared_in(own[-1], name) if own else read_parameters(find_lab(name, find_labs()))
    names = {*declared, *_injected(given.get("In", ()))} - {"PAPERMILL_INPUT_PATH", "PAPERMILL_OUTPUT_PATH"}
    parameters = check_parameters({one: given[one] for one in names if one in given}, declared, lab=name)
    check_names(name, parameters)
    return Lab(name, parameters, choose_folder(name, parameters))


def _injected(cells: Any) -> set[str]:
    """The names that papermill has set, from the sources of the cells that have run."""
    injected = [ast.parse(source) for source in cells if source.startswith("# Parameters\n")]
    lines = [line for tree in injected for line in tree.body if isinstance(line, ast.Assign)]
    return {ast.unparse(target) for line in lines for target in line.targets}


def _called(folder: Path) -> str:
    """A folder as seen from the notebook; one elsewhere by its name alone, because a saved page travels."""
    path = Path(os.path.relpath(folder))
    if path == Path():
        return "its folder"
    return f"`{folder.resolve().name if path.parts[0] == '..' else path.as_posix()}/`"

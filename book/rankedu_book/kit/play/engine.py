"""The one file that a page loads at the first click: Brython, the definitions of the exercises, and what runs them.

A page from the disk may fetch nothing and may load no module, but it may load a script. So the worker's whole text is a
string in a script, from which the page makes the worker.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import brython  # type: ignore[import-untyped]
import numpy as np

from rankedu import reference
from rankedu_book.kit.check import compare, find, names, wording
from rankedu_book.kit.check.spec import Exercise

HERE = Path(__file__).parent
PAGE = HERE / "page"


def in_page(exercise: Exercise) -> bool:
    """Whether an exercise is plain Python: numbers and lists go in, and what comes out is compared as it is."""
    given = (np.ndarray, np.generic, list, bool, int, float)
    plain = all(isinstance(value, given) for case in exercise.cases() for value in case.values())
    return plain and exercise.judge is None and exercise.use is None


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def definition(exercise: Exercise) -> str:
    """Inputs, right values and, for each known mistake, its values and its name, as one expression of Python."""
    cases = [{key: _plain(value) for key, value in case.items()} for case in exercise.cases()]
    rights = [_listed(exercise.right(case)) for case in exercise.cases()]
    mistakes = []
    for function, hint in exercise.mistakes:
        values = []
        for case in exercise.cases():
            try:
                with np.errstate(all="ignore"):
                    values.append(_listed(function(*case.values())))
            except Exception:  # this mistake can't be made on this input
                values.append("")
        mistakes.append((values, hint))
    return repr((cases, rights, mistakes))


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, (list, tuple)) else _plain(value)


def _brython(name: str) -> str:
    """A file of Brython, whose licence (BSD) its own text names."""
    return (Path(str(brython.__file__)).parent / "data" / name).read_text(encoding="utf-8")


def _library() -> dict[str, list[Any]]:
    """The modules that the worker can import, in the form in which Brython keeps them; packages are empty."""
    text = _brython("brython_stdlib.js")
    standard = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    packages = ("rankedu", "rankedu_book", "rankedu_book.kit", "rankedu_book.kit.check")
    found: dict[str, list[Any]] = {name: standard[name] for name in ("math", "itertools", "operator")}
    found["typing"] = [".py", "Any = None", []]
    found |= {name: [".py", "", [], 1] for name in packages}
    for module in (reference, compare, wording):
        found[module.__name__] = [".py", inspect.getsource(module), []]
    return found


def script() -> str:
    """The file: the worker's text, and for each exercise in the page its definition and its hints."""
    worker = (HERE / "worker.js").read_text(encoding="utf-8")
    run = (HERE / "worker.py").read_text(encoding="utf-8")
    text = 'var __BRYTHON__ = { brython_path: "http://book/" };\n' + _brython("brython.js") + "\n;"
    text += worker.replace("LIBRARY", json.dumps(_library())).replace("PROGRAM", json.dumps(run))
    exercises = {}
    for name in names():
        exercise = find(name)
        if in_page(exercise):
            exercises[name] = {"python": definition(exercise), "hints": hints(exercise)}
    told = json.dumps({"worker": text, "exercises": exercises}, ensure_ascii=False)
    return f"window.play = {told};\n" + (HERE / "runner.js").read_text(encoding="utf-8")


def hints(exercise: Exercise) -> list[str]:
    """What is asked, then the value of the first input, then the known mistakes."""
    case = exercise.cases()[0]
    value = wording.show_value(exercise.right(case))
    first = f"For {wording.show_case(case)} the right value is {value}."
    return [exercise.statement, first, *(f"A known mistake: one {hint}." for _, hint in exercise.mistakes)]

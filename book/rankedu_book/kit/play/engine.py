"""The one file that a page loads at the first click: Brython, the definitions of the exercises, and what runs them.

A page from the disk may fetch nothing and may load no module, but it may load a script. So the worker's whole text is a
string in a script, from which the page makes the worker.
"""

import ast
import copy
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brython  # type: ignore[import-untyped]
import numpy as np

from rankedu import reference
from rankedu_book.kit.check import compare, find, names, wording
from rankedu_book.kit.check.running import value_of
from rankedu_book.kit.check.spec import Exercise

HERE = Path(__file__).parent
PAGE = HERE / "page"


def in_page(exercise: Exercise) -> bool:
    """Whether an exercise is plain Python: what goes in, what is compared, and what judges it."""
    given = (np.ndarray, np.generic, list, bool, int, float)
    values = [value for case in exercise.cases() for value in case.values()]
    functions = [value for value in values if not isinstance(value, given)] + [exercise.judge, exercise.use]
    return all(function is None or hasattr(function, "plain") for function in functions)


def definition(exercise: Exercise) -> str:
    """Python that defines an exercise: its functions, and `exercise` with inputs, right values and known mistakes.

    A mistake is given by its values and its name.
    """
    functions: dict[str, Callable[..., Any]] = {}

    def text(value: Any) -> str:
        if callable(value):
            functions[value.__name__] = value
            return value.__name__
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {text(one)}" for key, one in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        return text(value.tolist()) if hasattr(value, "tolist") else repr(value)

    mistakes = []
    for function, hint in exercise.mistakes:
        values = []
        for case in exercise.cases():
            try:
                values.append(value_of(exercise, function, copy.deepcopy(case)))
            except Exception:  # this mistake can't be made on this input
                values.append("")
        mistakes.append((values, hint))
    rights = [exercise.right(case) for case in exercise.cases()]
    found = [text(part) for part in (exercise.cases(), rights, mistakes, exercise.judge, exercise.use)]
    sources = [ast.unparse(ast.parse(inspect.getsource(one))).removeprefix("@plain\n") for one in functions.values()]
    return "\n".join([*sources, f"exercise = {', '.join(found)}"])


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
    """What is asked, the value of the first input where there is only one, and the known mistakes."""
    case, mistakes = exercise.cases()[0], [f"A known mistake: one {hint}." for _, hint in exercise.mistakes]
    value = wording.show_value(exercise.right(case))
    first = f"For {wording.show_case(case)} the right value is {value}."
    return [exercise.statement, *([first] if exercise.judge is None else []), *mistakes]

"""What the worker of a page runs: a reader's code, and `check` on the inputs of an exercise."""
# mypy: ignore-errors

import math

import browser

from rankedu import reference
from rankedu_book.kit.check.compare import difference, numbers
from rankedu_book.kit.check.wording import changed, known, plain, show_case, told, unfinished


class Outcome:
    """What became of one input."""

    def __init__(self, case, value=None, problem=None, stopped=False, raised=False):
        self.case, self.value, self.problem, self.stopped, self.raised = case, value, problem, stopped, raised


def said(error):
    """An exception in words, with the line of the reader's code that raised it."""
    line, at = getattr(error, "lineno", None), error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == "<string>":
            line = at.tb_lineno
        at = at.tb_next
    name, text = type(error).__name__, plain(str(error))
    if name == "ModuleNotFoundError":
        text += ". This page has math, itertools and rankedu.reference; the notebook has NumPy and PyTorch"
    if name == "JavascriptError":
        name, text = "SyntaxError", "the Python of this page cannot read this: inputs are lists, without [:, None]"
    return (f"{name}: {text}" if text else name) + (f" (line {line})" if line else "")


def tried(answer, case, right, judge, use, printed):
    """Run the reader's function on one input."""
    given = {key: copied(value) for key, value in case.items()}
    del printed[:]

    def something(*inputs):
        value = answer(*inputs)
        if value is None or value is ...:
            raise NotImplementedError
        return value

    try:
        value = use(something, *given.values()) if use else something(*given.values())
        problem = judge(case, value) if judge else difference(right, value)
    except NotImplementedError:
        return Outcome(case, problem=unfinished(case, bool(printed)), stopped=True)
    except BaseException as error:
        return Outcome(
            case, problem=f"for {show_case(case)} your function raised {said(error)}.", stopped=True, raised=True
        )
    for key, now in given.items():
        if now != case[key]:
            return Outcome(case, problem=changed(key, case), stopped=True)
    return Outcome(case, value, problem)


#: The definitions that have been run, by their texts.
defined = {}


def copied(value):
    return [copied(one) for one in value] if isinstance(value, list) else value


def run(code, earlier, exercise):
    """Run the code, after what the reader wrote earlier on the page: the verdict, and what to say."""
    printed, answers = [], []

    def show(*values, sep=" ", end="\n"):
        printed.append(sep.join([str(value) for value in values]) + end)

    scope = {"__name__": "__main__", "print": show, "check": lambda name, answer: answers.append((name, answer))}
    for text in earlier:
        try:
            exec(text, scope)
        except BaseException:  # its own box says so
            continue
    del answers[:], printed[:]
    try:
        exec(code, scope)
    except BaseException as error:
        return "error", "".join(printed) + said(error)
    if not exercise:
        return "right", "".join(printed)
    if not answers or not callable(answers[-1][1]):
        return "error", "Keep the last line, which hands your function to check, without calling it."
    name, answer = answers[-1]
    if exercise not in defined:
        known_names = {"math": math, "reference": reference, "numbers": numbers, "nan": math.nan, "inf": math.inf}
        exec(exercise, known_names)
        defined[exercise] = known_names["exercise"]
    cases, rights, mistakes, judge, use = defined[exercise]
    outcomes = [tried(answer, case, right, judge, use, printed) for case, right in zip(cases, rights)]  # noqa: B905
    tables = [(values.__getitem__, hint) for values, hint in mistakes]
    passed, message, hint = told(outcomes, lambda: known(outcomes, tables))
    wrong = [one for one in outcomes if one.problem]
    verdict = "right" if passed else "error" if wrong[0].raised else "wrong"
    return verdict, f"{'✓' if passed else '✗'} {name}: {message}" + (f"\n{hint}" if hint else "")


def answer(code, earlier, exercise):
    verdict, text = run(code, eval(earlier), exercise)
    return verdict + "\n" + text


browser.self.answer = answer

"""Put values, inputs and verdicts into words: plain numbers, rounded, the same text on every machine."""

from typing import Any

from rankedu_book.kit.check.compare import agree, numbers


def told(tried: list[Any], hint: Any, gave: str = "you returned") -> tuple[bool, str, str]:
    """Say what became of all inputs: whether all are right, what happened on the first wrong one, and a hint.

    What was tried has a ``case``, its ``value``, the ``problem`` with it, if any, and ``stopped`` if there is no value.
    """
    wrong = [one for one in tried if one.problem is not None]
    if not wrong:
        return True, f"right on all {len(tried)} inputs.", ""
    first, right, said = wrong[0], len(tried) - len(wrong), ""
    message = str(first.problem)
    if not first.stopped:
        message = f"for {show_case(first.case)} {gave} {show_value(first.value)}, {first.problem}."
        said = hint()
    score = f"(Right on {right} of {len(tried)} inputs.)" if right or not first.stopped else ""
    return False, message, f"{said} {score}".strip()


def known(tried: list[Any], mistakes: list[Any]) -> str:
    """Name the first mistake that returns what the reader's function returned, on every input.

    A mistake is a function of the number of an input, which need not be able to treat every input, and its name.
    """
    answered = [k for k in range(len(tried)) if not tried[k].stopped]
    for value_of, name in mistakes:
        try:
            if all(agree(value_of(k), tried[k].value) for k in answered):
                return f"That is what comes out when one {name}."
        except (Exception, SystemExit):  # this mistake can't be made on these inputs, or the value can't be compared
            continue
    return ""


def unfinished(case: dict[str, Any], printed: bool) -> str:
    """What to say to a function that returns nothing."""
    if printed:
        return f"for {show_case(case)} your function printed something and returned nothing: return it instead."
    return f"nothing returned yet for {show_case(case)}: put code in place of the three dots, and return a value."


def changed(key: str, case: dict[str, Any]) -> str:
    """What to say to a function that writes into what it was given."""
    return f"your function changed its argument {key} in place (for {show_case(case)}): work on a copy."


def show_value(value: Any) -> str:
    """Write a value so that it can be read: plain numbers, rounded, the same text each time."""
    if callable(value) and not hasattr(value, "shape"):
        return str(getattr(value, "__name__", type(value).__name__))
    try:
        return short(_rounded(numbers(value, _number)))
    except Exception:  # not numbers, or a hostile object
        return short(value)


def show_case(case: dict[str, Any]) -> str:
    """Write the arguments of a case as ``name=value, …``."""
    return ", ".join(f"{key}={show_value(value)}" for key, value in case.items())


def _number(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"a {type(value).__name__}")


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.6g}") + 0.0 if isinstance(value, float) else value


def short(value: Any, limit: int = 200) -> str:
    """The text of any object, in one line."""
    try:
        text = plain(repr(value))
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plain(text: str) -> str:
    """A text in one line, without the addresses of objects."""
    first, *more = text.split(" at 0x")
    return " ".join((first + "".join(one.lstrip("0123456789abcdefABCDEF") for one in more)).split())

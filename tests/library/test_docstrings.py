"""Docstrings have the sections of numpydoc that apply, so that tools find what a function takes and returns."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import textwrap

import pytest

import rankedu

#: Modules, or packages, whose docstrings are in this form; the goal is `rankedu` alone.
CONVERTED = ("rankedu.extras", "rankedu.hierarchy", "rankedu.metrics", "rankedu.proofs")
#: A call of one of these may raise.
CHECKS = re.compile(r"\b(check_\w+|exact_\w+|whole_\w+|checked_\w+|needed|import_sympy)\(")


def public():
    """Every function and class that a module of the library offers, by its full name."""
    modules = [name for _, name, _ in pkgutil.walk_packages(rankedu.__path__, "rankedu.") if "cli" not in name]
    for module in map(importlib.import_module, [name for name in modules if not name.endswith("__main__")]):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{value.__module__}.{value.__qualname__}", value


OFFERED = {name: value for name, value in sorted(public()) if name.startswith(CONVERTED)}


def sections(text):
    """The sections of a docstring, by their titles, with the text of each."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """The names that a section of parameters describes: `a, b : int` are two."""
    heads = re.findall(r"^(\*{0,2}\w[^:\n]*?)(?: : .*)?$", section.strip("\n"), re.MULTILINE)
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def raises(function):
    """Whether the code of a function raises an error itself, or calls a check that does."""
    code = textwrap.dedent(inspect.getsource(function))
    return any(isinstance(node, ast.Raise) for node in ast.walk(ast.parse(code))) or bool(CHECKS.search(code))


def missing(value):
    """What a docstring lacks."""
    found, wanted = sections(value.__doc__ or ""), ["Examples"]
    made = inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, (Warning, tuple)))
    takes = [] if made else parameters(value)
    if inspect.isclass(value):
        wanted = [] if made else wanted
    else:
        returned = inspect.signature(value).return_annotation
        wanted += ["Returns"] * (returned not in (None, "None")) + ["Raises"] * raises(value)
    wanted += ["Parameters"] * bool(takes)
    lacking = [title for title in wanted if title not in found]
    if "Parameters" in found and described(found["Parameters"]) != takes:
        lacking.append(f"Parameters must describe {takes}, got {described(found['Parameters'])}")
    return lacking


@pytest.mark.parametrize("name", OFFERED)
def test_a_docstring_has_the_sections_that_apply(name):
    value = OFFERED[name]
    assert not missing(value), f"{name} lacks {missing(value)}"
    methods = {name: method for name, method in vars(value).items() if inspect.isfunction(method)}
    for method in (method for name, method in methods.items() if not name.startswith("_") and method.__doc__):
        found = sections(method.__doc__)
        assert not parameters(method) or described(found.get("Parameters", "")) == parameters(method), method

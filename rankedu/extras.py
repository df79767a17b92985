"""Libraries that the core does without: a function that needs one imports it and names the extra that brings it."""

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, purpose: str) -> Any:
    """Import a module, or say what it is for and how to install it.

    Parameters
    ----------
    module, purpose : str
        Its name, such as "sympy", and the beginning of the error, such as "this proof needs SymPy".

    Returns
    -------
    module

    Raises
    ------
    ModuleNotFoundError
        If it is not installed.

    Examples
    --------
    >>> needed("math", "a logarithm needs it").log(1)
    0.0
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose}, which is not installed (run: pip install 'rankedu[lab]')", name=error.name
        ) from error

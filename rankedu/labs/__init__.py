"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu.labs.folders import find_labs, list_labs, list_presets
from rankedu.labs.parameters import Parameter, read_parameters
from rankedu.labs.planning import Run, plan
from rankedu.labs.results import load_result, save_result
from rankedu.labs.runner import LabError, run_lab

__all__ = [
    "LabError",
    "Parameter",
    "Run",
    "find_labs",
    "list_labs",
    "list_presets",
    "load_result",
    "plan",
    "read_parameters",
    "run_lab",
    "save_result",
]

"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu_lab.runs.parameters import Parameter, find_labs, list_labs, list_presets, read_parameters
from rankedu_lab.runs.results import load_result, save_result
from rankedu_lab.runs.runner import LabError, Run, plan, run_lab
from rankedu_lab.runs.sweeps import SweepError, plan_sweep, sweep

__all__ = ["LabError", "Parameter", "Run", "SweepError", "find_labs", "list_labs", "list_presets", "load_result"]
__all__ += ["plan", "plan_sweep", "read_parameters", "run_lab", "save_result", "sweep"]

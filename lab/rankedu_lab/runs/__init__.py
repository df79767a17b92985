"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu_lab.runs.parameters import Parameter, find_labs, list_labs, list_presets, read_parameters
from rankedu_lab.runs.records import Record, collect_runs, keep_runs
from rankedu_lab.runs.results import load_result, save_result
from rankedu_lab.runs.runner import LabError, Run, plan, run_lab
from rankedu_lab.runs.sweeps import SweepError, plan_sweep, sweep
from rankedu_lab.runs.tables import Row, Value, summarise, tabulate

__all__ = ["LabError", "Parameter", "Record", "Row", "Run", "SweepError", "Value", "collect_runs"]
__all__ += ["find_labs", "keep_runs", "list_labs", "list_presets", "load_result", "plan", "plan_sweep"]
__all__ += ["read_parameters", "run_lab", "save_result", "summarise", "sweep", "tabulate"]

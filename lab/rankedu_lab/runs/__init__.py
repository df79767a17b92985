"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu_lab.runs.folders import find_labs, list_labs, list_presets
from rankedu_lab.runs.parameters import Parameter, read_parameters
from rankedu_lab.runs.planning import Run, plan
from rankedu_lab.runs.records import Record, collect_runs, keep_runs
from rankedu_lab.runs.results import load_result, save_result
from rankedu_lab.runs.runner import LabError, run_lab
from rankedu_lab.runs.summaries import Row, Value, summarise
from rankedu_lab.runs.sweep_plan import plan_sweep, run_state
from rankedu_lab.runs.sweeps import SweepError, sweep
from rankedu_lab.runs.tables import tabulate

__all__ = ["LabError", "Parameter", "Record", "Row", "Run", "SweepError", "Value", "collect_runs", "find_labs"]
__all__ += ["keep_runs", "list_labs", "list_presets", "load_result", "plan", "plan_sweep", "read_parameters", "run_lab"]
__all__ += ["run_state", "save_result", "summarise", "sweep", "tabulate"]

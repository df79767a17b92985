"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from ranklab.runs.folders import find_labs, list_labs, list_presets
from ranklab.runs.parameters import Parameter, read_parameters
from ranklab.runs.planning import Run, plan
from ranklab.runs.records import Record, collect_runs, keep_runs
from ranklab.runs.results import load_result, save_result
from ranklab.runs.runner import LabError, run_lab
from ranklab.runs.summaries import Row, Value, summarise
from ranklab.runs.sweep_plan import plan_sweep, run_state
from ranklab.runs.sweeps import SweepError, sweep
from ranklab.runs.tables import tabulate

__all__ = ["LabError", "Parameter", "Record", "Row", "Run", "SweepError", "Value", "collect_runs", "find_labs"]
__all__ += ["keep_runs", "list_labs", "list_presets", "load_result", "plan", "plan_sweep", "read_parameters", "run_lab"]
__all__ += ["run_state", "save_result", "summarise", "sweep", "tabulate"]

"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu.lab.runs.folders import find_labs, list_labs, list_presets
from rankedu.lab.runs.parameters import Parameter, read_parameters
from rankedu.lab.runs.planning import Run, plan
from rankedu.lab.runs.records import Record, collect_runs, keep_runs
from rankedu.lab.runs.results import load_result, save_result
from rankedu.lab.runs.runner import LabError, run_lab
from rankedu.lab.runs.summaries import Row, Value, summarise
from rankedu.lab.runs.sweep_plan import plan_sweep, run_state
from rankedu.lab.runs.sweeps import SweepError, sweep
from rankedu.lab.runs.tables import tabulate

__all__ = [
    "LabError",
    "Parameter",
    "Record",
    "Row",
    "Run",
    "SweepError",
    "Value",
    "collect_runs",
    "find_labs",
    "keep_runs",
    "list_labs",
    "list_presets",
    "load_result",
    "plan",
    "plan_sweep",
    "read_parameters",
    "run_lab",
    "run_state",
    "save_result",
    "summarise",
    "sweep",
    "tabulate",
]

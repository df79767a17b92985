"""Labs: experiments as notebooks with parameters. Each run is checked, kept in a folder of its own, and done once."""

from rankedu.labs.folders import find_labs, list_labs, list_presets
from rankedu.labs.parameters import Parameter, read_parameters
from rankedu.labs.planning import Run, plan
from rankedu.labs.records import Record, collect_runs, keep_runs
from rankedu.labs.results import load_result, save_result
from rankedu.labs.runner import LabError, run_lab
from rankedu.labs.summaries import Row, Value, summarise
from rankedu.labs.sweep_plan import plan_sweep, run_state
from rankedu.labs.sweeps import SweepError, sweep
from rankedu.labs.tables import tabulate

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

"""Tables of finished runs: mean and standard deviation over the seeds; different settings are never averaged."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.records import collect_runs

__all__ = ["best", "find_runs", "metric_names", "metrics_of", "parameters_of", "render", "summarise", "tabulate"]
__all__ += ["text_of", "varying"]

#: Columns where none are asked for.
COLUMNS = 6
#: The names of metrics that are better if smaller.
_LESS = re.compile(r"seconds|share|loss|error|memory|severity", re.IGNORECASE)

#: A setting, that is, the parameters that distinguish the rows of a table, and its runs, which differ in their seed.
Row = tuple[dict[str, Any], pd.DataFrame]


def text_of(values: Iterable[float | None], scale: float = 1.0, digits: int = 3) -> str:
    """Write the mean of the seeds and the deviation of a sample, with a dash for none.

    >>> text_of([0.5, 0.7, None]), text_of([0.5], scale=100, digits=1), text_of([])
    ('0.600 ± 0.141 (2 of 3 runs)', '50.0', '—')
    """
    numbers = scale * pd.Series(values, dtype=float)
    if not numbers.count():
        return "—"
    deviation = f" ± {numbers.std():.{digits}f}" if numbers.count() > 1 else ""
    lost = f" ({numbers.count()} of {len(numbers)} runs)" if numbers.hasnans else ""
    return f"{numbers.mean():.{digits}f}{deviation}{lost}"


def best(cells: Sequence[Sequence[float | None]], *, less: bool = False) -> set[int]:
    """Return which of two or more cells are within a standard deviation of the best, the larger deviation of both."""
    table = pd.DataFrame([pd.Series(list(cell), dtype=float) for cell in cells])
    means, deviations = table.mean(axis=1), table.std(axis=1).fillna(0.0)
    if means.count() < 2:
        return set()
    top = means.idxmin() if less else means.idxmax()
    return {*means.index[(means - means[top]).abs() <= deviations.clip(lower=deviations[top])]}


def parameters_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the parameters of some runs, one column each, in the order of the lab; None where a run has none."""
    names = dict.fromkeys(name for parameters in runs["parameters"] for name in parameters)
    rows = [[parameters.get(name) for name in names] for parameters in runs["parameters"]]
    return pd.DataFrame(rows, runs.index, [*names], dtype=object)


def metrics_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of some runs, one column each; nan where one was not finite or not measured."""
    return pd.DataFrame(runs["metrics"].tolist(), index=runs.index, dtype=float)


def varying(runs: pd.DataFrame) -> list[str]:
    """List the parameters in which runs differ, except the seed, in the order of the lab."""
    counts = parameters_of(runs).map(str).nunique()
    return [name for name in counts.index[counts > 1] if name != "seed"]


def summarise(runs: pd.DataFrame, by: Sequence[str] | None = None) -> list[Row]:
    """Group the runs of a lab by some parameters, by default by all that differ except the seed.

    Of runs that agree in all parameters the last counts. ValueError if runs of a row differ in more than their seed.
    """
    parameters = parameters_of(runs)
    for name in by or ():
        check_known("parameter", name, parameters.columns)
    texts = parameters.map(str)
    latest = texts.loc[runs["started"].sort_values(kind="stable").index].drop_duplicates(keep="last").index
    runs = runs.loc[latest].assign(seed=parameters.get("seed", 0)).sort_values(["seed", "run"])
    names = varying(runs) if by is None else list(by)
    groups = runs.groupby([texts[name].loc[runs.index] for name in names] or runs["lab"], sort=False)
    rows = [(parameters.loc[group.index[0], names].to_dict(), group) for _, group in groups]
    for setting, group in rows:
        for name in varying(group):
            values = ", ".join(sorted(set(parameters_of(group)[name].map(plain))))
            text = ", ".join(f"{name}={plain(value)}" for name, value in setting.items())
            raise ValueError(
                f"runs with {text or 'any setting'} differ in {name!r} ({values}) and are not averaged: "
                f"add it to the rows (--by {','.join([*names, name])}), or choose a value (--where {name}=…)"
            )
    return rows


def tabulate(
    runs: pd.DataFrame, *, by: Sequence[str] | None = None, metrics: str | None = None
) -> tuple[str, list[str]]:
    """Make the tables of some runs, one per lab, and a note on each lab whose code has changed between its runs.

    `by` is that of :func:`summarise`, and `metrics` are names with commas between them, by default the first few of
    each lab.
    """
    parts, notes = [], []
    for lab, of_lab in runs.groupby("lab", sort=False):
        codes = {evidence["code"] for evidence in of_lab["evidence"] if "code" in evidence}
        if len(codes) > 1:
            notes.append(f"nothing of {lab}, but its runs were made by {len(codes)} versions of the code")
        columns = metric_names(of_lab, metrics)[: None if metrics else COLUMNS]
        parts.append(f"### {lab}\n\n{render(summarise(of_lab, by), columns)}\n")
    return "\n".join(parts), notes


def find_runs(
    places: Sequence[str | os.PathLike[str]], lab: str | None = None, where: Mapping[str, Any] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Read the runs of some places, those of one lab and with some parameters, which may be given as texts.

    The second value is that of :func:`~rankedu_lab.runs.records.collect_runs`. ValueError if no run is there, or none
    that is asked for.
    """
    runs, skipped = collect_runs(*places)
    if runs.empty:
        also = f"; {len(skipped)} skipped, the first: {skipped[0]}" if skipped else ""
        there = ", ".join(map(str, places))
        raise ValueError(f"runs must hold a finished run, found none in {there} (make some: rankedu run LAB){also}")
    if lab is not None:
        check_known("lab", lab, runs["lab"].unique())
        runs = runs[runs["lab"] == lab]
    for name, value in (where or {}).items():
        parameters = parameters_of(runs)
        check_known("parameter", name, parameters.columns)
        there = ", ".join(parameters[name].dropna().map(plain).unique())
        runs = runs[parameters[name].map(_comparable) == _comparable(value)]
        if runs.empty:
            raise ValueError(f"no run has {name}={plain(value)}; there are: {there}")
    return runs, skipped


def plain(value: Any) -> str:
    """Write a parameter's value as it is given on the command line."""
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _comparable(value: Any) -> float | str:
    """Return a number for a number and for its text, and else a text in small letters."""
    try:
        return float("x" if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        return plain(value).lower()


def metric_names(runs: pd.DataFrame, wanted: str | None = None) -> list[str]:
    """List the metrics of some runs, or those that are wanted; a name of a metric may itself have a comma."""
    known = list(metrics_of(runs))
    if wanted is None:
        return known
    names, rest = [], wanted
    while rest:
        starts = [name for name in known if rest == name or rest.startswith(f"{name},")]
        names.append(max(starts, key=len) if starts else rest.partition(",")[0])
        check_known("metric", names[-1], known)
        rest = rest[len(names[-1]) + 1 :]
    return names


def render(rows: Sequence[Row], metrics: Sequence[str]) -> str:
    """Write rows as a Markdown table, the best of the first metric first; the best of each column are bold."""
    less = {metric: bool(_LESS.search(metric)) for metric in metrics}
    cells = {metric: [metrics_of(runs).get(metric, []) for _, runs in rows] for metric in metrics}
    table = pd.DataFrame([{name: plain(value).replace("|", r"\|") for name, value in one.items()} for one, _ in rows])
    sides = ["left"] * table.shape[1] + ["right"] * (len(metrics) + 2) + ["left"]
    table["runs"] = [str(len(runs)) for _, runs in rows]
    for metric, values in cells.items():
        bold = best(values, less=less[metric])
        table[metric] = [f"**{text_of(v)}**" if place in bold else text_of(v) for place, v in enumerate(values)]
    table["s a run"] = [text_of(runs["seconds"], digits=0) for _, runs in rows]
    devices = [{str(machine.get("device", "unknown")) for machine in runs["machine"]} for _, runs in rows]
    table["device"] = [" / ".join(sorted(names)) for names in devices]
    if metrics:
        means = pd.Series([pd.Series(values, dtype=float).mean() for values in cells[metrics[0]]])
        table = table.loc[means.sort_values(ascending=less[metrics[0]], kind="stable", na_position="last").index]
    return str(table.to_markdown(index=False, disable_numparse=True, colalign=sides))

"""The papers' tables: printed numbers, the numbers of our runs beside them, and the sweeps of these runs.

`data/printed/*.yaml` has the printed numbers, `data/sweeps.yaml` the sweeps, `data/tables/*.yaml` the runs beside each
row, and `lab/records/results.jsonl` the records of the runs. `python book/tools papers` prints
the commands of the sweeps.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from rankedu_lab import CHECKOUT as ROOT
from rankedu_lab.runs.records import IGNORED_PARAMETERS, Record, chosen, plain
from rankedu_lab.runs.tables import Row, summarise

DATA = ROOT / "book" / "data"
RUNS = ROOT / "lab" / "records" / "results.jsonl"
PRESETS = ROOT / "notebooks" / "labs" / "presets"
Parameters = Mapping[str, Any]
#: The last row of a table that names the grid `untrained` among its own.
UNTRAINED = {"method": "Before any training", "ours": "untrained"}


@cache
def read(path: Path) -> dict[str, Any]:
    """Read a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def markdown(rows: Sequence[Mapping[str, object]], left: int | None = None) -> str:
    """Return a table whose columns are the keys of the first row; only the first `left` hold text."""
    names = list(rows[0])
    left = len(names) if left is None else left
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * left}{'---:|' * (len(names) - left)}"]
    lines += [f"| {' | '.join(str(row.get(name, '')) or ' ' for name in names)} |" for row in rows]
    return "\n".join(lines)


class Sweep(NamedTuple):
    """A grid of a lab at one scale."""

    lab: str
    scale: str
    name: str
    preset: str
    parameters: Parameters
    grid: Mapping[str, list[Any]]
    seeds: int

    def points(self) -> list[dict[str, Any]]:
        """Return the parameters of every cell of the grid, without the seed."""
        cells = itertools.product(*self.grid.values())
        return [{**self.parameters, **dict(zip(self.grid, cell, strict=True))} for cell in cells]

    def shared(self) -> dict[str, Any]:
        """Return the parameters that all its runs share, as far as records hold them."""
        return deciding({**preset(self.preset), **self.parameters})

    def command(self) -> str:
        """Return the command that runs the sweep."""
        parts = [f"rankedu sweep {self.lab} --preset {self.preset} --seeds {self.seeds}"]
        parts += [f"-p {name}={plain(value)}" for name, value in self.parameters.items()]
        parts += [f"--grid {name}={','.join(map(plain, values))}" for name, values in self.grid.items()]
        return " \\\n  ".join(parts)


def sweeps() -> list[Sweep]:
    """All of them, in the order of the file."""
    return [
        Sweep(lab, scale, grid, about["preset"], about.get("parameters", {}), values, lab_sweeps["seeds"])
        for lab, lab_sweeps in read(DATA / "sweeps.yaml").items()
        for scale, about in lab_sweeps["scales"].items()
        for grid, values in lab_sweeps["grids"].items()
    ]


def find_sweep(lab: str, name: str) -> Sweep:
    """Return a grid of a lab at the first scale."""
    return next(sweep for sweep in sweeps() if (sweep.lab, sweep.name) == (lab, name))


class Table(NamedTuple):
    """A printed table and the runs beside it; `printed` and `beside` are the contents of its two files."""

    name: str
    printed: dict[str, Any]
    beside: dict[str, Any]

    def rows(self) -> list[dict[str, Any]]:
        """Return the printed rows, and then our own."""
        empty = [None] * sum(map(len, self.printed["columns"].values()))
        also = [*self.beside.get("also", []), *[UNTRAINED] * (UNTRAINED["ours"] in self.beside["grids"])]
        return [*self.printed["rows"], *({**row, "values": empty} for row in also)]

    def sweeps(self, scale: str | None = None) -> list[Sweep]:
        """Those whose runs stand in the table, at one scale or at all."""
        beside = [s for s in sweeps() if s.lab == self.beside["lab"] and s.name in self.beside["grids"]]
        return [sweep for sweep in beside if scale in (None, sweep.scale)]

    def scales(self) -> list[str]:
        """Return the scales of the runs on the book's own data, which are the titles of their columns."""
        return list(dict.fromkeys(sweep.scale for sweep in self.sweeps()))

    def variants(self) -> dict[str, Parameters]:
        """Return the parameters of each variant of the runs by its title; most tables have one variant."""
        return self.beside.get("variants", {"": {}})

    def on_ours(self, row: Parameters, variant: Parameters, scale: str) -> dict[str, Any]:
        """Return the parameters of the runs of a row on the book's own data: glyphs, or scenes of them."""
        sweep = self.sweeps(scale)[0]  # the grids of a scale share preset and parameters
        return {"dataset": self.beside.get("on", "glyphs"), **sweep.shared(), **self._own(row), **variant}

    def elsewhere(self, row: Parameters, variant: Parameters, data: str) -> dict[str, Any]:
        """Return the parameters of the runs of a row on a data set of the papers."""
        published = self.beside["data"][data]
        parameters = {**self._own(row), **published.get("rows", {}).get(row["ours"], {})}
        return {"dataset": published["dataset"], **parameters, **variant}

    def metrics(self, data: str | None = None) -> dict[str, str]:
        """Return our name of the metric under each heading, on our own data or on a data set of the papers."""
        if data is None:
            return dict(self.beside["here"])
        alike = {metric: metric for metric in self.printed["columns"][data]}
        return dict(self.beside["data"][data].get("here", alike))

    def _own(self, row: Parameters) -> dict[str, Any]:
        """Return the parameters that distinguish the runs of a row from others of the sweep."""
        if row["ours"] == UNTRAINED["ours"]:
            return find_sweep(self.beside["lab"], UNTRAINED["ours"]).points()[0]
        return {"loss": row["ours"], **self.beside.get("rows", {}).get(row["ours"], {})}


def preset(name: str) -> dict[str, Any]:
    """Return the parameters of a preset."""
    path = PRESETS / f"{name}.yaml"
    return read(path) if path.exists() else {}


def deciding(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters that records hold."""
    return {name: value for name, value in parameters.items() if name not in IGNORED_PARAMETERS}


def tables() -> list[Table]:
    """Return every printed table of trainings, RaMBO's first; `papers_speed` makes those of speed."""
    names = sorted((path.stem for path in (DATA / "tables").glob("*.yaml")), key=lambda name: (name[0] != "r", name))
    return [Table(name, *(read(DATA / part / f"{name}.yaml") for part in ("printed", "tables"))) for name in names]


def find(table: Table, row: Parameters, wanted: Parameters, records: Sequence[Record]) -> Row | None:
    """Return the runs with some parameters; None without a run, ValueError for runs of several settings."""
    if row["ours"] is None:
        return None
    rows = summarise(chosen([record for record in records if record.lab == table.beside["lab"]], wanted))
    if len(rows) > 1:
        what = f"{table.name}, {row['method']}"
        raise ValueError(f"{what}: kept runs differ in {', '.join(rows[0].parameters)}; keep those of one setting")
    return rows[0] if rows else None


def main() -> None:
    """Print the commands of the first scale of each lab, which two cores can run, for a shell."""
    first = {sweep.lab: sweep.scale for sweep in reversed(sweeps())}
    print("\n".join(sweep.command() for sweep in sweeps() if sweep.scale == first[sweep.lab]))

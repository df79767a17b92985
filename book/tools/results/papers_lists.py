"""The other parts of the results page: origins of runs, numbers of figures, and all commands."""

import json
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from rankedu_book.ch14_happier.study import arms, recorded
from rankedu_lab.methods import METHODS
from rankedu_lab.runs.records import Record, chosen
from rankedu_lab.runs.tables import Value, summarise, value_of
from tools.results.papers import DATA, deciding, markdown, preset, sweeps

#: The preset of the lab `retrieval` that trains longer than the runs of the tables.
LONGER = "glyphs_cpu"
#: Of the runs that vary α or λ: H-AP with α = 1, and of single levels.
MEASURES = ("H-AP", "AP of characters", "R@1 of characters", "AP of scripts")


def origin(records: Sequence[Record], scale: str) -> str:
    """Say how many runs a table has, how long they took, and on which device and revision."""
    if not records:
        return f"No run of this is kept ({scale}). It would be made by"
    seconds = [record.seconds for record in records if record.seconds is not None]
    devices = _distinct(f"{r.machine.get('device')}, {r.machine.get('threads')} threads" for r in records)
    torch = _distinct(record.versions.get("torch", "unknown") for record in records)
    return (
        f"{scale[0].upper()}{scale[1:]}: {len(records)} runs, mean ± standard deviation over the seeds; a run took "
        f"{statistics.fmean(seconds):.0f} s (from {min(seconds):.0f} to {max(seconds):.0f}), all of them "
        f"{sum(seconds) / 60:.0f} min. Device: {devices}; torch {torch}; revision "
        f"{_distinct(map(revision, records))}. Made by"
    )


def revision(record: Record) -> str:
    git = record.git
    return git["revision"][:10] + " with changes" * git["modified"] if git else "unknown"


def _distinct(values: Iterable[str]) -> str:
    return " / ".join(sorted(set(values)))


def figure_4() -> str:
    """Return the runs of HAPPIER along α and λ, which chapter 14 draws."""
    rows, used = [], []
    for symbol in "αλ":
        for value, arm in arms(symbol).items():
            records = recorded()[arm]
            shown = {name: value_of(float(record[name]) for record in records).text(100, 1) for name in MEASURES}
            rows.append({"": f"{symbol} = {value:g}", "runs": len(records)} | shown)
            used += records
    steps = _distinct(record["steps"] for record in used)
    took = statistics.fmean(float(record["seconds"]) for record in used)
    about = f"{len(used)} runs of {steps} steps, from a start that knows letters; in percent, on the held-out letters. "
    made = "They are of the first round; `lab/records/README.md` tells how a record of it is made again."
    return f"{markdown(rows, 1)}\n\n{about}A run took {took:.0f} s. {made}\n"


def margin_and_memory(file: str) -> str:
    """Return the recall loss (log) with and without margin and memory: mean and standard deviation over seeds."""
    runs = json.loads((DATA / file).read_text(encoding="utf-8"))
    cells: dict[tuple[float, int], list[dict[str, Any]]] = {}
    for run in sorted(runs, key=lambda run: (run["margin"], run["memory"])):
        cells.setdefault((run["margin"], run["memory"]), []).append(run)
    rows = [
        {"margin α": f"{margin:g}", "memory τ": memory, "runs": len(seeds)}
        | {name: value_of(run[name] for run in seeds).text() for name in ("R@1", "mAP")}
        | {"seconds": f"{statistics.fmean(run['seconds'] for run in seeds):.0f}"}
        for (margin, memory), seeds in cells.items()
    ]
    shared = ("lam", "lr", "pretrain", "device", "versions")
    values = ((name, _distinct(json.dumps(run[name]) for run in runs)) for name in shared)
    about = re.sub(r'["{}]', "", "; ".join(f"{name} {value}" for name, value in values))
    return f"{markdown(rows, 0)}\n\n{len(runs)} runs of {runs[0]['steps']} steps; shared by all: {about}.\n"


def mini_batches(records: Sequence[Record]) -> str:
    """Return the metrics of batches of each size and P, from the lab `minibatch_statistics`."""
    [sweep] = [sweep for sweep in sweeps() if sweep.lab == "minibatch_statistics"]
    wanted = {**sweep.shared(), **sweep.points()[0]}
    [row] = summarise(chosen([record for record in records if record.lab == sweep.lab], wanted))
    named = "mAP of batches of "
    sizes = [name.removeprefix(named) for name in row.records[0].metrics if name.startswith(named)]
    columns = {
        "mAP of batches": "mAP of batches of {}",
        "R@1 of batches": "R@1 of batches of {}",
        "P, trained network": "P of batches of {}",
        "P, mean of a training": "P of a run with batches of {}",
    }
    rows = [
        {"batch size": size, **{head: row.value(name.format(size)).text(100, 1) for head, name in columns.items()}}
        for size in sizes
    ]
    whole = {f"{name} of batches": row.value(name).text(100, 1) for name in ("mAP", "R@1")}
    rows.append({"batch size": f"all of about {row.records[0].parameters['test_images']} test pictures", **whole})
    return f"{markdown(rows, 0)}\n\n{origin(row.records, sweep.scale)}\n\n```sh\n{sweep.command()}\n```\n"


def whole_preset(records: Sequence[Record]) -> str:
    """Return the results of the preset that trains longer."""
    [row] = summarise(chosen([record for record in records if record.preset == LONGER], deciding(preset(LONGER))))
    percents = {name: _unbroken(row.value(name)) for name in ("R@1", "mAP@R", "loss share", "evaluation share")}
    shares = {name: percents.pop(name) for name in ("loss share", "evaluation share")}
    cells = {"preset": f"`{LONGER}`", "runs": len(row.records), **percents}
    cells |= {"seconds": _unbroken(row.value("seconds"), 1, 0), **shares}
    command = f"rankedu sweep retrieval --preset {LONGER} --seeds 3"
    return f"{markdown([cells], 1)}\n\n{origin(row.records, 'these presets')}\n\n```sh\n{command}\n```\n"


def severity(records: Sequence[Record]) -> str:
    """Return what the first result shares with the query, per method, as means over seeds."""
    lab, heads = "hierarchical_retrieval", ("right", "same base letter", "same script", "another script")
    grids = [sweep for sweep in sweeps() if sweep.lab == lab]
    grids = [sweep for sweep in grids if sweep.scale == grids[0].scale]
    of_lab = [record for record in records if record.lab == lab]
    lines, used = [], []
    for wanted in ({**sweep.shared(), **point} for sweep in grids for point in sweep.points()):
        [row] = summarise(chosen(of_lab, deciding(wanted)))
        used += row.records
        cells = [_unbroken(value_of(column)) for column in zip(*map(_shares, row.records), strict=True)]
        by = METHODS[wanted["loss"]].title if wanted["steps"] else "nothing"
        lines.append({"trained by": by, "runs": len(row.records)} | dict(zip(heads, cells, strict=True)))
    return f"{markdown(lines, 1)}\n\n{origin(used, grids[0].scale)} the commands of HAPPIER's Tables 1 and 5.\n"


def _unbroken(value: Value, factor: float = 100, digits: int = 1) -> str:
    """Return a value that stays on one line."""
    return value.text(factor, digits).replace(" ", "\u00a0")


def _shares(record: Record) -> tuple[float, ...]:
    """Return the shares of queries by the finest level that the first result has in common with them."""
    finest, letter, script = (record.metrics[f"R@1 of {level}"] for level in ("characters", "base letters", "scripts"))
    return finest, letter - finest, script - letter, 1 - script


def all_sweeps() -> str:
    """Return every sweep with the number of its runs and its command."""
    lines = []
    for sweep in sweeps():
        settings = len(sweep.points())
        what = f"{sweep.scale}: lab `{sweep.lab}`, {sweep.name}"
        lines.append(f"{what}: {settings} settings with {sweep.seeds} seeds, {settings * sweep.seeds} runs.\n")
        lines.append(f"```sh\n{sweep.command()}\n```\n")
    return "\n".join(lines)

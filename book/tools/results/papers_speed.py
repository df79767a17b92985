"""The tables of speed on the results page: printed times and complexities beside those of the lab `speed`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rankedu_lab.experiments.speed import tables
from rankedu_lab.experiments.speed.contestants import OURS
from rankedu_lab.runs.records import Record, chosen
from tools.results.papers import DATA, markdown, preset, read
from tools.results.papers_lists import revision

#: The preset whose record the page shows.
PRESET = "speed_cpu"
#: Parameters in which the record may differ from the preset.
FREE = ("parts", "seconds", "budget", "memory", "seed")
NAMES = {"cpu": "CPU", "cuda": "GPU"}
#: Times on one GPU, measured with the third edition.
GPU = DATA / "speed_gpu.json"
Row = dict[str, Any]


def blocks(records: Sequence[Record]) -> dict[str, str]:
    """Return the Markdown of each block by its name."""
    record, gpu = kept(records), json.loads(GPU.read_text(encoding="utf-8"))
    rows = {"cpu": tables.rows_of(record.metrics), "cuda": gpu["rows"]}
    return {
        "rambo_tab_6": _lists(rows),
        "rambo_tab_1": _growth(rows["cpu"]),
        "smooth_ap_tab_s2": _backbone(rows),
        "speed_batches": _batches(rows),
        "speed_record": _origin(record),
        "speed_gpu": _gpu(gpu),
    }


def kept(records: Sequence[Record]) -> Record:
    """Return the record of the third edition's library, which measured the exponents of Table 1 as well."""
    sizes = {key: value for key, value in preset(PRESET).items() if key not in FREE}
    runs = chosen([record for record in records if record.lab == "speed"], sizes)
    return next(record for record in runs if "growth" in record.parameters["parts"])


def _origin(record: Record) -> str:
    """Say where the numbers come from and which command makes them."""
    machine, versions = record.machine, record.versions
    return (
        f"CPU: {machine['device']}; {machine['threads']} thread; torch {versions['torch']}, NumPy {versions['numpy']}; "
        f"revision {revision(record)}; {record.seconds / 60:.0f} min for all of it. Made by\n\n"
        f"```sh\nrankedu run speed --preset {PRESET}\n```\n\n"
        "GPU: by the command [below](#results-speed-gpu), but for the exponents of Table 1.\n"
    )


def _printed(name: str) -> dict[str, Any]:
    return read(DATA / "printed" / f"{name}.yaml")


def _page(name: str, *parts: str) -> str:
    """Join title, tables and note."""
    printed = _printed(name)
    return "\n\n".join(filter(None, [f"{printed['title']}.", *parts, printed["note"]])) + "\n"


def _lists(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return Table 6: printed times, ours, the transcription and the limits, with bytes per score and ratios."""
    printed = _printed("rambo_tab_6")
    sizes = dict(zip((10**k for k in range(5, 9)), printed["columns"], strict=True))
    lines = []
    for row in printed["rows"]:
        device = row["ours"]
        cells = dict(zip(sizes.values(), row["values"], strict=True))
        lines.append({"seconds": "AP, printed", "on": row["method"], **cells, "bytes a score": "–"})
        here = tables.pivot(rows[device], "long lists", device)
        lines += [_list_line(line, sizes, rows[device], device) for line in here]
    return _page("rambo_tab_6", markdown(lines), _ratios(rows, "long lists", sizes))


def _list_line(line: Mapping[str, str], sizes: Mapping[int, str], rows: Sequence[Row], device: str) -> dict[str, str]:
    """Return the row of a contestant."""
    name = line["by"] if line["work"] == "limit" else f"{line['work']}, {line['by']}"
    cells = {title: line.get(tables.size_text(size), "–") for size, title in sizes.items()}
    memory = [row.get("bytes a score") for row in rows if (row["work"], row["contender"]) == (line["work"], line["by"])]
    known = [f"{value:.0f}" for value in memory if value is not None]
    return {"seconds": name, "on": f"{NAMES[device]}, here", **cells, "bytes a score": known[0] if known else "–"}


def _ratios(rows: Mapping[str, Sequence[Row]], part: str, sizes: Mapping[int, str] | None = None) -> str:
    """Return our time divided by that of each other contestant, with a summary."""
    ratios = [row for device in rows for row in tables.compare(rows[device]) if row["part"] == part]
    table = [{**line, "on": NAMES[line["on"]]} for line in tables.ratio_table(ratios, sizes)]
    return f"Our time divided by the other's. {tables.counts(ratios)}\n\n{markdown(table)}"


def _growth(rows: Sequence[Row]) -> str:
    """Return Table 1: printed complexities and measured exponents, and then methods that it does not list."""
    printed = {row["ours"]: row["values"] for row in _printed("rambo_tab_1")["rows"]}
    fitted = {row["work"]: row for row in rows if row["part"] == "growth" and row.get("n") is not None}
    lines = []
    for name in dict.fromkeys([*printed, *fitted]):
        row, (complexity, general) = fitted[name], printed.get(name, ("–", "–"))
        line = {"method": name, "printed": complexity, "general ranking": general}
        for letter in "np":
            found = _exponent(row[letter], row[f"{letter} margin"])
            line[f"exponent of {letter}"] = f"{found} (formula: {abs(row[f'{letter} claimed']):.2f})"
        line["the largest list"] = f"{tables.duration(row['seconds'])} at {tables.size_text(int(row['to']))}"
        lines.append(line)
    return _page("rambo_tab_1", markdown(lines))


def _exponent(value: float, margin: float) -> str:
    """Write an exponent with half of its interval.

    >>> _exponent(-0.001, 0.0132)
    '0.00 ± 0.01'
    """
    return f"{value:.2f} ± {margin:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _backbone(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return Table S2: the time of the loss relative to that of the network."""
    lines = []
    for row in _printed("smooth_ap_tab_s2")["rows"]:
        complexity, network, time = row["values"]
        part = f"{100 * tables.seconds_of(time) / tables.seconds_of(network):.2g} % of {network}"
        lines.append({"": row["method"], "by": "printed", "complexity": complexity, "time": time} |
                     {"of the network": part})  # fmt: skip
    for device, name in NAMES.items():
        for line in tables.beside([row for row in rows[device] if row["part"] == "backbone"]):
            part = line["of the network"].split(" (")[0]
            lines.append({"": line["work"], "by": f"{line['by']}, {name}", "complexity": "–", "time": line["here"]} |
                         {"of the network": part})  # fmt: skip
    return _page("smooth_ap_tab_s2", markdown(lines), _ratios(rows, "backbone"))


def _batches(rows: Mapping[str, Sequence[Row]]) -> str:
    """Return times for batches of embeddings, of which the papers print nothing."""
    parts = []
    for device, name in NAMES.items():
        parts.append(markdown([{"on": name, **line} for line in tables.pivot(rows[device], "batches", device)]))
    return "\n\n".join([*parts, _ratios(rows, "batches")]) + "\n"


def _gpu(found: Mapping[str, Any]) -> str:
    """Return the other measurements on a GPU."""
    rows, versions = found["rows"], found["versions"]
    about = f"{found['machine']}; torch {versions['torch']}, CUDA {versions['cuda']}; {found['seconds'] / 60:.0f} min. "
    about += f"Missing: {', '.join(found['missing']) or 'nothing'}"
    step = tables.pivot(rows, "step", "cuda")
    memory = tables.pivot(rows, "batches", "cuda", "bytes", lambda size: f"{size / 2**20:,.0f} MiB")
    shown = {
        "A training step of ResNet-50 in mixed precision, without its loss, and losses. " + _shares(rows): step,
        "An evaluation, and the matrix product that it needs.": tables.pivot(rows, "evaluation", "cuda"),
        "Memory at the peak, beyond the embeddings.": memory,
    }
    parts = [f"{title}\n\n{markdown(table)}" for title, table in shown.items() if table]
    missed = [row["note"] for row in rows if row["note"].startswith("not measured")]
    return "\n\n".join([f"{about}. Made by", "```sh\npython -m benchmarks.gpu\n```\n", *parts, *missed]) + "\n"


def _shares(rows: Sequence[Row]) -> str:
    """Return the share of a step that each loss takes, at the smallest and at the largest batch."""
    steps = [row for row in rows if row["part"] == "step" and row["seconds"] is not None]
    taken = {(row["work"], row["size"]): row["seconds"] for row in steps if row["contender"] == OURS}
    of = {row["size"]: row["seconds"] for row in steps if row["contender"] != OURS}
    parts = []
    for size in sorted({min(of, default=0), max(of, default=0)} & {size for _, size in taken}):
        shares = [100 * seconds / of[size] for (_, own), seconds in taken.items() if own == size]
        parts.append(f"at {size:,} images {min(shares):.0f} to {max(shares):.0f} %")
    return f"The losses take {' and '.join(parts)} of the step." if parts else ""

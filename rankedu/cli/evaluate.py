"""The command that evaluates saved embeddings."""

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

_ONE_LEVEL = "ap, ap@K, ap-min@K, map@r, mrr, r-precision, recall@K (a hit is enough), recall-share@K, precision@K"
_METRICS = f"Metrics, from {_ONE_LEVEL}, h-ap, asi, ndcg, ndcg@K."


def evaluate(
    embeddings: Annotated[Path, typer.Argument(help="File .npy of the embeddings, one row per item.")],
    labels: Annotated[Path, typer.Argument(help="File .csv or .npy of the labels, with columns from root to leaf.")],
    metrics: Annotated[str, typer.Option(metavar="A,B", help=_METRICS)] = "ap,recall@1,map@r",
    gallery: Annotated[
        Path | None,
        typer.Option(help="File of the items that are ranked. By default all items except the query are ranked."),
    ] = None,
    gallery_labels: Annotated[Path | None, typer.Option(help="File of the labels of the gallery.")] = None,
    ids: Annotated[
        Path | None, typer.Option(help="File of the names of the items. An item is never its own partner.")
    ] = None,
    gallery_ids: Annotated[Path | None, typer.Option(help="File of the names of the items of the gallery.")] = None,
    similarity: Annotated[
        str, typer.Option(help="Similarity that ranks the items: cosine, dot or euclidean.")
    ] = "cosine",
    ties: Annotated[
        str, typer.Option(help="Order of ties: expected, ordinal, pessimistic or optimistic.")
    ] = "expected",
    interval: Annotated[
        float | None,
        typer.Option(help="Level of confidence intervals, such as 0.95. By default there are no intervals."),
    ] = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B", help="Columns of a .csv, by name or number.")] = None,
    header: Annotated[
        bool,
        typer.Option(
            "--header", help="Read the first row of a .csv as names of columns, even if it looks like labels."
        ),
    ] = False,
    alpha: Annotated[float, typer.Option(help="Exponent of the relevance, for h-ap.")] = 1.0,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="Use a relevance that never inverts levels, for h-ap.")
    ] = False,
    device: Annotated[str, typer.Option(help="Device: auto, cpu, cuda or cuda:1.")] = "cpu",
    chunk_size: Annotated[
        int, typer.Option(help="Number of queries that are ranked at a time. Fewer need less memory.")
    ] = 1024,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="File for the results as JSON. With - they are printed instead of the table."
        ),
    ] = None,
) -> None:
    """Evaluate saved embeddings. Each item ranks all others by similarity."""
    from rankedu.files import written
    from rankedu.metrics.names import parse

    files = {"embeddings": embeddings, "labels": labels, "ids": ids}
    files |= {"gallery": gallery, "gallery_labels": gallery_labels, "gallery_ids": gallery_ids}
    settings = {"similarity": similarity, "ties": ties, "interval": interval, "alpha": alpha, "monotone": monotone}
    try:
        read = parse([name.strip() for name in metrics.split(",")])
        wanted = {name: kind if k is None else f"{kind}_at_{k}" for name, (kind, k) in read.items()}
        settings |= {"device": _device(device), "chunk_size": chunk_size}
        report = _report(files, [*wanted.values()], columns, header, settings)
        text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
        if json_file and json_file != Path("-"):
            with written(json_file) as part:
                part.write_text(text + "\n", encoding="utf-8")
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        blamed = files.get(str(error).partition(" ")[0])  # where the error names a parameter
        print(f"rankedu evaluate: {f'{blamed}: ' if blamed else ''}{error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    for note in report["notes"]:
        print(f"note: {note}", file=sys.stderr)
    print(text if json_file == Path("-") else _table(report["table"], wanted))


def _device(name: str) -> str:
    """A device of this machine; "auto" is a GPU if there is one."""
    import torch

    from rankedu.checks import check_choice

    found = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    check_choice(name, ["auto", "cpu", *found, *(["cuda"] if found else [])], name="device")
    return [*found, "cpu"][0] if name == "auto" else name


def _report(
    files: dict[str, Path | None], metrics: list[str], columns: str | None, header: bool, settings: dict[str, Any]
) -> dict[str, Any]:
    """Compute the metrics, with what they depend on and what was assumed, in a form for JSON."""
    import numpy as np
    import torch

    from rankedu import __version__
    from rankedu.files import number_labels, read_embeddings, read_labels
    from rankedu.metrics import evaluate_retrieval

    if (files["gallery"] is None) != (files["gallery_labels"] is None):
        raise ValueError("gallery_labels must be given with gallery, and gallery with gallery_labels")
    given = {name: path for name, path in files.items() if path}
    prefixes = ["", "gallery_"][: 1 + ("gallery" in given)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "The given NumPy array is not writable|.*contained no data")
        data: dict[str, Any] = {
            name: read_embeddings(given[name]) for name in ("embeddings", "gallery") if name in given
        }
        lengths = [len(x) for x in data.values()]
        paths = [given[f"{prefix}labels"] for prefix in prefixes]
        read = [read_labels(path, n, columns, header) for path, n in zip(paths, lengths, strict=True)]
        numbers = number_labels([labels for labels, _ in read], paths)
        data |= {f"{prefix}labels": x for prefix, x in zip(prefixes, numbers, strict=True)}
        lists = {f"{prefix}ids": n for prefix, n in zip(prefixes, lengths, strict=True) if f"{prefix}ids" in given}
        words = [read_labels(given[name], n, None, header)[0][:, 0].astype(str) for name, n in lists.items()]
        if words:
            every = torch.from_numpy(np.unique(np.concatenate(words), return_inverse=True)[1])
            data |= zip(lists, every.split([*lists.values()]), strict=True)
        result = evaluate_retrieval(**data, metrics=metrics, progress=sys.stderr.isatty(), **settings)
    notes = [str(warning.message).split(" (result[")[0] for warning in caught]  # no Python on a terminal
    if not any(row["queries"] for row in result["table"]):
        notes.append(f"{given['labels']}: no query has a relevant item: if these are no labels, choose other --columns")
    levels = dict(enumerate(read[0][1] or (), 1))
    return {
        **{name: {"file": str(path), "shape": [*data[name].shape]} for name, path in given.items()},
        **settings,
        "metrics": _plain(
            {
                name: result[name]
                for name in ("queries", "left_out", *metrics, *(["interval"] if settings["interval"] else []))
            }
        ),
        "table": [_plain({**row, "level": levels.get(row["level"], str(row["level"]))}) for row in result["table"]],
        "notes": [*dict.fromkeys(notes)],
        "rankedu": __version__,
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Put None in place of nan, which JSON has not."""
    plain = {name: None if value != value else value for name, value in row.items()}
    if "interval" in row:
        plain["interval"] = {name: ends for name, ends in row["interval"].items() if ends[0] == ends[0]}
    return plain


def _table(rows: list[dict[str, Any]], metrics: dict[str, str]) -> str:
    """A row for each level, and one for all of them together; a dash where a metric is not of that row."""
    lines = [["level", "queries", "left out", *metrics]]
    for row in rows:
        values = [row.get(name, "—") for name in metrics.values()]
        written = [value if value == "—" else "nan" if value is None else f"{value:.4f}" for value in values]
        for i, name in enumerate(metrics.values()):
            if name in row.get("interval", ()):
                written[i] += " ({:.3f} to {:.3f})".format(*row["interval"][name])
        lines.append([row["level"], str(row["queries"]), str(row["left_out"]), *written])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]) for first, *rest in lines)

"""From files to a table: the metrics of a dump, by level."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from rankedu.metrics import evaluate_retrieval
from ranklab.dumps.embeddings import read_embeddings
from ranklab.dumps.labels import Labels, check_shared, number_labels, read_labels
from ranklab.dumps.names import metric_names
from ranklab.dumps.report import Report

__all__ = ["evaluate"]


def evaluate(
    embeddings: str | os.PathLike[str],
    labels: str | os.PathLike[str],
    *,
    gallery: str | os.PathLike[str] | None = None,
    gallery_labels: str | os.PathLike[str] | None = None,
    metrics: str = "ap,recall@1,map@r",
    key: str | None = None,
    labels_key: str | None = None,
    columns: str | None = None,
    header: bool = False,
    similarity: str = "cosine",
    **settings: Any,
) -> Report:
    """Judge embeddings that lie in a file: every item is a query and ranks all others by similarity.

    The files are those of :func:`read_embeddings` and :func:`read_labels`, ``metrics`` those of :func:`metric_names`,
    the settings ``similarity``, ``alpha``, ``monotone``, ``chunk_size``, ``device`` and ``progress`` those of
    :func:`rankedu.metrics.evaluate_retrieval`. An error names the file, and its row where one is to blame. Memory is a
    copy of the gallery, and ``chunk_size`` rows of similarities.

    Source
    ------
    RaMBO Eq. 8; HAPPIER Eq. 3.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.array([[1.0, 0.0], [0.8, 0.6], [0.9, 0.5], [0.0, 1.0]]))
    ...     _ = Path(f"{folder}/y.csv").write_text("cat\\ncat\\ndog\\ndog\\n")
    ...     report = evaluate(f"{folder}/x.npy", f"{folder}/y.csv", metrics="ap,recall@2")
    >>> print(report.table())
    level  queries  left out      ap  recall@2
    1            4         0  0.4583    0.7500
    """
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"{missing} must be given with {given}, got None (one label for each item of the gallery)")
    wanted = metric_names(metrics)
    files = {"gallery_labels": gallery_labels, "gallery": gallery, "labels": labels, "embeddings": embeddings}
    data: dict[str, Tensor] = {}
    read: dict[str, Labels] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for items, classes in (("embeddings", "labels"), ("gallery", "gallery_labels")):
            if (path := files[items]) is not None and (list_path := files[classes]) is not None:
                data[items] = read_embeddings(path, key=key, similarity=similarity)
                n = len(data[items])
                read[classes] = read_labels(list_path, n, columns=columns, key=labels_key, header=header)
        data |= dict(zip(read, _numbered([*read.values()], files), strict=True))
        result = _evaluated(files, data, tuple(wanted.values()), {**settings, "similarity": similarity})
    notes = _assumptions(read, files)
    notes += [str(warning.message).split(" (result[")[0] for warning in caught]  # no Python on a terminal
    if not any(row["queries"] for row in result["table"]):
        notes.append(
            f"{labels}: no query has a relevant item: if these are no labels, choose other columns (--columns)"
        )
    inputs = {
        name: {"file": str(files[name]), "shape": list(data[name].shape)} for name in reversed(files) if name in data
    }
    kept = {name: str(value) if name == "device" else value for name, value in settings.items() if name != "progress"}
    names = read["labels"].names or tuple(str(level) for level in range(1, data["labels"].shape[1] + 1))
    return Report(result, wanted, names, {**inputs, "similarity": similarity, **kept}, tuple(dict.fromkeys(notes)))


def _assumptions(read: Mapping[str, Labels], files: Mapping[str, Any]) -> list[str]:
    """What the files do not say themselves: which row was taken for a head, and what columns are."""
    notes = []
    for role, labels in read.items():
        if labels.names is not None:
            notes.append(f"{files[role]}: the first row, {', '.join(labels.names)!r}, was taken for the head")
        elif labels.paths.shape[1] > 1:
            notes.append(f"{files[role]}: the {labels.paths.shape[1]} columns were taken for levels from root to leaf")
    return notes


def _numbered(read: list[Labels], files: Mapping[str, Any]) -> tuple[Tensor, ...]:
    depths = [part.paths.shape[1] for part in read]
    if len(set(depths)) > 1:
        raise ValueError(
            f"{files['gallery_labels']}: labels must have as many columns as {files['labels']}, {depths[0]}, "
            f"got {depths[1]} (choose with --columns, or leave cells below the end of a path empty)"
        )
    if len(read) == 2:
        check_shared(read[0], read[1], (files["labels"], files["gallery_labels"]))
    return number_labels(*read)


def _evaluated(
    files: Mapping[str, Any], data: dict[str, Tensor], metrics: tuple[str, ...], settings: dict[str, Any]
) -> dict[str, Any]:
    """Evaluate; an error about a parameter names its file."""
    rest: dict[str, Any] = {name: value for name, value in data.items() if name not in ("embeddings", "labels")}
    try:
        return evaluate_retrieval(data["embeddings"], data["labels"], metrics=metrics, **rest, **settings)
    except ValueError as error:
        blamed = next((name for name in files if str(error).startswith(f"{name} ")), None)
        raise ValueError(f"{files[blamed]}: {error}" if blamed else str(error)) from None

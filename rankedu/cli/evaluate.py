"""The command that judges embeddings which somebody has saved."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rankedu.cli._app import app


@app.command()
def evaluate(
    embeddings: Annotated[Path, typer.Argument(help="A row an item: .npy, .npz, .pt, or a FAISS index, .faiss.")],
    labels: Annotated[Path, typer.Argument(help="The same items: .csv, .tsv or .npy; columns from root to leaf.")],
    metrics: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Among ap, ap@K, map@r, mrr, r-precision, recall@K (a hit is enough), recall-share@K, precision@K, "
            "h-ap, asi, ndcg, ndcg@K.",
        ),
    ] = "ap,recall@1,map@r",
    gallery: Annotated[
        Path | None, typer.Option(help="What is ranked; default: the same items, without the query itself.")
    ] = None,
    gallery_labels: Annotated[Path | None, typer.Option("--gallery-labels", help="Goes with --gallery.")] = None,
    similarity: Annotated[str, typer.Option(help="cosine, dot or euclidean: what ranks the items.")] = "cosine",
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns of the table of labels, by name or number.")
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The tables of labels have a head, even if it looks like a label.")
    ] = False,
    key: Annotated[str | None, typer.Option(help="Name of the embeddings in .npz or .pt.")] = None,
    labels_key: Annotated[str | None, typer.Option("--labels-key", help="Name of the labels in .npz or .pt.")] = None,
    alpha: Annotated[float, typer.Option(help="Exponent of the relevance, for h-ap.")] = 1.0,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="Relevance that never inverts levels, for h-ap.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:1.")] = "cpu",
    chunk_size: Annotated[
        int, typer.Option("--chunk-size", help="Queries in work at a time; less takes less memory.")
    ] = 1024,
    form: Annotated[str, typer.Option("--format", help="table or json.")] = "table",
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write JSON to this file too; - prints it instead of the table."),
    ] = None,
) -> None:
    """Judge embeddings that you have saved: each item ranks all others by similarity."""
    from rankedu.checks import check_choice
    from rankedu.files import written
    from ranklab import dumps
    from ranklab.training import pick_device

    try:
        check_choice(form, ("table", "json"), name="format")
        report = dumps.evaluate(
            embeddings,
            labels,
            gallery=gallery,
            gallery_labels=gallery_labels,
            metrics=metrics,
            similarity=similarity,
            columns=columns,
            header=header,
            key=key,
            labels_key=labels_key,
            alpha=alpha,
            monotone=monotone,
            device=pick_device(device),
            chunk_size=chunk_size,
            progress=sys.stderr.isatty(),
        )
        if json_file == Path("-"):
            form = "json"
        elif json_file is not None:
            with written(json_file) as part:
                part.write_text(report.json(), encoding="utf-8")
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu evaluate: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    print(report.table() if form == "table" else report.json().rstrip())

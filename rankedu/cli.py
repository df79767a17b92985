"""The command line. Commands import what they need when they run, so that `rankedu --help` answers at once."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rankedu.labs.tables import Tables

app = typer.Typer(
    name="rankedu",
    help="Optimise the ranking metric itself: the tools of the book.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="The papers' data sets: what there is, and whether yours are whole.", no_args_is_help=True)
app.add_typer(data_app, name="data")
DataRoot = Annotated[
    Path | None, typer.Option("--data-root", help="Folder that holds the data sets; default: $RANKEDU_DATA.")
]


def _version(wanted: bool) -> None:
    if wanted:
        from rankedu import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Optimise the ranking metric itself: the tools of the book."""


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Report versions, processor, GPU, fonts and browser, and what is missing with its fix."""
    from rankedu.doctor import examine, table

    findings = examine()
    print(json.dumps([vars(finding) for finding in findings], indent=1) if as_json else table(findings))
    raise typer.Exit(code=int(any(finding.essential and not finding.ok for finding in findings)))


@app.command()
def figures(
    out: Annotated[Path, typer.Option(help="Folder to write to; made if it is not there.")] = Path("figures"),
) -> None:
    """Write every paper figure as PNG and SVG."""
    from rankedu.figures import write_all

    for path in write_all(out):
        print(path)


@app.command()
def run(
    lab: Annotated[str, typer.Argument(help="Name of the lab, for instance sodeep.")],
    preset: Annotated[str | None, typer.Option(help="A file of presets/, without its ending.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Set a parameter; goes before the preset's.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the run may take; one that hangs is tried twice.")
    ] = 3600,
    runs: Annotated[Path, typer.Option(help="Where the folder of the run is made.")] = Path("runs"),
    labs: Annotated[Path | None, typer.Option(help="Folder of the labs; default: that of the checkout.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Run again what has been run.")] = False,
    explain: Annotated[bool, typer.Option("--list", help="List the lab's parameters and presets instead.")] = False,
) -> None:
    """Run a lab with a preset or parameters of your own; what has been run is not run again."""
    from rankedu.labs import LabError, run_lab

    try:
        if explain:
            print(_about(lab, labs))
            return
        done = run_lab(
            lab, preset=preset, assignments=parameters or (), labs=labs, runs=runs, timeout=timeout, force=force
        )
    except LabError as error:
        print(f"rankedu run: {error}", file=sys.stderr)
        raise typer.Exit(code=1) from None
    except (ValueError, TypeError, FileNotFoundError, ModuleNotFoundError) as error:
        print(f"rankedu run: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    print("Nothing to do: it has been run (--force runs it again)." if done.skipped else "Done.")
    print(done.folder)


@app.command()
def sweep(
    lab: Annotated[str, typer.Argument(help="Name of the lab, for instance retrieval.")],
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="KEY=VALUE,VALUE", help="Values of a parameter; all combinations are run."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Run each with the seeds 0, 1, …, this number less one.", show_default="3")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="A file of presets/, without its ending.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("-p", metavar="KEY=VALUE", help="Set a parameter, the same in all runs.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that a run may take; one that hangs is tried twice.")] = 3600,
    runs: Annotated[Path, typer.Option(help="Where the folders of the runs are made.")] = Path("runs"),
    labs: Annotated[Path | None, typer.Option(help="Folder of the labs; default: that of the checkout.")] = None,
    workers: Annotated[int | None, typer.Option(help="Runs at a time.", show_default="GPUs, or cores")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use the workers of this Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    resources: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="What a run takes of a worker there, such as GPU=1.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs and how far they are instead.")] = False,
) -> None:
    """Run a lab at every point of a grid, for several seeds; what has been run is not run again."""
    from rankedu.labs import SweepError, plan_sweep
    from rankedu.labs import sweep as run_all
    from rankedu.labs.clusters import parse_resources
    from rankedu.labs.sweep_plan import list_states

    given = parameters or ()
    try:
        if dry_run:
            planned = plan_sweep(lab, grid or (), seeds=seeds, preset=preset, assignments=given, labs=labs, runs=runs)
            print(list_states(planned))
            return
        done = run_all(
            lab,
            grid or (),
            seeds=seeds,
            preset=preset,
            assignments=given,
            timeout=timeout,
            workers=workers,
            scheduler=scheduler,
            resources=parse_resources(resources or ()),
            labs=labs,
            runs=runs,
        )
    except KeyboardInterrupt as error:
        print(f"rankedu sweep: {error}", file=sys.stderr)
        raise typer.Exit(code=130) from None
    except SweepError as error:
        print(f"rankedu sweep: {error}", file=sys.stderr)
        raise typer.Exit(code=1) from None
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu sweep: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    fresh = sum(not run.skipped for run in done)
    print(f"Done: {fresh} of {len(done)} runs." if fresh else f"Nothing to do: all {len(done)} runs have been done.")
    print(done[0].folder.parent)


def _about(lab: str, labs: Path | None) -> str:
    """The parameters of a lab, and the presets that fit it."""
    from rankedu.labs import find_labs, list_presets, read_parameters
    from rankedu.labs.folders import find_lab
    from rankedu.labs.parameters import describe

    folder = find_labs(labs)
    declared = read_parameters(find_lab(lab, folder)).values()
    return f"Parameters:\n{describe(declared)}\nPresets: {', '.join(list_presets(lab, folder)) or 'none'}"


@app.command()
def results(
    runs: Annotated[
        list[Path] | None, typer.Option(help="Folder of runs, or of records that were kept; may be given again.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Write a small record of each run to this folder.")] = None,
    lab: Annotated[str | None, typer.Option(help="Only this lab.")] = None,
    by: Annotated[str | None, typer.Option(metavar="A,B", help="Parameters that tell the rows apart.")] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns; the rows are sorted by the first.")
    ] = None,
    where: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only runs with this parameter.")] = None,
    form: Annotated[str, typer.Option("--format", help="markdown, csv or json.")] = "markdown",
    figure: Annotated[Path | None, typer.Option(help="Draw the first metric to this .png or .svg.")] = None,
) -> None:
    """Print a table of the finished runs: one row a setting, mean ± standard deviation over the seeds."""
    from rankedu.labs import keep_runs, tabulate

    try:
        found = tabulate(
            runs or [Path("runs")],
            lab=lab,
            by=by.split(",") if by else None,
            metrics=metrics,
            where=_settings(where or ()),
            form=form,
        )
        for line in found.skipped:
            print(f"skipped {line}", file=sys.stderr)
        if figure is not None:
            _draw(found, figure)
        print(found.text)
        if keep is not None:
            written = keep_runs(found.records, keep)
            print(f"{len(written)} of {len(found.records)} records written to {keep}", file=sys.stderr)
    except BrokenPipeError:  # of `rankedu results | head`
        raise
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu results: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None


def _settings(texts: Sequence[str]) -> dict[str, str]:
    """Read KEY=VALUE texts."""
    for text in texts:
        if "=" not in text:
            raise ValueError(
                f"--where must be followed by KEY=VALUE, got {text!r} (for instance --where loss=smooth_ap)"
            )
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def _draw(found: "Tables", path: Path) -> None:
    """Write the figure of the first metric of a lab."""
    from rankedu.figures import style
    from rankedu.figures.results import compare_settings

    formats = {".png": style.png, ".svg": style.svg}
    if path.suffix not in formats:
        raise ValueError(f"figure must end in {' or '.join(formats)}, got {path}")
    if len(found.rows) > 1:
        raise ValueError(f"figure is of one lab, got {', '.join(found.rows)} (choose with --lab)")
    [(lab, rows)] = found.rows.items()
    path.write_bytes(formats[path.suffix](compare_settings(rows, found.metrics[lab][0])))


@app.command()
def evaluate(
    embeddings: Annotated[Path, typer.Argument(help="A row an item: .npy, .npz, .pt, or a FAISS index, .faiss.")],
    labels: Annotated[Path, typer.Argument(help="The same items: .csv, .tsv or .npy; columns from root to leaf.")],
    metrics: Annotated[
        str, typer.Option(metavar="A,B", help="Among ap, map@r, recall@K, precision@K, h-ap, asi, ndcg.")
    ] = "ap,recall@1,map@r",
    gallery: Annotated[
        Path | None, typer.Option(help="What is ranked; default: the same items, without the query itself.")
    ] = None,
    gallery_labels: Annotated[Path | None, typer.Option("--gallery-labels", help="Goes with --gallery.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns of the table of labels, by name or number.")
    ] = None,
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
        Path | None, typer.Option("--json", metavar="FILE", help="Write JSON to this file too.")
    ] = None,
) -> None:
    """Judge embeddings that you have saved: each item ranks all others by cosine similarity."""
    from rankedu import dumps
    from rankedu._files import written
    from rankedu._validation import check_choice
    from rankedu.training import pick_device

    try:
        check_choice(form, ("table", "json"), name="format")
        report = dumps.evaluate(
            embeddings,
            labels,
            gallery=gallery,
            gallery_labels=gallery_labels,
            metrics=metrics,
            columns=columns,
            key=key,
            labels_key=labels_key,
            alpha=alpha,
            monotone=monotone,
            device=pick_device(device),
            chunk_size=chunk_size,
            progress=sys.stderr.isatty(),
        )
        if json_file is not None:
            with written(json_file) as part:
                part.write_text(report.json(), encoding="utf-8")
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu evaluate: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    print(report.table() if form == "table" else report.json().rstrip())


@app.command("new-chapter")
def new_chapter(
    slug: Annotated[str, typer.Argument(help="Name of its files and modules, for instance soft_sorting.")],
    title: Annotated[str, typer.Option(help="As it stands above the text.")],
    checkout: Annotated[
        Path | None, typer.Option(help="Folder of the repository; default: that of the package.")
    ] = None,
) -> None:
    """Write the files of a new chapter: text, figures, slider, exercises and tests, with brackets where you write."""
    from rankedu.new_chapter import new_chapter as write
    from rankedu.new_chapter import next_steps

    try:
        written = write(slug, title, checkout)
    except (ValueError, OSError) as error:
        print(f"rankedu new-chapter: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    for path in written:
        print(path)
    print(next_steps(written))


@data_app.command("list")
def list_data(data_root: DataRoot = None) -> None:
    """List the data sets: counts as published, whether they are found, and where their owners publish them."""
    from rankedu.datasets.registry import catalogue

    print(catalogue(data_root))


@data_app.command("check")
def check_data(
    name: Annotated[str, typer.Argument(help="Name of the data set, for instance cub.")],
    data_root: DataRoot = None,
    decode: Annotated[bool, typer.Option("--decode", help="Decode every image; name those that cannot be.")] = False,
) -> None:
    """Compare a data set with what is published: lists, files and counts. Leaves with 1 if anything differs."""
    from rankedu.datasets import check

    try:
        report = check(name, data_root, decode=decode, progress=True)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"rankedu data check: {error}", file=sys.stderr)
        raise typer.Exit(code=2) from None
    print(report)
    raise typer.Exit(code=int(not report.ok))

"""The command that trains a network on pictures of your own and evaluates it."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from tabulate import tabulate

from rankedu_lab.cli.shared import reporting


def train(
    source: Annotated[
        Path,
        typer.Argument(
            help="Folder with one folder per class, or table .csv with the columns path,label[,label …][,split]."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="New folder for the results.", show_default="SOURCE-trained")] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder to which the paths in a table are relative.", show_default="the table's")
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Name of the loss, which may be any method of the labs.",
            show_default="roadmap, or happier for a hierarchy",
        ),
    ] = None,
    settings: Annotated[
        str, typer.Option(metavar="'A=1 B=2'", help="Settings of the loss, such as 'margin=0.1'.")
    ] = "",
    model: Annotated[str, typer.Option(help="Network: convnet_wide, resnet34 or resnet50.")] = "convnet_wide",
    weights: Annotated[Path | None, typer.Option(help="File of the first weights, such as a model.pt.")] = None,
    pretrained: Annotated[bool, typer.Option("--pretrained", help="Start a ResNet from ImageNet's weights.")] = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="Train only the last layer, which is quick.")] = False,
    size: Annotated[
        int | None,
        typer.Option(help="Side length of the scaled pictures, in pixels.", show_default="32, or 224 for a ResNet"),
    ] = None,
    dim: Annotated[
        int | None, typer.Option(help="Number of dimensions of an embedding.", show_default="64, or 512 for a ResNet")
    ] = None,
    steps: Annotated[int, typer.Option(help="Number of training steps, with one batch per step.")] = 300,
    batch_size: Annotated[int, typer.Option(help="Largest number of pictures in a batch.")] = 128,
    per_class: Annotated[int, typer.Option(help="Number of pictures per class in a batch.")] = 4,
    lr: Annotated[float | None, typer.Option(help="Learning rate.", show_default="1e-3, or 1e-5 from ImageNet")] = None,
    mirror: Annotated[bool, typer.Option("--mirror", help="Mirror pictures at random in training.")] = False,
    as_stored: Annotated[bool, typer.Option("--as-stored", help="Ignore the EXIF orientation of pictures.")] = False,
    draw_split: Annotated[
        bool, typer.Option("--draw-split", help="Draw the test classes at random, even if there is a split.")
    ] = False,
    test_share: Annotated[
        float, typer.Option(help="Share of the classes that are used for the test.", show_default="a third")
    ] = 1 / 3,
    seed: Annotated[int, typer.Option(help="Seed of the split, the first weights and the batches.")] = 0,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave out pictures and folders that cannot be read.")
    ] = False,
    skip_single: Annotated[bool, typer.Option("--skip-single", help="Leave out classes of one picture.")] = False,
    device: Annotated[str, typer.Option(help="Device: auto, cpu, cuda or cuda:1.")] = "auto",
) -> None:
    """Train a network on your pictures, and write a model card.

    The network is evaluated on classes that are not used in training.
    """
    with reporting("train"):
        from rankedu_lab.experiments import own

        whole = source.resolve()
        folder = out or Path(f"{whole.name if whole.is_dir() else whole.stem}-trained")
        chosen: dict[str, Any] = {name: value for name, value in locals().items() if name in own.SETTINGS}
        chosen |= {"weights": weights and str(weights), "size": own.settled(chosen)["size"]}
        asked: dict[str, Any] = {"as_stored": as_stored, "draw_split": draw_split, "share": test_share, "seed": seed}
        skipped = {"skip_unreadable": skip_unreadable, "skip_single": skip_single}
        with own.claimed(folder, source):
            data = own.read(source, root, size=chosen["size"], **asked, **skipped)
            for line in (f"training: {data.count('train')}", f"test: {data.count('test')}; {data.split}", *data.notes):
                print(line)
            rows = own.train(data, folder, device=device, command=shlex.join(["rankedu", *sys.argv[1:]]), **chosen)
    if rows is None:
        print("Nothing to do: it is done (choose another --out to train anew).")
    else:
        print(tabulate(rows[1:], rows[0], tablefmt="plain", disable_numparse=True))
    print(folder / "card.md")

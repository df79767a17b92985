"""The command that goes from pictures of your own to a network that is judged."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ranklab.cli.shared import telling


def train(
    source: Annotated[Path, typer.Argument(help="A folder of class folders, or a .csv: path,label[,label …][,split].")],
    out: Annotated[Path | None, typer.Option(help="Where all goes.", show_default="SOURCE-trained")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder of a table's pictures.", show_default="the table's")] = None,
    loss: Annotated[
        str | None, typer.Option(help="A method of the labs.", show_default="roadmap; of a hierarchy happier")
    ] = None,
    settings: Annotated[str, typer.Option(metavar="'A=1 B=2'", help="Of the loss.")] = "",
    model: Annotated[str, typer.Option(help="convnet_wide, resnet34 or resnet50.")] = "convnet_wide",
    weights: Annotated[Path | None, typer.Option(help="Start from this file, such as an earlier model.pt.")] = None,
    pretrained: Annotated[bool, typer.Option("--pretrained", help="A ResNet starts from ImageNet.")] = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="Train the last layer alone: the quick way.")] = False,
    size: Annotated[int | None, typer.Option(help="Side of a picture.", show_default="32; of a ResNet 224")] = None,
    dim: Annotated[int | None, typer.Option(help="Of an embedding.", show_default="64; of a ResNet 512")] = None,
    steps: Annotated[int, typer.Option(help="Batches.")] = 300,
    batch_size: Annotated[int, typer.Option(help="Pictures in a batch, at most.")] = 128,
    per_class: Annotated[int, typer.Option(help="Of these, of one class.")] = 4,
    lr: Annotated[float | None, typer.Option(help="Learning rate.", show_default="1e-3; from ImageNet 1e-5")] = None,
    mirror: Annotated[bool, typer.Option("--mirror", help="Mirrored, a picture is of the same class.")] = False,
    test_share: Annotated[float, typer.Option(help="Of the classes.", show_default="a third")] = 1 / 3,
    seed: Annotated[int, typer.Option(help="Of the split, the start and the batches.")] = 0,
    skip_unreadable: Annotated[bool, typer.Option("--skip-unreadable", help="Go on without such pictures.")] = False,
    skip_single: Annotated[bool, typer.Option("--skip-single", help="Go on without classes of one picture.")] = False,
    workers: Annotated[int, typer.Option(help="Processes that read pictures ahead.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:1.")] = "auto",
) -> None:
    """Train a network on your pictures, judge it on classes that it never saw, and write a model card."""
    with telling("train"):
        from ranklab.experiments import own

        folder = out or Path(f"{source.resolve().stem}-trained")
        chosen: dict[str, Any] = {name: value for name, value in locals().items() if name in own.SETTINGS}
        chosen |= {"weights": weights and str(weights)}
        skipped = {"skip_unreadable": skip_unreadable, "skip_single": skip_single}
        data = own.read(source, root, share=test_share, seed=seed, **skipped)
        for line in (f"training: {data.count('train')}", f"test: {data.count('test')}; {data.split}", *data.notes):
            print(line)
        command = shlex.join(["rankedu", *sys.argv[1:]])
        rows = own.train(data, folder, device=device, workers=workers, command=command, **chosen)
    if rows is None:
        print("Nothing to do: it is done (another --out trains anew).")
    else:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print("\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows))
    print(folder / "card.md")

"""The figures of the data cards: what glyphs look like, and what is on scenes, and where."""

import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankedu_book.kit import style
from rankedu_lab.datasets.augmentation import augment
from rankedu_lab.datasets.glyphs import UnicodeGlyphs, script
from rankedu_lab.datasets.scenes import Scenes

#: One character from each of ten scripts, among them a pair of twins (Latin and Cyrillic A) and a lone mark.
CHARACTERS = "gAАβЖՖლຂ⣻╬"
#: Scenes with a crowd, waves, plates, and an object that is difficult.
SCENES = (3, 6, 11, 15, 17)


def glyphs() -> Figure:
    """Draw a row for each character: six of its faces, plain on the left and augmented on the right."""
    data = UnicodeGlyphs("all", characters=list(CHARACTERS))
    number = {name: index for index, name in enumerate(data.names[2])}
    rows = [(data.labels[:, 2] == number[character]).nonzero()[:, 0] for character in CHARACTERS]
    chosen = torch.cat([row[torch.linspace(0, len(row) - 1, 6).round().long()] for row in rows])
    plain = data.images[chosen].float() / 255
    jittered = augment(data.images[chosen], generator=torch.Generator().manual_seed(0))[:, 0]
    scripts = [script(character).title() for character in CHARACTERS]
    figure, axes = style.figure(1, 2, width=7.6, height=0.46 * len(CHARACTERS) + 0.5, sharey=True)
    for axis, images, title in zip(axes, (plain, jittered), ("as drawn", "augmented"), strict=True):
        sheet = images.view(len(CHARACTERS), 6, 32, 32).transpose(1, 2).reshape(32 * len(CHARACTERS), 32 * 6)
        axis.imshow(sheet.numpy(), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
        axis.set_title(title)
        axis.set_xticks([])
        axis.tick_params(left=False)
        axis.spines[:].set_visible(False)
        axis.set_yticks([32 * row + 16 for row in range(len(CHARACTERS))], scripts)
    return style.describe(
        figure,
        f"{len(CHARACTERS)} rows of small pictures, one character each, from {', '.join(scripts)}. "
        "Left: 6 of its faces, upright and slanted, thin and bold. Right: the same pictures turned, sheared, "
        "shifted, blurred and covered with noise.",
    )


def scenes() -> Figure:
    """Draw a row of pictures, and the same with a box around every object."""
    data = Scenes(images=max(SCENES) + 1)
    figure, axes = style.figure(2, len(SCENES), width=7.6, height=2 * 7.6 / len(SCENES))
    facts = []
    for (above, below), index in zip(axes.T, SCENES, strict=True):
        image, target = data[index]
        height, width = image.shape[1:]
        for axis in (above, below):
            axis.imshow(image.permute(1, 2, 0).numpy(), extent=(0, width, height, 0), interpolation="nearest")
            axis.set_axis_off()
        for (x1, y1, x2, y2), difficult in zip(target["boxes"].tolist(), target["difficult"].tolist(), strict=True):
            for colour, weight in (("black", 2.4), ("white", 1.2)):
                line = ":" if difficult and colour == "white" else "-"
                box = Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, edgecolor=colour, lw=weight, ls=line)
                below.add_patch(box)
        facts.append(" ".join(data.names[label - 1] for label in target["labels"].tolist()))
    return style.describe(
        figure,
        f"{len(SCENES)} pictures of coloured characters on textured grounds, upright and turned, large and small, "
        f"some on plates, some partly covered. Below, the same with a box around each object: {'; '.join(facts)}. "
        "Other characters have no box; difficult objects have a dotted one.",
    )

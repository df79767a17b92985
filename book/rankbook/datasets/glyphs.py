"""The figure of the data card: what the glyphs look like, plain and augmented."""

import torch
from matplotlib.figure import Figure

from rankbook.kit import style
from ranklab.datasets.augmentation import augment
from ranklab.datasets.glyphs import UnicodeGlyphs, script

#: One character from each of ten scripts, among them a pair of twins (Latin and Cyrillic A) and a lone mark.
SHOWN = "gAАβЖՖლຂ⣻╬"


def contact_sheet() -> Figure:
    """A row for each character: six of its faces, plain on the left and augmented on the right."""
    data = UnicodeGlyphs("all", characters=list(SHOWN))
    number = {name: index for index, name in enumerate(data.names[2])}
    rows = [(data.labels[:, 2] == number[character]).nonzero()[:, 0] for character in SHOWN]
    chosen = torch.cat([row[torch.linspace(0, len(row) - 1, 6).round().long()] for row in rows])
    plain = data.images[chosen].float() / 255
    jittered = augment(data.images[chosen], generator=torch.Generator().manual_seed(0))[:, 0]
    scripts = [script(character).title() for character in SHOWN]
    made, axes = style.figure(1, 2, width=7.6, height=0.46 * len(SHOWN) + 0.5, sharey=True)
    for axis, images, title in zip(axes, (plain, jittered), ("as drawn", "augmented"), strict=True):
        sheet = images.view(len(SHOWN), 6, 32, 32).transpose(1, 2).reshape(32 * len(SHOWN), 32 * 6)
        axis.imshow(sheet.numpy(), cmap="gray_r", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
        axis.set_title(title)
        axis.set_xticks([])
        axis.tick_params(left=False)
        axis.spines[:].set_visible(False)
        axis.set_yticks([32 * row + 16 for row in range(len(SHOWN))], scripts)
    return style.describe(
        made,
        f"{len(SHOWN)} rows of small pictures, one character each, from {', '.join(scripts)}. "
        "Left: 6 of its faces, upright and slanted, thin and bold. Right: the same pictures turned, sheared, "
        "shifted, blurred and covered with noise.",
    )

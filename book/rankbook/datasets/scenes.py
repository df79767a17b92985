"""The figure of the scenes' data card: what is on them, and where."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankbook.kit import style
from ranklab.datasets.scenes import Scenes

#: Scenes with a crowd, waves, plates, and an object that is difficult.
SHOWN = (3, 6, 11, 15, 17)


def contact_sheet() -> Figure:
    """A row of pictures, and the same with a box around every object."""
    data = Scenes(images=max(SHOWN) + 1)
    made, axes = style.figure(2, len(SHOWN), width=7.6, height=2 * 7.6 / len(SHOWN))
    facts = []
    for (above, below), index in zip(axes.T, SHOWN, strict=True):
        image, target = data[index]
        height, width = image.shape[1:]
        for axis in (above, below):
            axis.imshow(image.permute(1, 2, 0).numpy(), extent=(0, width, height, 0), interpolation="nearest")
            axis.set_axis_off()
        for (x1, y1, x2, y2), difficult in zip(target["boxes"].tolist(), target["difficult"].tolist(), strict=True):
            for colour, weight in (("black", 2.4), ("white", 1.2)):
                line = ":" if difficult and colour == "white" else "-"
                box = Rectangle(
                    (x1, y1), x2 - x1, y2 - y1, fill=False, edgecolor=colour, linewidth=weight, linestyle=line
                )
                below.add_patch(box)
        facts.append(" ".join(data.names[label - 1] for label in target["labels"].tolist()))
    return style.describe(
        made,
        f"{len(SHOWN)} pictures of coloured characters on textured grounds, upright and turned, large and small, "
        f"some on plates, some partly covered. Below, the same with a box around each object: {'; '.join(facts)}. "
        "Other characters have no box; difficult objects have a dotted one.",
    )

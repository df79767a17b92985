"""Numbers and figures of the errata page: what a text says against what its tables give, and what bins do to a list."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from rankedu_book.errata import study
from rankedu_book.kit import style

#: Colour and marker of a verdict.
LOOKS = {
    "same": (style.BLACK, "o"),
    "rounded": (style.POSITIVE, "o"),
    "cut": (style.ORANGE, "s"),
    "differs": (style.RED, "D"),
}


def gains() -> Figure:
    """Draw how far each gain in HAPPIER's text lies from that of its table, and how far rounding reaches."""
    figure, axes = style.figure(width=7.0, height=5.8)
    for verdict, (colour, marker) in LOOKS.items():
        axes.plot([], [], marker, color=colour, label=verdict)
    axes.legend(loc="lower right")
    for at, gain in enumerate(study.GAINS):
        colour, marker = LOOKS[gain.verdict]
        axes.barh(len(study.GAINS) - at, 2 * gain.reach, 0.7, left=-gain.reach, color="#DDDDDD", edgecolor="none")
        axes.plot(gain.text - gain.given, len(study.GAINS) - at, marker, color=colour)
    names = [f"{gain.data}, {gain.metric}, {study.PARTS.get(gain.over, f'over {gain.over}')}" for gain in study.GAINS]
    axes.set_yticks(range(len(study.GAINS), 0, -1), names)
    axes.set_xlabel("gain in the text − gain in the table, in points")
    counts = {verdict: sum(gain.verdict == verdict for gain in study.GAINS) for verdict in LOOKS}
    far = [gain for gain in study.GAINS if gain.verdict == "differs"]
    named = "; ".join(f"{gain}: {gain.text:g} in the text, {gain.given:g} in the table" for gain in far)
    return style.describe(
        figure,
        f"{len(study.GAINS)} gains that the text of HAPPIER quotes, less those of its tables. {counts['same']} are the "
        f"same, {counts['rounded']} may be rounded, {counts['cut']} are cut to whole points, {counts['differs']} differ"
        f": {named}.",
    )


def bins_of_a_perfect_list(bins: Sequence[int] = tuple(range(2, 41))) -> Figure:
    """Draw the loss of a perfectly ranked batch by the number of FastAP's bins."""
    figure, axes = style.figure(width=5.6, height=2.8)
    losses = [study.perfect_list_loss(count) for count in bins]
    axes.plot(bins, losses, "o-", color=style.POSITIVE, markersize=3, label="FastAP")
    axes.axhline(0, color=style.BLACK, linewidth=0.8, label="1 − AP")
    axes.set_xlabel("bins")
    axes.set_ylabel("loss of a perfect ranking")
    style.name_lines(axes)
    facts = ", ".join(f"{study.perfect_list_loss(count):.3f} with {count}" for count in (5, 10, 20, 40))
    style.describe(
        figure, f"FastAP's loss of a perfectly ranked batch, which should be 0, falls with the bins: {facts}."
    )
    return figure

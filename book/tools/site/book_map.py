"""The front page's map of the book, drawn from the needs that the chapters state, and its reading paths."""

import re
import textwrap
from collections.abc import Mapping, Sequence

from tools.site.reading import Way, behind, chapters, homes, minutes, ways
from tools.site.templates import filled

#: In units of the drawing, which a phone shows at about its natural size.
WIDTH, ROW, LANE, LEFT, RADIUS = 340, 40, 20, 16, 12


def lay_out(needs: Mapping[int, Sequence[int]]) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Put each chapter into a lane, and each line (needed, by) into the lane in which it runs.

    From the last chapter up, as histories of branches are drawn: a lane belongs to the chapter that it leads up to, and
    no line runs through a chapter.
    """
    ends: list[int | None] = []  # of each lane, the chapter that it leads up to
    lanes: dict[int, int] = {}
    lines: dict[tuple[int, int], int] = {}

    def free() -> int:
        if None not in ends:
            ends.append(None)
        return ends.index(None)

    for number in sorted(needs, reverse=True):
        lane = ends.index(number) if number in ends else free()
        ends = [None if end == number else end for end in ends]
        lanes[number] = lane
        for needed in sorted(needs[number], reverse=True):
            if needed not in ends:
                ends[lane if ends[lane] is None else free()] = needed
            lines[needed, number] = ends.index(needed)
    return lanes, lines


def svg() -> str:
    """Draw the map as an SVG with the colours of the page, in which every chapter is a link."""
    needs = {number: one.needs for number, one in chapters().items()}
    lanes, lines = lay_out(needs)
    rows = {number: row for row, number in enumerate(sorted(needs))}
    at = {number: (LEFT + LANE * lanes[number], ROW * row + ROW // 2) for number, row in rows.items()}
    return filled(
        "book-map.svg",
        about=f"Map of the book: {len(needs)} chapters from top to bottom, each with a line from every chapter that it "
        "builds on. A list below the map says the same.",
        lit={number: [one for one in sorted({number, *behind(number)}) if needs[one]] for number in needs},
        lines=[(pair, _path(at[pair[0]], at[pair[1]], LEFT + LANE * lane)) for pair, lane in sorted(lines.items())],
        nodes=[(one, at[number], textwrap.wrap(one.title, 29)) for number, one in chapters().items()],
        left=LEFT + LANE * max(*lanes.values(), *lines.values()) + RADIUS + 10,
        width=WIDTH,
        row=ROW,
        radius=RADIUS,
    )


def _path(start: tuple[int, int], end: tuple[int, int], x: int) -> str:
    """Return the line from a chapter to one that needs it, through its lane."""
    (x0, y0), (x1, y1), half = start, end, ROW // 2
    if y1 - y0 <= ROW:
        return f"M{x0} {y0}C{x0} {y0 + half} {x1} {y1 - half} {x1} {y1}"
    top, bottom = y0 + ROW, y1 - ROW
    down = f"C{x0} {y0 + half} {x} {y0 + half} {x} {top}V{bottom}"
    return f"M{x0} {y0}{down}C{x} {bottom + half} {x1} {bottom + half} {x1} {y1}"


def as_list() -> str:
    """Return the map as a list."""
    lines = []
    for number, one in chapters().items():
        needed = " and ".join(f"{{ref}}`{need} <ch-{need:02d}>`" for need in one.needs) or "nothing"
        lines.append(f"* {{ref}}`{number} {one.title} <ch-{number:02d}>` needs {needed}.")
    return "\n".join(lines)


def map_markdown() -> str:
    """Return the map and the list, which the front page includes."""
    listed = f":::{{dropdown}} The map as a list\n:animate: fade-in\n\n{as_list()}\n:::"
    return f"```{{raw}} html\n{svg()}```\n\n{listed}\n"


def ways_markdown() -> str:
    """Return the reading paths, the first of them open."""
    return "\n\n".join(_way(way, open=not at) for at, way in enumerate(ways())) + "\n"


def _way(way: Way, *, open: bool) -> str:
    hours, rest = divmod(way.minutes, 60)
    duration = f"{hours}\u00a0h\u00a0{rest:02d}\u00a0min" if hours else f"{rest}\u00a0min"
    steps = "\n".join(f"1. {_link(step)}, {minutes(step)}\u00a0min" for step in way.steps)
    state = ":open:\n" if open else ""
    return f":::{{dropdown}} {way.title} ({duration})\n:name: path-{way.name}\n{state}\n{way.purpose}\n\n{steps}\n:::"


def _link(step: str) -> str:
    """Return a link to a step of a path, with its title."""
    if re.fullmatch(r"ch-\d\d", step):
        return f"{{ref}}`Chapter {int(step[3:])}: {chapters()[int(step[3:])].title} <{step}>`"
    if step in homes():
        return f"{{ref}}`{step}` (chapter {homes()[step]})"
    return f"{{doc}}`{step}`"

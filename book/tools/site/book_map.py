"""The front page's map of the book, drawn from what the chapters say they need, and its reading paths."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from html import escape

from tools.site.reading import Chapter, Way, behind, chapters, homes, minutes, ways

#: In units of the drawing; a phone shows it at about its own size.
WIDTH, ROW, LANE, LEFT, RADIUS = 340, 40, 20, 16, 12
Needs = Mapping[int, Sequence[int]]


def lay_out(needs: Needs) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
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
    """The map as an SVG that takes its colours from the page; every chapter is a link."""
    needs = {number: one.needs for number, one in chapters().items()}
    lanes, lines = lay_out(needs)
    rows = {number: row for row, number in enumerate(sorted(needs))}
    at = {number: (LEFT + LANE * lanes[number], ROW * row + ROW // 2) for number, row in rows.items()}
    text = LEFT + LANE * max(*lanes.values(), *lines.values()) + RADIUS + 10
    drawn = [_line(at[pair[0]], at[pair[1]], LEFT + LANE * lane, pair) for pair, lane in sorted(lines.items())]
    drawn += [_node(one, at[number], text) for number, one in chapters().items()]
    about = f'role="group" aria-label="{escape(description())}" viewBox="0 0 {WIDTH} {ROW * len(rows)}"'
    head = [f'<svg class="book-map" xmlns="http://www.w3.org/2000/svg" {about}>', f"<style>{_highlights()}</style>"]
    return "\n".join([*head, *drawn, "</svg>\n"])


def _line(start: tuple[int, int], end: tuple[int, int], x: int, pair: tuple[int, int]) -> str:
    """From a chapter into the lane, down it, and out of it to the chapter that needs the first."""
    (x0, y0), (x1, y1) = start, end
    if y1 - y0 <= ROW:
        path = f"M{x0} {y0}C{x0} {y0 + ROW // 2} {x1} {y1 - ROW // 2} {x1} {y1}"
    else:
        top, bottom = y0 + ROW, y1 - ROW
        path = (
            f"M{x0} {y0}C{x0} {y0 + ROW // 2} {x} {y0 + ROW // 2} {x} {top}V{bottom}"
            f"C{x} {bottom + ROW // 2} {x1} {bottom + ROW // 2} {x1} {y1}"
        )
    return f'<path d="{path}" class="from-{pair[0]} to-{pair[1]}"/>'


def _node(chapter: Chapter, at: tuple[int, int], left: int) -> str:
    """A chapter: a disc with its number, its title, a link over the whole row."""
    (x, y), lines = at, textwrap.wrap(chapter.title, 29)
    first = y + 5 - 8 * (len(lines) - 1)
    title = "".join(
        f'<tspan x="{left}" y="{first + 16 * row}">{escape(line)} </tspan>' for row, line in enumerate(lines)
    )
    return (
        f'<a href="chapters/{chapter.stem}.html" class="chapter-{chapter.number}">'
        f'<rect x="0" y="{y - ROW // 2 + 1}" width="{WIDTH}" height="{ROW - 2}" rx="6"/>'
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}"/><text class="number" x="{x}" y="{y + 4}">{chapter.number} </text>'
        f"<text>{title}</text></a>"
    )


def _highlights() -> str:
    """Style rules: whoever points at a chapter sees the lines that lead to it, from wherever they come."""
    rules = []
    for number in chapters():
        lit = ", ".join(f".to-{one}" for one in sorted({number, *behind(number)}) if chapters()[one].needs)
        if lit:
            rules.append(f".book-map:has(.chapter-{number}:is(:hover, :focus-visible)) :is({lit})")
    return f"{', '.join(rules)} {{ stroke: var(--pst-color-primary); stroke-width: 4; }}"


def description() -> str:
    """The map in a sentence."""
    return (
        f"Map of the book: {len(chapters())} chapters from top to bottom, each with a line from every chapter that it "
        "builds on. A list below the map says the same."
    )


def as_list() -> str:
    """The same in words."""
    lines = []
    for number, one in chapters().items():
        needed = " and ".join(f"{{ref}}`{need} <ch-{need:02d}>`" for need in one.needs)
        lines.append(
            f"* {{ref}}`{number} {one.title} <ch-{number:02d}>` " + (f"needs {needed}." if needed else "needs nothing.")
        )
    return "\n".join(lines)


def map_markdown() -> str:
    """What the front page includes."""
    listed = f":::{{dropdown}} The map as a list\n:animate: fade-in\n\n{as_list()}\n:::"
    return f"```{{raw}} html\n{svg()}```\n\n{listed}\n"


def ways_markdown() -> str:
    """The reading paths, of which the first lies open."""
    return "\n\n".join(_way(way, open=not at) for at, way in enumerate(ways())) + "\n"


def _way(way: Way, *, open: bool) -> str:
    hours, rest = divmod(way.minutes, 60)
    duration = f"{hours}\u00a0h\u00a0{rest:02d}\u00a0min" if hours else f"{rest}\u00a0min"
    steps = "\n".join(f"1. {_link(step)}, {minutes(step)}\u00a0min" for step in way.steps)
    state = ":open:\n" if open else ""
    return f":::{{dropdown}} {way.title} ({duration})\n:name: path-{way.name}\n{state}\n{way.purpose}\n\n{steps}\n:::"


def _link(step: str) -> str:
    """A step as a link that says where it leads."""
    if re.fullmatch(r"ch-\d\d", step):
        return f"{{ref}}`Chapter {int(step[3:])}: {chapters()[int(step[3:])].title} <{step}>`"
    if step in homes():
        return f"{{ref}}`{step}` (chapter {homes()[step]})"
    return f"{{doc}}`{step}`"

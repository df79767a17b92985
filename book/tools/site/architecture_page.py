"""What `architecture.md` shows: the rooms of the package as a picture and a table, and every ranker."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from tools.site.architecture import PACKAGE, arrows, imports, rooms

#: What the rooms are for, in bands from the top down: name → its last room.
BANDS = {"library": "landscapes", "lab": "lab/dumps", "book": "book/new_chapter", "shell": "cli"}
#: Pixels: height of a room, of its box, left edge and width of the boxes, and how far an arrow swings out for each room
#: that it passes.
PITCH, HEIGHT, LEFT, WIDTH, SWING = 32, 24, 34, 150, 12


def draw(package: Path = PACKAGE) -> str:
    """The picture: an SVG that takes its colours from the page, so that it can be read in the dark too."""
    order = rooms()
    place = {room: PITCH * (number + 0.5) for number, room in enumerate(order)}
    lines = sorted(arrows(package), key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    far = max(order.index(user) - order.index(used) for used, user in lines)
    size = (LEFT + WIDTH + 0.75 * (16 + SWING * far) + 12, PITCH * len(order))
    words = (
        f"{len(order)} rooms in a column, from {order[0]} at the top to {order[-1]} at the bottom, and {len(lines)} "
        "arrows from a room to those that import from it. All point down. The table below says the same in words."
    )
    parts = [
        f'<svg class="architecture" role="img" aria-label="{escape(words)}" viewBox="0 0 {size[0]:.0f} {size[1]}" '
        f'style="width: 100%; max-width: {1.25 * size[0]:.0f}px; height: auto; color: var(--pst-color-text-base)" '
        'font-family="inherit" font-size="14" xmlns="http://www.w3.org/2000/svg">',
        '<defs><marker id="architecture-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>',
        *_bands(place),
        *(_arrow(used, user, place) for used, user in lines),
        *(_box(room, place[room]) for room in order),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _bands(place: dict[str, float]) -> Iterator[str]:
    """What each stretch of rooms is for, at the left edge."""
    top = 0.0
    for name, last in BANDS.items():
        bottom = place[last] + PITCH / 2
        middle = (top + bottom) / 2
        yield f'<path d="M28 {top + 5:g}V{bottom - 5:g}" stroke="currentColor" stroke-width="2" opacity="0.5"/>'
        yield (
            f'<text x="18" y="{middle:g}" text-anchor="middle" fill="currentColor" '
            f'transform="rotate(-90 18 {middle:g})">{name}</text>'
        )
        top = bottom


def _box(room: str, y: float) -> str:
    return (
        f'<rect x="{LEFT}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" stroke="currentColor" '
        f'fill="var(--pst-color-surface)"/><text x="{LEFT + WIDTH / 2:g}" y="{y + 5:g}" text-anchor="middle" '
        f'fill="currentColor">{room}</text>'
    )


def _arrow(used: str, user: str, place: dict[str, float]) -> str:
    """A curve out to the right and back, the further the more rooms it passes."""
    start, end, edge = place[used] + 5, place[user] - 5, LEFT + WIDTH
    out = edge + 16 + SWING * (place[user] - place[used]) / PITCH
    return (
        f'<path d="M{edge} {start:g}C{out:g} {start:g} {out:g} {end:g} {edge + 1} {end:g}" fill="none" '
        f'stroke="currentColor" stroke-width="1.4" opacity="0.75" marker-end="url(#architecture-tip)">'
        f"<title>{user} imports from {used}</title></path>"
    )


def table(package: Path = PACKAGE) -> str:
    """Every import between rooms, in words."""
    pairs = {(one.room, one.imported) for one in imports(package)}
    lines = ["| room | imports from | is imported by |", "|---|---|---|"]
    for room in rooms():
        above = ", ".join(f"`{name}`" for name in rooms() if (room, name) in pairs)
        below = ", ".join(f"`{name}`" for name in rooms() if (name, room) in pairs)
        lines.append(f"| `{room}` | {above or '—'} | {below or '—'} |")
    return "\n".join(lines) + "\n"


def rankers() -> str:
    """Every ranker of the table, what is turned in it, and which promises it does not keep."""
    import ranklab.contestants  # noqa: F401  its rankers enter the table
    from rankedu.rankers.registry import PROMISES, RANKERS

    lines = ["| ranker | usual strength | does not keep |", "|---|---|---|"]
    for name, known in RANKERS.items():
        turned = known.strength.label(known.strength.usual) if known.strength else "—"
        broken = "; ".join(f"*{promise}*: {why}" for promise, why in known.breaks.items())
        room = known.ranker.__module__.rpartition(".")[0]
        link = f"{{py:class}}`~{room}.{known.ranker.__name__}`"
        lines.append(f"| {name}: {link} | {turned} | {broken or '—'} |")
    kept = "\n".join(f"* *{promise}*: {what}" for promise, what in PROMISES.items())
    return f"{kept}\n\n" + "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """Write what `architecture.md` includes."""
    from rankbook.ch12_surrogates_side_by_side.figures import every_landscape
    from rankbook.kit import style

    (folder / "architecture.svg").write_text(draw(), encoding="utf-8")
    (folder / "rooms.md").write_text(table(), encoding="utf-8")
    (folder / "rankers.md").write_text(rankers(), encoding="utf-8")
    made = every_landscape()
    (folder / "landscapes.png").write_bytes(style.png(made))
    (folder / "landscapes.md").write_text(
        f"```{{figure}} _generated/landscapes.png\n:name: fig-landscapes\n:alt: {style.description(made)}\n\n"
        "The loss of chapter 12's section, and what every ranker with a strength makes of it at one distortion.\n```\n",
        encoding="utf-8",
    )

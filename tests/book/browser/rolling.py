"""How a ball rolls on a map, written anew in Python: `roll.js` is held to it."""

from __future__ import annotations

import math

from rankbook.kit.explorable.grounds import FIRST, LETTERS, SIDE


def roll(way: str, start: tuple[float, float]) -> tuple[list[tuple[float, float]], str]:
    """The places from the start on, and how it ends."""
    trail = [start]
    while len(trail) <= 200:
        x, y = trail[-1]
        letter = ord(way[math.floor(y + 0.5) * SIDE + math.floor(x + 0.5)]) - FIRST
        if letter == 0:
            return trail, "flat"
        angle = 2 * math.pi * (letter - 1) / (LETTERS - 1)
        there = (x + 0.5 * math.cos(angle), y + 0.5 * math.sin(angle))
        trail.append((min(max(there[0], 0), SIDE - 1), min(max(there[1], 0), SIDE - 1)))
        if trail[-1] != there:
            return trail, "edge"
        if len(trail) > 10 and math.dist(trail[-1], trail[-11]) < 1.5:
            return trail, "valley"
    return trail, "way"

"""What a live explorable's reader takes hold of, presses, guesses and starts: plain Python, as in `marks`."""

from rankedu.reference import rank
from rankedu_book.kit.live.marks import NAMES, apart, dot, item, line, said, scaled, text

#: Of the state that every run starts from.
RUN = {"guess": "", "began": [], "steps": 0, "playing": False, "tick": False}


def along(axis, of, at, low, high, start, end):
    """What a drag along "x" or "y" changes: ``state[of][at]``, or ``state[of]`` where ``at`` is None.

    The value is ``low`` where the pointer is at ``start`` and ``high`` where it is at ``end``, and never beyond.
    """
    return {"axis": axis, "of": of, "at": at, "low": low, "high": high, "start": start, "end": end}


def handle(name, x, y, says, moves, also=None, field=None):
    """Something to take hold of, with the keyboard too: ``moves`` has one or two of :func:`along`.

    ``says`` is what a screen reader says of where it stands; ``also`` is put into the state when it is touched; a
    press in its ``field`` of (left, top, width, height) brings it there.
    """
    place = {"name": name, "x": x, "y": y, "says": said(says), "moves": moves}
    return {**place, "also": also or {}, "field": field or [0, 0, 0, 0]}


def slider(name, told, value, y, move):
    """The marks and the handle of a value that moves along a horizontal line, and above it what it is."""
    start, end = move["start"], move["end"]
    x = scaled(value, move["low"], move["high"], start, end)
    track = [text(start, y - 18, told), line([(start, y), (end, y)], "axis"), dot(x, y, "ink", 7)]
    return track, handle(name, x, y, told, [move], None, [start - 8, y - 12, end - start + 16, 24])


def listed(y, relevant, height, left, right, labels=None, held=""):
    """A line of scores with its items: their marks with labels below, and a handle for each.

    ``held`` is the name of what keeps in the state which one was touched last.
    """
    marks, handles, ranks = [line([(left, height), (right, height)], "axis")], [], rank(y)
    places, letters = [scaled(score, 0, 1, left, right) for score in y], labels or NAMES
    longest = max([len(one) for one in letters])
    words = apart(places, 7 + 7 * longest, max(12, 4 * longest), 480 - max(12, 4 * longest))
    for i, x in enumerate(places):
        marks += [item(x, height, relevant[i]), text(words[i], height + 24, letters[i], "small", "middle")]
        says = f"{'relevant' if relevant[i] else 'irrelevant'}, score {y[i]:.2f}, rank {ranks[i]}"
        move, also = along("x", "scores", i, 0, 1, left, right), {held: i} if held else {}
        handles.append(handle(f"Item {NAMES[i]}", x, height, says, [move], also))
    return marks, handles


def button(label, changes, pressed=None, locked=False):
    """A button that puts ``changes`` into the state; one of several that exclude each other is ``pressed`` or not.

    One that is ``locked`` waits for the reader's guess. The page adds one that starts anew.
    """
    return {"label": label, "changes": changes, "pressed": pressed, "locked": locked}


def scene(state, height, marks, handles, buttons, says, found="", question=None):
    """What a live explorable returns: its state with all that it shows, the picture, and the picture in words.

    ``found`` says what has happened, at the end of a run or when the reader has got there; ``question`` is of `ask`.
    What a guess is drawn with is gone when the reader would rather see.
    """
    drawn = state["guess"] != "skip" if question else True
    return {
        "state": {**state, "tick": False},
        "height": height,
        "marks": marks,
        "handles": [one for one in handles if drawn or "guess" not in one["also"]],
        "buttons": buttons,
        "says": said(says),
        "found": said((question["told"] if question else "") + found),
        "ask": question,
    }


def run(state, most, of, pace=1):
    """How far a run has come, for the state: its clock may tick; begun ``of`` other settings, it begins anew."""
    steps = state["steps"] if state["began"] == of else 0
    if state["playing"] and state["tick"]:
        steps = min(steps + pace, most)
    return {"began": of, "steps": steps, "playing": state["playing"] and steps < most}


def run_button(shown, most, first="Start"):
    """What starts a run, stops it and repeats it, once the reader has guessed."""
    label = "Stop" if shown["playing"] else first if shown["steps"] in (0, most) else "Go on"
    changes = {"playing": True, "began": []} if shown["steps"] == most else {"playing": not shown["playing"]}
    return button(label, changes, None, not shown["guess"])


def ask(words, options, guess, right):
    """What the reader shall guess before it is shown, as ``state["guess"]``: one of the options, or to see it at once.

    ``right`` has those that have turned out to be right, and nothing before; what is said then is ``told``.
    """
    told = f"You said: {guess}. {'Right.' if guess in right else 'No: ' + ' and '.join(right) + '.'} "
    told = told if guess in options and right else ""
    return {"words": words, "options": options, "known": bool(right), "told": told}

"""What live explorables ask before they show it, and how they run: plain Python, as in `marks`."""

from rankbook.kit.live.marks import button

#: Of the state that every run starts from.
RUN = {"guess": "", "began": [], "steps": 0, "playing": False, "tick": False}


def run(state, most, key):
    """The steps of a run so far and whether its clock ticks; begun with another ``key`` of settings, it begins anew."""
    steps = state["steps"] if state["began"] == key else 0
    return steps, state["playing"] and steps < most


def run_button(steps, most, playing, locked=False, first="Start"):
    """What starts a run, stops it and repeats it."""
    label = "Stop" if playing else first if steps in (0, most) else "Go on"
    changes = {"playing": True, "began": []} if steps == most else {"playing": not playing}
    return button(label, changes, None, locked)


def ask(words, options, guess, right):
    """What the reader shall guess before it is shown, as ``state["guess"]``: one of the options, or to see it at once.

    ``right`` has those that have turned out to be right, and nothing before; what is said then is ``told``.
    """
    told = f"You said: {guess}. {'Right.' if guess in right else 'No: ' + ' and '.join(right) + '.'} "
    told = told if guess in options and right else ""
    return {"words": words, "options": options, "known": bool(right), "told": told}

"""Chapter 4: a number for λ says nothing until six others stand beside it."""

import math

from rankedu_book.kit.live.hands import along, ask, scene, slider
from rankedu_book.kit.live.marks import apart, bar, dot, line, scaled, text

#: Logarithms to the base 10, in the order of ROWS.
START = {
    "logs": [math.log10(4), math.log10(128), math.log10(128), math.log10(3), 0.0, -1.0],
    "guess": "",
    "tick": False,
}
ROWS = [
    ["λ of the code", -2, 2],
    ["items n", 0.7, 6],
    ["queries", 0, 3],
    ["relevant p", 0, 2],
    ["loss times", -3, 4],
    ["sd of scores", -3, 2],
]
#: λ of the code, items, queries, relevant items: three settings of the paper's retrieval experiments.
PAPERS = [["Online Products", 4.0, 128, 128, 3], ["In-shop", 0.2, 128, 128, 7], ["CUB-200", 0.2, 128, 128, 3]]
#: Mean steps of relevant items, in spreads, that let some items pass some others; the least in lists of 200.
USEFUL, LONGER = [0.06, 0.2], 0.02
VERDICTS = {
    "short": "short: few items pass another",
    "useful": "in between: some items pass others",
    "long": "long: without a margin scores may fall together",
}
LEFT, RIGHT, LOW, HIGH = 128, 366, -4, 3


def units(state):
    """Somebody trained with λ = 4: was that much? Guess, then drag what else they may have done."""
    logs, asked = state["logs"], state["guess"] != ""
    values = [10 ** logs[0], *[float(round(10**k)) for k in logs[1:4]], *[10**k for k in logs[4:]]]
    lam, n, queries, relevant, factor, spread = values
    relevant = min(relevant, n - 1)
    paper = n * lam
    irrelevant = n - relevant
    step = paper * factor / (queries * relevant) * mean_coefficient(irrelevant)
    share = step / spread
    useful = [USEFUL[0] if irrelevant < 100 else LONGER, USEFUL[1]]
    low, high = useful
    kind = "short" if share < low else "long" if share > high else "useful"
    verdict = VERDICTS[kind]
    shown = {**state, "lam": lam, "n": n, "queries": queries, "p": relevant, "loss_scale": factor, "spread": spread}
    shown = {**shown, "lam_of_the_paper": paper, "step": step, "share": share, "useful": useful}
    marks, handles = [], []
    for k, row in enumerate(ROWS):
        name, least, most = row
        y = 22 + 32 * k
        label = f"{values[k]:.3g}" if k != 3 else f"{relevant:.0f}"
        track, knob = slider(name, "", logs[k], y, along("x", "logs", k, least, most, LEFT, RIGHT))
        marks += [text(LEFT - 14, y + 4, name, "", "end"), *track, text(468, y + 4, label, "", "end")]
        handles.append(knob)
    marks += [
        text(12, 232, f"λ of the paper = n × λ of the code = {paper:.3g}"),
        text(12, 254, f"mean step of a relevant item = {step:.3g} of a score"),
        *ruler(useful),
        *(settings(share, spread) if asked else []),
        text(12, 384, f"{share:.2g} spreads, {verdict}" if asked else "? spreads"),
    ]
    question = ask("Was that step", list(VERDICTS.keys()), state["guess"], [kind] if asked else [])
    return scene(shown, 394, marks, handles, [], words(shown, verdict), "", question)


def mean_coefficient(irrelevant):
    """The mean of 1/(1 + r) where r, the irrelevant items ahead, is drawn from 0 to all with equal chances."""
    return (math.log(irrelevant + 1) + 0.5772 + 0.5 / (irrelevant + 1)) / (irrelevant + 1)


def place(share):
    """Where a step stands on the ruler."""
    return scaled(math.log10(share), LOW, HIGH, 32, 456)


def ruler(useful):
    """Steps from 1/10000 to 1000 spreads, the useful ones shaded."""
    low, high = [place(share) for share in useful]
    marks = [bar(low, 300, high - low, 22, "area"), line([(32, 322), (456, 322)], "axis")]
    for power in (-4, -2, 0, 2):
        marks.append(text(place(10**power), 340, f"{10**power:g}", "small", "middle"))
    return marks


def settings(share, spread):
    """Where this setting and those of the papers lie."""
    marks = [dot(place(share), 311, "ink", 7)]
    places = [
        place(items * lam / (queries * p) * mean_coefficient(items - p) / spread)
        for _, lam, items, queries, p in PAPERS
    ]
    letters = apart(places, 16, 24, 464)
    for k, x in enumerate(places):
        marks += [line([(x, 288), (x, 322)], "thin"), text(letters[k], 282, "ABC"[k], "small", "middle")]
    return [*marks, text(12, 362, "A Online Products, B In-shop, C CUB-200", "small")]


def words(shown, verdict):
    """The picture for those who do not see it."""
    low, high = shown["useful"]
    told = f"That is {shown['share']:.3g} spreads, {verdict}; from {low:g} to {high:g} some items pass some others."
    told = told if shown["guess"] else "Was that much?"
    return (
        f"λ is {shown['lam']:.3g} in the code and {shown['lam_of_the_paper']:.3g} in the paper: {shown['n']:.0f} "
        f"items, {shown['queries']:.0f} queries, {shown['p']:.0f} relevant items and scores that spread by "
        f"{shown['spread']:.3g}. The step is {shown['step']:.3g} of a score. {told}"
    )

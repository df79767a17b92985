"""All rankers in one table, of which figures and tests are made: what each promises, and what can be turned in it."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import nn

from rankedu.rankers import BlackboxRanker, HistogramRanker, IdentityRanker, SigmoidRanker, SupremumRanker
from rankedu_lab.contestants import LSTMRanker, ProjectionRanker

#: What a ranker promises, unless it is registered with a reason why not. A test holds each to its word, both ways.
PROMISES: Mapping[str, str] = {
    "order": "a larger score never has the larger rank",
    "sum": "the ranks of n items have the sum n(n + 1)/2",
    "reordering": "items given in another order have the same ranks",
    "shift": "a constant added to all scores changes no rank",
    "where": "to leave an item out is as if it had never been there",
    "slope": "the gradient is the derivative of the ranks that are returned",
}
#: Holds the scores of chapter 12's section and cloud, which are standard normal.
SCORE_RANGE = (-3.5, 5.0)


@dataclass(frozen=True)
class Strength:
    """What can be turned in a ranker; more of it smooths more."""

    symbol: str  #: As the book writes it, such as "λ".
    weakest: float  #: Ranks are exact.
    usual: float  #: Suits standard normal scores.
    strongest: float  #: Standard normal scores have lost their order.
    make: Callable[[float], nn.Module]  #: Strength → ranker.
    tell: Callable[[float], str] | None = None  #: Strength → what a reader knows it by. Default: "λ = 0.3".

    def __post_init__(self) -> None:
        if not 0 < self.weakest < self.usual < self.strongest:
            got = f"{self.weakest}, {self.usual}, {self.strongest}"
            raise ValueError(f"strengths must satisfy 0 < weakest < usual < strongest, got {got}")

    def label(self, strength: float) -> str:
        """The strength as a reader knows it."""
        return self.tell(strength) if self.tell else f"{self.symbol} = {strength:.2g}"


@dataclass(frozen=True)
class KnownRanker:
    """A row of the table."""

    ranker: type[nn.Module]  #: The class.
    example: Callable[[int], nn.Module]  #: n → a ranker for lists of n items.
    strength: Strength | None = None  #: None for a ranker without anything to turn.
    breaks: Mapping[str, str] = field(default_factory=dict)  #: Promise that it does not keep → why.


#: Name → ranker, in the order of the book.
RANKERS: dict[str, KnownRanker] = {}


def register(
    name: str,
    ranker: type[nn.Module],
    strength: Strength | None = None,
    *,
    example: Callable[[int], nn.Module] | None = None,
    breaks: Mapping[str, str] | None = None,
) -> None:
    """Add a ranker to the table under a short name: figures, sliders, tests and the book then have it.

    ``example`` maps n to a ranker for lists of n items, by default one of the usual strength, else ``ranker()``;
    ``breaks`` maps each key of `PROMISES` that it does not keep to the reason. Explained in chapter 12.
    Raises ValueError for a name that is taken, or a promise that does not exist.

    >>> class Softer(SigmoidRanker):
    ...     '''Yours.'''
    >>> register("softer", Softer, Strength("τ", 1e-4, 0.13, 30.0, Softer))
    >>> RANKERS.pop("softer").strength.label(0.5)
    'τ = 0.5'
    """
    if name in RANKERS:
        raise ValueError(f"name must be new, got {name!r}, which is {RANKERS[name].ranker.__name__} already")
    unknown = set(breaks or {}) - set(PROMISES)
    if unknown:
        raise ValueError(f"breaks must be of the promises {', '.join(PROMISES)}, got {', '.join(sorted(unknown))}")
    usual = ranker if strength is None else functools.partial(strength.make, strength.usual)
    RANKERS[name] = KnownRanker(ranker, example or (lambda n: usual()), strength, dict(breaks or {}))


def turnable() -> dict[str, Strength]:
    """The strengths of those that have one, by name: chapter 12 puts them side by side."""
    return {name: known.strength for name, known in RANKERS.items() if known.strength is not None}


def bins_of(width: float) -> int:
    """How many bins of about this width cover `SCORE_RANGE`."""
    return max(1, round((SCORE_RANGE[1] - SCORE_RANGE[0]) / width))


def _of_width(width: float) -> HistogramRanker:
    return HistogramRanker(bins_of(width), SCORE_RANGE)


def _tell_bins(width: float) -> str:
    return f"{bins_of(width)} bin{'s' if bins_of(width) > 1 else ''}"


register(
    "blackbox",
    BlackboxRanker,
    Strength("λ", 1e-4, 0.3, 1e3, BlackboxRanker),
    breaks={"slope": "it returns exact ranks with the gradient of their interpolation"},
)
register(
    "identity",
    IdentityRanker,
    breaks={"slope": "it returns exact ranks with minus the gradient that comes in"},
)
register("sigmoid", SigmoidRanker, Strength("τ", 1e-4, 0.13, 30.0, SigmoidRanker))
#: The strength of a histogram is the width of its bins; like λ, τ and ε, more of it smooths more.
register(
    "histogram",
    HistogramRanker,
    Strength("bins", 1e-3, 0.34, 8.5, _of_width, _tell_bins),
    breaks={"shift": "its bins stand still while the scores move through them"},
)
register("projection", ProjectionRanker, Strength("ε", 1e-4, 0.1, 30.0, ProjectionRanker))
register(
    "LSTM",
    LSTMRanker,
    example=lambda n: LSTMRanker(n).double(),
    breaks={
        "order": "a network may err",
        "sum": "its ranks are independent outputs",
        "reordering": "it reads a list from both ends",
        "shift": "it also depends on the level of the scores",
        "where": "it is made for lists of one length",
    },
)
register("supremum", SupremumRanker, breaks={"sum": "its step lies above the one that counts, and rises without bound"})

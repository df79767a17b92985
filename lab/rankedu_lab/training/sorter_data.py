"""The lists that a sorter learns from: SoDeep's mixture of distributions."""

from collections.abc import Callable

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count

Draw = Callable[[int, int, torch.Generator], Tensor]


def _evenly_spaced(n: int, lists: int, generator: torch.Generator) -> Tensor:
    """From one end of a random part of [-1, 1] to the other, upwards or downwards, in equal steps."""
    start, end = (torch.rand(2, lists, 1, generator=generator) * 2 - 1).unbind(0)
    return start + (end - start) * torch.arange(n) / n


def _shuffled(n: int, lists: int, generator: torch.Generator) -> Tensor:
    """Evenly spaced, in random order."""
    order = torch.rand(lists, n, generator=generator).argsort(-1)
    return _evenly_spaced(n, lists, generator).gather(-1, order)


def _mixed(n: int, lists: int, generator: torch.Generator) -> Tensor:
    """Up to a random place from one of the others, from there on from another."""
    place = torch.randint(1, n, (lists, 1), generator=generator)
    one, other = (_any_of(_PURE, n, lists, generator) for _ in range(2))
    return torch.where(torch.arange(n) < place, one, other)


def _any_of(kinds: dict[str, Draw], n: int, lists: int, generator: torch.Generator) -> Tensor:
    """Each list from one of the distributions, all equally likely."""
    drawn = torch.stack([draw(n, lists, generator) for draw in kinds.values()])
    return drawn[torch.randint(len(kinds), (lists,), generator=generator), torch.arange(lists)]


_PURE: dict[str, Draw] = {
    "uniform": lambda n, lists, generator: torch.rand(lists, n, generator=generator) * 2 - 1,
    "normal": lambda n, lists, generator: torch.randn(lists, n, generator=generator),
    "evenly spaced": _evenly_spaced,
    "shuffled": _shuffled,
}
#: Name → what draws lists of it.
DISTRIBUTIONS: dict[str, Draw] = {**_PURE, "mixed": _mixed}


def draw_scores(
    n: int, lists: int, distribution: str | None = None, *, generator: torch.Generator | None = None
) -> Tensor:
    """Draw ``lists`` lists of n scores to sort, (lists, n): of one distribution, or each of any, all equally likely.

    They are those of SoDeep's released code, but there uniform lists come three times as often, and evenly spaced ones
    stay within [0, 1] or span all of [-1, 1].
    """
    check_count(n, "n", least=2, hint="a list of one item is sorted")
    chosen = torch.default_generator if generator is None else generator
    if distribution is None:
        return _any_of(DISTRIBUTIONS, n, lists, chosen)
    check_choice(distribution, tuple(DISTRIBUTIONS), name="distribution")
    return DISTRIBUTIONS[distribution](n, lists, chosen)

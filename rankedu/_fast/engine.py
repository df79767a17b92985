"""How a loss of ranks is computed: a ranker says what its ranks are, and here is chosen how a loss gets at them.

* By the definition: the ranker ranks, autograd or Algorithm 1 differentiates. It holds for every ranker.
* On packed keys, for a `BlackboxRanker` or an `IdentityRanker` and float32 scores on a CPU: `rankedu._fast.packed`.
* In tiles of pairs, for a `PairwiseRanker`: `rankedu._fast.tiles`, and `hierarchical_tiles` for graded relevance.

The last two make the gradient with the value, in closed form. It is that of the ranker's class, and holds for
subclasses until they override what says the ranks. `rankedu.readable` asks for the definition.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeGuard, TypeVar, cast

import torch
from torch import Tensor

from rankedu._fast import packed, tiles
from rankedu._fast.gradient import Part, at_unit_weight
from rankedu._fast.switch import READABLE
from rankedu.rankers._pairwise import PairwiseRanker
from rankedu.rankers.base import Ranker, shift
from rankedu.rankers.blackbox import BlackboxRanker
from rankedu.rankers.identity import IdentityRanker
from rankedu.rankers.supremum import SupremumRanker

#: What says the ranks. A step is not among them: the tiles ask for it.
MATHEMATICS = ("forward", "among", "against", "ranks_of_positives", "_ranks", "_outranked", "backward_of")

Forward = TypeVar("Forward", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound=Ranker)


def loss_of_positives(
    ranker: Ranker,
    part: Part,
    scores: Tensor,
    positive: Tensor,
    where: Tensor | None,
    *,
    margin: float = 0.0,
    within_grad: bool = False,
    size: Tensor | None = None,
) -> Tensor:
    """Sum up what the positives, at least one, add to a loss: shape ().

    Scores have no NaN among those who take part. Positives are lowered, all others raised by half the margin before
    they are ranked. With ``within_grad`` the gradient flows through the ranks among the positives too. What a positive
    adds is divided by the number of those of its query, or by ``size``, (..., n), for a formula without the ranks among
    the positives: then all items count by a ranker's step, the positives too.
    """
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if not within_grad and on_packed_keys(ranker, scores):
        return packed.loss_of_positives(ranker, part, scores, positive, where, margin, size)
    if in_tiles(ranker):
        hard = isinstance(ranker, SupremumRanker) and size is None
        within = "hard" if hard else "soft" if within_grad else "stopped"
        shifted = shift(scores.detach(), positive, margin)
        return tiles.loss_of_positives(ranker, part, scores, shifted, positive, where, within, size)
    ranks_of, found = ranker.ranks_of_positives, tiles.find(positive.reshape(-1, positive.shape[-1]))
    if size is None:
        size = found.size.view(*positive.shape[:-1], 1).expand_as(positive)
    elif isinstance(ranker, SupremumRanker):
        ranks_of = functools.partial(Ranker.ranks_of_positives, ranker)

    def loss(scores: Tensor) -> Tensor:
        ranks = ranks_of(shift(scores, positive, margin), positive, where, within_grad=within_grad)
        return part(*(x.take(found.place) for x in (*ranks, size)))

    return by_definition(ranker, loss, scores, where)


def by_definition(
    ranker: Ranker, loss: Callable[[Tensor], Tensor], scores: Tensor, where: Tensor | None = None
) -> Tensor:
    """Compute a loss of a ranker's ranks, w times which has w times the gradient."""
    return loss(scores) if ranker.linear else at_unit_weight(loss, scores, where)


def on_packed_keys(ranker: Ranker, scores: Tensor) -> TypeGuard[BlackboxRanker | IdentityRanker]:
    """Whether the exact ranks of these scores, and the ranker's gradient for them, can be had from packed keys."""
    exact = _ranks_as(ranker, BlackboxRanker) or _ranks_as(ranker, IdentityRanker)
    return not READABLE.get() and exact and packed.packable(scores)


def in_tiles(ranker: Ranker) -> TypeGuard[PairwiseRanker]:
    """Whether the ranks are a sum of steps over pairs and nothing else, with nothing in it to be learnt."""
    if READABLE.get() or any(parameter.requires_grad for parameter in ranker.parameters()):
        return False
    return _ranks_as(ranker, SupremumRanker if isinstance(ranker, SupremumRanker) else PairwiseRanker)


def _ranks_as(ranker: Ranker, kind: type[Kind]) -> TypeGuard[Kind]:
    own = type(ranker)
    return issubclass(own, kind) and all(getattr(own, x, None) is getattr(kind, x, None) for x in MATHEMATICS)


def eager(method: Forward) -> Forward:
    """Run a method as it is, within ``torch.compile`` too: the graph ends before it and begins again behind it.

    A loss looks at its data, so that a graph of it would be made anew at each call.
    """
    disabled: list[Any] = []  # asked for late: it imports the compiler, which takes as long as importing torch

    @functools.wraps(method)
    def aside(*args: Any, **options: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return method(*args, **options)
        if not disabled:
            disabled.append(torch.compiler.disable(method))
        return disabled[0](*args, **options)

    return cast(Forward, aside)

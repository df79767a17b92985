"""The opposite smoothing: not the ranks are moved, but the scores are projected onto the hull of all rankings."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_finite, check_number
from rankedu.extras import needed
from rankedu.rankers.base import Ranker, wide

Array = npt.NDArray[Any]


class ProjectionRanker(Ranker):
    r"""Rank by projecting the scores onto the permutahedron (after Blondel et al., 2020).

    .. math:: \mathbf{rk}_\varepsilon(\mathbf{y})
              = \operatorname*{arg\,min}_{\mathbf{r} \in \mathcal{P}_n}
                \mathbf{y} \cdot \mathbf{r} + \frac{\varepsilon}{2} \lVert \mathbf{r} \rVert^2
              = \operatorname*{arg\,min}_{\mathbf{r} \in \mathcal{P}_n}
                \Bigl\lVert \mathbf{r} + \frac{\mathbf{y}}{\varepsilon} \Bigr\rVert^2

    where the permutahedron :math:`\mathcal{P}_n` is the convex hull of all rankings of n items, and ``strength``, ε >
    0, is in units of a score. The scores fall into blocks of neighbours, which isotonic regression finds; within a
    block ranks are linear in the scores, about the mean of the ranks that the block occupies. They are exact, and have
    no gradient, if and only if neighbouring scores differ by ε or more. Equal scores share the mean of their ranks.
    O(n log n) for each row, on the CPU and row by row. Explained in chapter 12.
    Raises ValueError for a strength that is not a finite number > 0.

    >>> ranker = ProjectionRanker(strength=0.5)
    >>> scores = torch.tensor([1.0, 0.0, 0.75], requires_grad=True)
    >>> ranks = ranker(scores)  # the first and the third are a block: 3/2 ± (1 - 0.75)/2 / 0.5
    >>> ranks.detach()
    tensor([1.2500, 3.0000, 1.7500])
    >>> ranks[2].backward()  # make the rank of the third item smaller
    >>> scores.grad
    tensor([ 1.,  0., -1.])
    """

    def __init__(self, strength: float = 1.0) -> None:
        super().__init__()
        hint = "in units of a score: ranks are exact, and have no gradient, once it is below every difference of scores"
        self.strength = check_number(strength, "strength", above=0, hint=hint)

    def extra_repr(self) -> str:
        return f"strength={self.strength:g}"

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        if members is None:
            members = torch.ones_like(scores, dtype=torch.bool)
        taken = scores[members].double()  # row after row
        check_finite(scores, members, "a projection has no other: leave such items out with where=scores.isfinite()")
        rows = members.reshape(-1, members.shape[-1]).sum(-1).tolist()
        found = _find_blocks(taken.detach().cpu().numpy(), rows, self.strength)
        block, place = (torch.from_numpy(part).to(scores.device) for part in found)
        size = block.bincount()

        def mean(values: Tensor) -> Tensor:
            return (values.new_zeros(len(size)).index_add(0, block, values) / size)[block]

        best = taken.detach().new_zeros(len(size)).scatter_reduce(0, block, taken.detach(), "amax", include_self=False)
        above = taken - best[block]  # so that equal scores differ by 0
        ranks = mean(place) - (above - mean(above)) / self.strength
        empty = torch.zeros_like(wide(scores))
        return empty.masked_scatter(members, ranks.to(empty.dtype))


def _find_blocks(values: Array, rows: list[int], strength: float) -> tuple[Array, Array]:
    """Find the block of each item, and its exact rank; the rows, of so many items each, follow each other."""
    isotonic_regression = needed("scipy.optimize", "ProjectionRanker needs SciPy 1.12 or newer").isotonic_regression
    block, place = np.empty(len(values), dtype=np.int64), np.empty(len(values))
    start = blocks = 0
    for n in filter(None, rows):
        order = start + np.argsort(-values[start : start + n], kind="stable")
        gaps = -np.diff(values[order], prepend=values[order[0]])
        # A block never spans a gap of n ε, for ranks differ by less: cut down, large gaps do not swallow small ones.
        pooled = isotonic_regression((np.minimum(gaps, n * strength) / strength).cumsum() - np.arange(n))
        sizes = np.diff(pooled.blocks)
        block[order], place[order] = blocks + np.repeat(np.arange(len(sizes)), sizes), np.arange(1, n + 1)
        start, blocks = start + n, blocks + len(sizes)
    return block, place

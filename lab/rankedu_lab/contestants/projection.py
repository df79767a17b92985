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
    no gradient, if and only if neighbouring scores differ by ε or more; as ε → ∞ they all become (n + 1)/2. Equal
    scores share the mean of their ranks, and each row has the sum n(n + 1)/2. O(n log n) for each row, on the CPU and
    row by row. Explained in chapter 12. Raises ValueError for a strength that is not a finite number > 0.

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
        sizes = members.reshape(-1, members.shape[-1]).sum(-1).tolist()
        found = _find_blocks(taken.detach().cpu().numpy(), sizes, self.strength)
        block, first, size, middle = (torch.from_numpy(part).to(scores.device) for part in found)
        above = taken - taken.detach()[first][block]  # the best of the block, so that equal scores differ by 0
        mean = above.new_zeros(len(size)).index_add(0, block, above) / size
        ranks = middle[block] - (above - mean[block]) / self.strength
        empty = torch.zeros_like(wide(scores))
        return empty.masked_scatter(members, ranks.to(empty.dtype))


def _find_blocks(values: Array, sizes: list[int], strength: float) -> tuple[Array, Array, Array, Array]:
    """Find the blocks of each row; the rows stand one after another in ``values``.

    Returns the block of each item (items,), and of each block its best item, how many it has, and the mean of the ranks
    that it occupies, (blocks,) each.
    """
    isotonic_regression = needed("scipy.optimize", "ProjectionRanker needs SciPy 1.12 or newer").isotonic_regression
    none = np.empty(0, dtype=np.int64)
    block, first, size, middle = np.empty(len(values), dtype=np.int64), [none], [none], [none / 2]
    start = blocks = 0
    for n in filter(None, sizes):
        order = start + np.argsort(-values[start : start + n], kind="stable")
        gaps = -np.diff(values[order], prepend=values[order[0]])
        # A block never spans a gap of n ε, for ranks differ by less: cut down, large gaps do not swallow small ones.
        pooled = isotonic_regression((np.minimum(gaps, n * strength) / strength).cumsum() - np.arange(n))
        edges = np.asarray(pooled.blocks, dtype=np.int64)
        block[order] = blocks + np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        first.append(order[edges[:-1]])
        size.append(np.diff(edges))
        middle.append((edges[:-1] + 1 + edges[1:]) / 2)
        start, blocks = start + n, blocks + len(edges) - 1
    return block, np.concatenate(first), np.concatenate(size), np.concatenate(middle)

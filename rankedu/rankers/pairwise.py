"""Ranks by comparing scores in pairs: the step of the comparison may be smooth."""

import torch
from torch import Tensor

from rankedu.checks import check_number
from rankedu.pairs import Pairs, far, pair_sums
from rankedu.rankers.base import Ranker
from rankedu.ranks import Relevant


class PairwiseRanker(Ranker):
    r"""Count for each item how far the others outrank it, by ``step``, which is 1 or 0 in the rank itself.

    .. math:: \mathbf{rk}(\mathbf{y})_k = 1 + \sum_{j \ne k} \mathrm{step}(y_j - y_k)

    A subclass defines ``step``, elementwise, with 0 and without a slope for very large negative differences.
    """

    def step(self, differences: Tensor) -> Tensor:
        """Count pairs in which the other score is larger by ``differences``; elementwise, differentiable."""
        raise NotImplementedError

    def slope(self, differences: Tensor, steps: Tensor | None = None) -> Tensor:
        """Differentiate ``step``, whose value may be known, elementwise. Override it where that is faster."""
        leaf = differences.detach().requires_grad_()
        with torch.enable_grad():
            found = self.step(leaf)
            if not found.requires_grad:
                return torch.zeros_like(leaf)
            (slope,) = torch.autograd.grad(found.sum(), leaf)
        return slope

    def two_ranks(
        self, scores: Tensor, relevant: Relevant, where: Tensor | None, *, within_grad: bool | None
    ) -> tuple[Tensor, Tensor]:
        """As `Ranker.two_ranks`, from the pairs of relevant items with all others."""
        row, column = relevant.real.nonzero(as_tuple=True)
        weight = None if relevant.grade is None or within_grad is None else share_of_all(relevant)
        pairs = Pairs(row, relevant.item[row, column], weight=weight)
        ranks, weighted = self._sums(bounded(scores, where), pairs)
        if within_grad is None:
            weighted = ranks
        elif weight is None:
            table = bounded(relevant.pick(scores), relevant.real)
            weighted, _ = self._sums(table if within_grad else table.detach(), Pairs(row, column))
        else:
            weighted = (weighted if within_grad else weighted.detach()) / relevant.share[row, column]
        return tabulate(1 + ranks, relevant), tabulate(1 + weighted, relevant)

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        rows = bounded(scores, members).reshape(-1, scores.shape[-1])
        here = torch.ones_like(rows, dtype=torch.bool) if members is None else members.reshape(rows.shape)
        row, item = here.nonzero(as_tuple=True)
        counts, _ = self._sums(rows, Pairs(row, item))
        return torch.zeros_like(rows).masked_scatter(here, 1 + counts).view(scores.shape)

    def _sums(self, scores: Tensor, pairs: Pairs, others: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The sums of the step over pairs of scores, (q, n), or of items k among these with ``others``."""
        learned = tuple(parameter for parameter in self.parameters() if parameter.requires_grad)
        own = scores[pairs.row, pairs.item]
        return pair_sums(self, own, scores if others is None else others, pairs, learned)


def bounded(scores: Tensor, where: Tensor | None) -> Tensor:
    """Infinite scores as very large ones, which tie with each other and have no gradient; not counted outside."""
    largest = torch.finfo(scores.dtype).max / 4
    if where is not None:
        scores = scores.masked_fill(~where, 0.0)  # before the clamp, through which a NaN would pass backward
    scores = scores.clamp(-largest, largest)
    return scores if where is None else scores.masked_fill(~where, far(scores))


def share_of_all(relevant: Relevant) -> Tensor:
    """The share of each item in the relevance of its query, (q, n), from the grades."""
    assert relevant.grade is not None and relevant.drop is not None
    of_grade = torch.nn.functional.pad(relevant.drop.flip(-1).cumsum(-1).flip(-1), (0, 1))
    return of_grade.gather(-1, relevant.grade.long())


def tabulate(values: Tensor, relevant: Relevant) -> Tensor:
    """The values of the relevant items, (p,), in their table, (q, m); 1 in the padding."""
    return torch.ones_like(relevant.real, dtype=values.dtype).masked_scatter(relevant.real, values)


def check_temperature(temperature: float, hint: str = "in units of a score: try 0.01; the limit is rank()") -> float:
    """The temperature τ: a finite number > 0."""
    return check_number(temperature, "temperature", above=0, hint=hint)

"""The ranker of RaMBO: exact ranks, and the gradient of their interpolation."""

import math
from typing import Any

import torch
from torch import Tensor

from rankedu._fast.gradient import crossings, strength
from rankedu.blackbox import differentiate
from rankedu.checks import check_flag, check_lam, warn_caller
from rankedu.rankers.base import Ranker, wide
from rankedu.rankers.reach import SHARE, LongStepWarning, NoStepWarning
from rankedu.ranks import ranked


class BlackboxRanker(Ranker):
    r"""Rank exactly, differentiate by interpolation.

    Ranks minimise a linear cost over the permutations, so :func:`rankedu.blackbox.differentiate` can be applied.

    Parameters
    ----------
    lam : float or "auto"
        Strength λ > 0 of the interpolation: the further apart the scores, the larger it must be. "auto" takes it from
        the data: at the first batch the λ at which a tenth of the pairs change places in which the gradient raises the
        lower item and not the other, then slowly what later batches would take. It is in ``state_dict``.
    normalized : bool
        Divide the ranks by the number n of items that take part in the row; those among members too, so that the ratio
        of the two is a precision (Eq. 21). This is the scale of the released code, whose λ is n times smaller for the
        same gradient: λ_paper = n · λ_code.

    Notes
    -----
    O(n log n) in each direction. Ties go by position. In each row the gradient sums to 0. As of
    :func:`rankedu.blackbox.differentiate`, twice the incoming gradient is twice the λ; the losses of
    :mod:`rankedu.losses` differentiate themselves at weight 1, so that they can be scaled. float32 counts exactly up to
    2²⁴: give longer rows as float64. Explained in chapter 4.
    Warns once, by `NoStepWarning`, if no step reaches the next item, so that the whole gradient is 0; by
    `LongStepWarning` if every step is a hundred times longer than all scores are wide.
    Raises ValueError for ``lam`` that is neither a finite number > 0 nor "auto".
    Source: RaMBO Alg. 1; RaMBO Prop. 1; RaMBO Eq. 11.

    >>> ranker = BlackboxRanker(lam=4.0)
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = ranker(scores)
    >>> ranks.detach()
    tensor([1., 3., 2.])
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> scores.grad
    tensor([ 0.2500, -0.5000,  0.2500])
    """

    linear = False

    def __init__(self, lam: float | str = "auto", normalized: bool = False) -> None:
        super().__init__()
        self.auto = isinstance(lam, str) and lam == "auto"
        self.lam = math.nan if self.auto else check_lam(lam)  # type: ignore[arg-type]
        self.share = SHARE  # of the pairs, for "auto"
        self.normalized = check_flag(normalized, "normalized")
        self._told = False

    def extra_repr(self) -> str:
        lam = f"'auto', now {self.lam:.3g}" if self.auto else f"{self.lam:g}"
        return f"lam={lam}, normalized={self.normalized}"

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.auto:
            destination[f"{prefix}lam"] = torch.tensor(self.lam, dtype=torch.float64)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        if self.auto and f"{prefix}lam" in state_dict:
            state_dict = dict(state_dict)
            self.lam = float(state_dict.pop(f"{prefix}lam"))
        super()._load_from_state_dict(state_dict, prefix, *others)

    def no_step(self, scores: Tensor, gradient: Tensor, members: Tensor | None) -> None:
        """Warn, once, that the gradient is 0; not where no item stands under one that it should pass."""
        if self._told:
            return
        lam, gap = crossings(scores, gradient, members)
        if not len(lam):
            return
        self._told = True
        step = self.lam * gradient.abs().max()
        warn_caller(
            f"lam must be so large that a step reaches the next item, got {self.lam:.3g}: the gradient is 0. The "
            f"longest step, lam times the gradient of a rank, is {step:.2g}, the nearest item {gap.min():.2g} away. "
            f"lam={lam.min():.2g} moves a first pair, lam={lam.quantile(0.1):.2g} a tenth (lam='auto' finds one)",
            NoStepWarning,
        )

    def _hear(self, scores: Tensor, gradient: Tensor, found: Tensor, members: Tensor | None) -> None:
        if self._told or math.isnan(self.lam) or not gradient.numel():
            return
        asked = torch.stack([*torch.aminmax(gradient), found.any(), *torch.aminmax(scores)])  # a GPU is waited for once
        least, most, moved, lowest, highest = asked.tolist()
        if not moved and (least or most):
            self.no_step(scores, gradient, members)
            return
        if not self.lam * max(most, -least) > 100 * (highest - lowest) > 0:
            return
        inside = slice(None) if members is None else members
        shortest = self.lam * gradient[gradient != 0].abs().min()
        width = scores[inside].max() - scores[inside].min()
        if shortest > 100 * width > 0 and shortest.isfinite():
            self._told = True
            warn_caller(
                f"lam must leave steps shorter than the scores are wide, got {self.lam:.3g}, with which they are "
                f"{shortest:.2g} or more among scores {width:.2g} wide: the gradient no longer depends on the scores "
                "(is the loss scaled? scale one of rankedu.losses, or take lam='auto')",
                LongStepWarning,
            )

    def ranks_of_positives(
        self, scores: Tensor, positive: Tensor, where: Tensor | None, *, within_grad: bool
    ) -> tuple[Tensor, Tensor]:
        """As ``Ranker.ranks_of_positives``; of normalised ranks, n times as much: counts again."""
        found = super().ranks_of_positives(scores, positive, where, within_grad=within_grad)
        if not self.normalized:
            return found
        n = scores.shape[-1] if where is None else where.sum(-1, keepdim=True)
        ranks, within = (rank * n + ((rank * n).round() - rank * n).detach() for rank in found)
        return ranks, within

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        def solver(values: Tensor) -> Tensor:
            ranks = ranked(values, members)
            if not self.normalized:
                return ranks
            count = scores.shape[-1] if where is None else where.sum(-1, keepdim=True).clamp(min=1)
            return ranks.to(values) / count

        ranks = differentiate(
            solver,
            (lambda y, gradient: strength(self, y, gradient, members)) if self.auto else self.lam,
            told=lambda y, gradient, found: self._hear(y, gradient, found, members),
        )
        if members is None:
            return ranks(wide(scores))
        # Cut off on both sides: neither a score nor a gradient outside, be it NaN, reaches those who take part.
        out = ~members
        return ranks(wide(scores).masked_fill(out, 0.0)).masked_fill(out, 0.0)

"""The ranker of RaMBO: exact ranks, and the gradient of their interpolation (Algorithm 1)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_flag, check_lam, refuse_second_derivative, warn_caller
from rankedu.rankers.base import Ranker
from rankedu.ranks import Order, Relevant, h_rank

PAIRS = 1 << 15  # of which lam="auto" looks at no more: about a millisecond
SHARE = 0.1  # of the pairs that should change places, how many the steps of lam="auto" reach
FOLLOW = 0.05  # how far λ moves at each batch towards the λ of the batch, on a logarithmic scale

#: λ, or what chooses it from the scores and the incoming gradient; broadcast against the scores.
Strength = float | Callable[[Tensor, Tensor], "float | Tensor"]


class NoStepWarning(UserWarning):
    """No step of a blackbox ranker reaches the next item, so the whole gradient is 0 and nothing is learned."""


class LongStepWarning(UserWarning):
    """The steps of a blackbox ranker are longer than all distances: the gradient no longer depends on the scores."""


class Algorithm1(torch.autograd.Function):
    """RaMBO's Algorithm 1: solve; backward, move the scores by λ times the gradient, solve again, and divide by λ."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, solver: Callable[[Tensor], Tensor], lam: Strength, takes_nan: bool = False
    ) -> Tensor:
        solution = solver(scores)
        ctx.save_for_backward(scores, solution)
        ctx.solver, ctx.lam, ctx.takes_nan = solver, lam, takes_nan
        return solution

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        scores, solution = ctx.saved_tensors
        with torch.no_grad():
            # 0, or NaN if one came in, from an overflow: it is passed on, so that a gradient scaler skips the step.
            overflow = 0 * gradient.sum().nan_to_num(math.nan, 0.0, 0.0)
            if not ctx.takes_nan and overflow.isnan():
                return torch.full_like(scores, math.nan), None, None, None
            lam = ctx.lam(scores, gradient) if callable(ctx.lam) else ctx.lam
            moved = ctx.solver(scores + lam * gradient)
            found = (moved - solution).div_(lam + overflow).to(scores)
        return refuse_second_derivative(found) if torch.is_grad_enabled() else found, None, None, None


class ExactRanker(Ranker):
    """Rank exactly; a subclass says what goes backward, in ``_exact``."""

    def _exact(self, scores: Tensor, members: Tensor | None, n: Any, last: Tensor | None = None) -> Tensor:
        """Rank the members, counting items; ``last`` as in `Order`; n as :meth:`_scale` gives it."""
        raise NotImplementedError

    def _scale(self, scores: Tensor, where: Tensor | None) -> Any:
        """The scale of λ for ranks that count items: 1, or the number of items that take part in a row."""
        return 1

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        if members is None:
            return self._exact(scores, None, self._scale(scores, where))
        # Masked on both sides, so that neither a score nor a gradient outside, NaN included, reaches the members.
        inside = scores.masked_fill(~members, 0.0)
        return self._exact(inside, members, self._scale(scores, where)).masked_fill(~members, 0.0)

    def two_ranks(
        self, scores: Tensor, relevant: Relevant, where: Tensor | None, *, within_grad: bool | None
    ) -> tuple[Tensor, Tensor]:
        """As `Ranker.two_ranks`; ties are broken against the relevant item, which is the limit of a small margin."""
        grade, real, item = relevant.grade, relevant.real, relevant.item
        last, n = relevant.members if grade is None else grade.amax() - grade, self._scale(scores, where)
        ranks = self._exact(scores, where, n, last).gather(-1, item)
        if within_grad is None:
            return ranks, ranks
        table = scores.gather(-1, item)
        if grade is None or relevant.drop is None:
            if within_grad:
                return ranks, self._exact(table, real, n)
            return ranks, Order().ranks(table.masked_fill(~real, -math.inf))  # the padding is at the end of each row
        share = relevant.share.masked_fill(~real, 1.0)
        if not within_grad:
            return ranks, h_rank(table.detach(), relevant, ties="against")[1] / share
        last, grade, total = relevant.pick(last), relevant.pick(grade), torch.zeros_like(table)
        for g, drop in enumerate(relevant.drop.unbind(-1)):
            members = real & (grade <= g)
            ranks_within = self._exact(table, members, n, last).masked_fill(~members, 0.0)
            total = total + drop.unsqueeze(-1) * ranks_within
        return ranks, total / share


class BlackboxRanker(ExactRanker):
    """Rank exactly, differentiate by interpolation. Explained in chapter 4.

    Ranks minimise a linear cost over the permutations, so Algorithm 1 applies. Ties are broken by position; in a loss,
    against the relevant item. O(n log n) in each direction. In each row the gradient sums to 0. It is not linear in the
    incoming one: twice the incoming gradient is twice the λ. The losses of :mod:`rankedu.losses` compute it at weight
    1, so that they can be scaled.

    Parameters
    ----------
    lam : float or "auto"
        Strength λ > 0 of the interpolation: the further apart the scores, the larger it must be. "auto" takes from the
        first batch the λ at which a tenth of those pairs change places in which the gradient raises the lower item and
        not the upper one. Then it follows slowly. It is part of the ``state_dict``.
    normalized : bool
        Divide the ranks by the number n of items that take part in the row. This is the scale of the released code,
        whose λ is n times smaller for the same gradient: λ_paper = n · λ_code. A loss gives both scales the same value.

    Raises
    ------
    ValueError
        For ``lam`` that is neither a finite number > 0 nor "auto".

    Warns
    -----
    NoStepWarning, LongStepWarning
        Once, if no step reaches the next item, so that the whole gradient is 0, or if every step is a hundred times
        longer than the range of the scores. Looked for in the backward passes 1, 2, 4, 8, ….

    References
    ----------
    RaMBO Alg. 1; RaMBO Prop. 1; RaMBO Eq. 11

    Examples
    --------
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = BlackboxRanker(lam=4.0)(scores)
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> ranks.detach(), scores.grad
    (tensor([1., 3., 2.]), tensor([ 0.2500, -0.5000,  0.2500]))
    """

    linear = False

    def __init__(self, lam: float | str = "auto", normalized: bool = False) -> None:
        super().__init__()
        self.auto = isinstance(lam, str) and lam == "auto"
        self.lam = math.nan if self.auto else check_lam(lam)  # type: ignore[arg-type]
        self.normalized = check_flag(normalized, "normalized")
        self._passes, self._warned = 0, False

    def extra_repr(self) -> str:
        lam = f"'auto', now {self.lam:.3g}" if self.auto else f"{self.lam:g}"
        return f"lam={lam}, normalized={self.normalized}"

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        ranks = super()._ranks(scores, members, where)
        return ranks / self._scale(scores, where) if self.normalized else ranks

    def _scale(self, scores: Tensor, where: Tensor | None) -> Any:
        if not self.normalized:
            return 1  # for ranks / n the paper's λ is n times as large
        return scores.shape[-1] if where is None else where.sum(-1, keepdim=True).clamp_(min=1)

    def _exact(self, scores: Tensor, members: Tensor | None, n: Any, last: Tensor | None = None) -> Tensor:
        solver = Order(members, last).ranks
        strength = partial(self._strength, members=members, n=n, in_loss=last is not None)
        ranks: Tensor = Algorithm1.apply(scores, solver, strength, True)
        return ranks

    def _strength(self, scores: Tensor, gradient: Tensor, members: Tensor | None, n: Any, in_loss: bool) -> Any:
        """λ for a step along this gradient of the ranks, n times as large for ranks / n.

        Warns of a step that is too short, and of one that is too long unless a loss computes it, at unit weight.
        """
        least = 0.0
        gradient = n * gradient if self.normalized else gradient
        if self.auto and (self.training or math.isnan(self.lam)):
            found, _ = crossings(scores, gradient, members)
            if len(found):
                share = found.sort().values[math.ceil(SHARE * len(found)) - 1]  # kthvalue is not deterministic
                least, wanted = (1.001 * torch.stack([found.min(), share])).tolist()  # just beyond where two items meet
                self.lam = wanted if math.isnan(self.lam) else self.lam ** (1 - FOLLOW) * wanted**FOLLOW
        lam = 1.0 if math.isnan(self.lam) else max(self.lam, least)
        self._passes += 1
        if not (self._warned or self.auto) and self._passes & (self._passes - 1) == 0:
            self._warned = warn_of_step(scores, gradient, members, lam, in_loss)
        return n * lam

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.auto:
            destination[f"{prefix}lam"] = torch.tensor(self.lam, dtype=torch.float64, device="cpu")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        if self.auto and f"{prefix}lam" in state_dict:
            state_dict = dict(state_dict)
            self.lam = float(state_dict.pop(f"{prefix}lam"))
        super()._load_from_state_dict(state_dict, prefix, *others)


def crossings(scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> tuple[Tensor, Tensor]:
    r"""Find the λ > 0 at which pairs of items change places, (k,), and how far apart these items are.

    Algorithm 1 ranks :math:`\mathbf{y} + \lambda \mathbf{g}` again. An item i that the gradient raises passes an item j
    above it that the gradient does not raise at :math:`\lambda_{ij} = (y_j - y_i) / (g_i - g_j)`. If there is no such
    pair, as in a list in which every item has a gain, the pairs count in which it raises the upper item less. Of more
    than 2¹⁵ pairs a regular sample is looked at.
    """
    n = scores.shape[-1]
    y, g = scores.detach().reshape(-1, n), gradient.detach().reshape(-1, n)
    here = None if members is None else members.reshape(y.shape)
    row, item = (g if here is None else g.masked_fill(~here, 0.0)).nonzero(as_tuple=True)
    columns = slice(None, None, -(-n // PAIRS))
    width = -(-n // columns.step)
    some = slice(None, None, max(1, -(-len(row) * width // PAIRS)))
    row, item = row[some], item[some]
    own, other = g[row, item, None], g[row, columns]
    ahead, slower = y[row, columns] - y[row, item, None], own - other
    pairs = (ahead * slower > 0) & ahead.isfinite()
    if here is not None:
        pairs &= here[row, columns]
    against = pairs & (other * own <= 0)
    found = (against if against.any() else pairs).nonzero(as_tuple=True)
    return ahead[found] / slower[found], ahead[found].abs()


def warn_of_step(scores: Tensor, gradient: Tensor, members: Tensor | None, lam: float, in_loss: bool) -> bool:
    """Warn if a step of this λ reaches no item or, outside a loss, all of them; say whether there was a warning."""
    found, gap = crossings(scores, gradient, members)
    if len(found) and lam < found.min():
        order = Order(members)
        if not torch.equal(order.ranks(scores + lam * gradient), order.ranks(scores)):
            return False  # a pair outside the sample changes places
        warn_caller(
            f"lam={lam:.3g} is too small: no two items change places, so the gradient is zero. The longest step, lam "
            f"times the gradient of a rank, is {lam * gradient.abs().max():.2g}, and the nearest item is "
            f"{gap.min():.2g} away. Use lam >= {found.min():.2g}, which moves a first pair, or "
            f"{found.quantile(0.1):.2g}, which moves a tenth of them, or lam='auto'.",
            NoStepWarning,
        )
        return True
    if in_loss:
        return False
    inside, steps = scores if members is None else scores[members], gradient[gradient != 0].abs()
    if not len(steps) or not lam * steps.min() > 100 * (inside.max() - inside.min()) > 0 or steps.isinf().any():
        return False
    warn_caller(
        f"lam={lam:.3g} is too large: the steps, lam times the gradient of a rank, are {lam * steps.min():.2g} or "
        f"more, and the scores span only {inside.max() - inside.min():.2g}. The gradient no longer depends on the "
        "scores. If the loss is scaled, use a loss of rankedu.losses, which can be scaled; otherwise use lam='auto'.",
        LongStepWarning,
    )
    return True

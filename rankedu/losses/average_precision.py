"""Average precision as a loss: of any ranker, under the names of two of them, and for scores of many classes."""

from typing import Any

from torch import Tensor, nn

from rankedu.checks import check_number, check_values
from rankedu.losses.base import RankLoss, at_unit_weight, check_lists, eager, no_positives
from rankedu.rankers.base import wide
from rankedu.rankers.sigmoid import SigmoidRanker
from rankedu.rankers.supremum import SupremumRanker


class APLoss(RankLoss):
    r"""One minus average precision, of any ranker. Explained in chapter 8.

    .. math:: L_{AP} = 1 - \mathop{\mathbb{E}}_{i \in \mathrm{rel}} \mathrm{Prec}(i), \qquad
              \mathrm{Prec}(i) = \frac{\mathbf{rk}_\alpha(\mathbf{y}^+)_i}{\mathbf{rk}_\alpha(\mathbf{y})_i}

    With exact ranks ties are broken against the relevant item, which is the limit of a vanishing margin. w times the
    loss has w times the gradient. O(n log n) with :class:`~rankedu.rankers.BlackboxRanker`.

    Parameters
    ----------
    ranker : Ranker
        Maps scores to ranks, also among some of the items: ``BlackboxRanker(lam=4.0)`` makes this RaMBO's loss.
    margin : float
        α ≥ 0: relevant scores are lowered and all others raised by α/2 before they are ranked.
    within_grad : bool
        Let the gradient flow through :math:`\mathbf{rk}(\mathbf{y}^+)` too. The paper does not say; the released code
        stops it, and so does the default. Soft rankers usually need True.
    reduction : {"mean", "sum", "none"}
        The mean over the queries with a relevant item, their sum, or the loss of each query. A blackbox ranker takes
        the same steps in all three, those of the mean.

    Raises
    ------
    ValueError
        For a margin that is not a finite number ≥ 0, or an unknown reduction.
    TypeError
        For a ranker that is not one of :mod:`rankedu.rankers`.

    References
    ----------
    RaMBO Eq. 15; RaMBO Eq. 21; RaMBO Eq. 22; RaMBO Tab. 6

    Examples
    --------
    >>> import torch
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> loss = APLoss(BlackboxRanker(lam=2.0))(scores, torch.tensor([False, True, True, False]))
    >>> loss.backward()  # both relevant items should pass the first
    >>> loss.detach(), scores.grad
    (tensor(0.4167), tensor([ 1.0000, -0.5000, -0.5000,  0.0000]))
    """

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        return 1 - within / ranks


class SmoothAPLoss(APLoss):
    r"""One minus the average precision of ranks in which every comparison is a sigmoid. Explained in chapter 9.

    .. math:: L = 1 - \frac{1}{|\mathrm{rel}|} \sum_{k \in \mathrm{rel}}
              \frac{1 + \sum_{j \in \mathrm{rel},\, j \ne k} \sigma\bigl(\frac{y_j - y_k}{\tau}\bigr)}
              {1 + \sum_{j \ne k} \sigma\bigl(\frac{y_j - y_k}{\tau}\bigr)}

    It is ``APLoss(SigmoidRanker(temperature), within_grad=True)`` under the name by which it is known. The released
    code counts the query as its own relevant item, which is ``OnEmbeddings(SmoothAPLoss(), exclude_self=False)``.

    Parameters
    ----------
    temperature : float
        τ > 0, in units of a score.
    reduction : as in :class:`APLoss`

    Raises
    ------
    ValueError
        For a temperature that is not a finite number > 0, or an unknown reduction.

    References
    ----------
    Smooth-AP supp. Tab. S1

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([0.5, 0.49, 0.0], requires_grad=True)
    >>> loss = SmoothAPLoss(temperature=0.01)(scores, torch.tensor([False, True, False]))  # its rank is 1 + σ(1)
    >>> loss.backward()
    >>> loss.detach(), scores.grad
    (tensor(0.4223), tensor([ 6.5613, -6.5613,  0.0000]))
    """

    def __init__(self, temperature: float = 0.01, *, reduction: str = "mean") -> None:
        super().__init__(SigmoidRanker(temperature), within_grad=True, reduction=reduction)


class SupAPLoss(APLoss):
    r"""One minus an average precision whose ranks count irrelevant items by the step of `SupremumRanker`.

    .. math:: L = 1 - \frac{1}{|\Omega^+|} \sum_{k \in \Omega^+} \frac{\mathrm{rank}^{+}(k)}
              {\mathrm{rank}^{+}(k) + \sum_{j \in \Omega^-} \mathrm{step}(s_j - s_k)}

    The ranks among the relevant items are exact and have no gradient. With a setting that keeps the bound, and without
    ties, L is at least the true 1 − AP. It is ``APLoss(SupremumRanker())``; ``SupAPLoss(**PRESETS["roadmap"])`` is the
    published one. Explained in chapter 14.

    Parameters
    ----------
    temperature, slope, delta, offset, start : as in :class:`~rankedu.rankers.SupremumRanker`
    reduction : as in :class:`APLoss`

    Raises
    ------
    ValueError
        As :class:`~rankedu.rankers.SupremumRanker`, and for an unknown reduction.

    References
    ----------
    HAPPIER Sec. 3.2

    Examples
    --------
    >>> import torch
    >>> SupAPLoss()(torch.tensor([0.75, 0.5, 0.25]), torch.tensor([False, True, False]))  # 1 − 1/22.49
    tensor(0.9555)
    """

    ranker: SupremumRanker

    def __init__(
        self,
        temperature: float = 0.01,
        slope: float = 100.0,
        delta: float = 0.05,
        offset: float | None = None,
        start: float = 0.5,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(SupremumRanker(temperature, slope, delta, offset, start), reduction=reduction)


class MAPLoss(nn.Module):
    r"""Mean average precision over classes, plus average precision across all classes at once. Explained in chapter 8.

    .. math:: L = (1 - w)\, \frac{1}{|C_+|} \sum_{c \in C_+} L_{AP}(\mathbf{y}(c), \mathbf{y}^*(c))
              + w\, L_{AP}(\overline{\mathbf{y}}, \overline{\mathbf{y}}^*)

    Each class that has a positive, :math:`C_+`, is a query, and the items of the batch are its candidates. The second
    term, APC, ranks all scores in one list: it pushes irrelevant items down in classes without a positive, too.
    Algorithm 1 sees L as printed: its step is λ (1 − w) times the gradient of the first term, and λ w times that of the
    second.

    Parameters
    ----------
    ranker, margin, within_grad : as in :class:`APLoss`
    memory : ScoreMemory, optional
        Extends the ranked lists by the scores of earlier batches.
    class_agnostic_weight : float
        w in [0, 1]. The default makes the ratio mAP : APC the paper's 2 : 1.

    Raises
    ------
    ValueError, TypeError
        As :class:`APLoss`, and for a weight outside [0, 1] or a memory that is not a `ScoreMemory`.

    References
    ----------
    RaMBO Eq. 6; RaMBO Eq. 22; RaMBO Eq. 23

    Examples
    --------
    >>> import torch
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([[0.9, 0.1], [0.4, 0.3], [0.2, 0.8]])  # three items, two classes
    >>> relevance = torch.tensor([[True, False], [True, True], [False, False]])
    >>> MAPLoss(BlackboxRanker(lam=2.0))(scores, relevance)  # 2/3 of (0 + 1/2)/2 and 1/3 of 1 - (1 + 2/3 + 3/4)/3
    tensor(0.2315)
    """

    def __init__(
        self,
        ranker: Any,
        margin: float = 0.0,
        memory: nn.Module | None = None,
        class_agnostic_weight: float = 1 / 3,
        within_grad: bool = False,
    ) -> None:
        super().__init__()
        if memory is not None and getattr(memory, "holds", None) != "scores":
            raise TypeError(f"memory must be a ScoreMemory, got {memory!r} (e.g. ScoreMemory(length=7))")
        hint = "the share of APC: 1/3 makes mAP : APC = 2 : 1"
        weight = check_number(class_agnostic_weight, "class_agnostic_weight", least=0, most=1, hint=hint)
        self.average_precision = APLoss(ranker, margin, within_grad)
        self.memory: Any = memory
        self.class_agnostic_weight = weight

    def extra_repr(self) -> str:
        return f"class_agnostic_weight={self.class_agnostic_weight:g}"

    @eager
    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """As :meth:`APLoss.forward`, of items that are scored for every class, (..., batch, classes).

        An item may belong to any number of classes. The mean is over the classes that have a relevant item.
        """
        check_values(scores)
        if scores.ndim < 2:
            raise ValueError(
                f"scores must have shape (..., batch, classes), got {tuple(scores.shape)} (for one list use APLoss)"
            )
        if isinstance(relevance, Tensor) and relevance.shape == scores.shape[:-1]:
            raise ValueError(
                f"relevance must have the shape of scores, {tuple(scores.shape)}, got {tuple(relevance.shape)} "
                f"(of class ids make it by torch.nn.functional.one_hot(labels, {scores.shape[-1]}))"
            )
        positive, _, most = check_lists(scores, relevance, where)
        if self.memory is not None:
            scores, positive, where = self.memory.extend(scores, positive, where=where)
        if not (most or positive.any()):
            return no_positives(scores)
        scores = wide(scores)
        everything = scores.new_ones(1)

        def loss(flat: Tensor) -> Tensor:
            tables = [None if x is None else x.transpose(-1, -2) for x in (flat.view_as(scores), positive, where)]
            lists = [None if x is None else x.flatten(-2) for x in tables]
            w = self.class_agnostic_weight
            return ((1 - w) * self._mean(*tables) + w * self._mean(*lists)).view(1)  # type: ignore[arg-type]

        here = None if where is None else where.reshape(1, -1)
        rows = scores.reshape(1, -1)
        linear = self.average_precision.ranker.linear
        return (loss(rows) if linear else at_unit_weight(loss, rows, everything, 1.0, here)).sum()

    def _mean(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        """The mean AP loss of the lists that have a relevant item."""
        shape, count = (-1, scores.shape[-1]), positive.sum(-1)
        ap, where = self.average_precision, None if where is None else where.reshape(shape)
        relevant, answered = ap.relevant(positive.reshape(shape), int(count.max()), scores.dtype), count > 0
        values = ap.of_scores(scores.reshape(shape), relevant, where).view_as(count)
        return ap.reduce(values, answered, answered.sum(), None)

"""SOAP: average precision of small batches, with moving averages of the ranks of all pairs of the training set."""

import torch
from torch import Tensor, nn

from rankedu.checks import check_like, check_number
from rankedu.labels import check_labels, check_rows
from rankedu.rankers.base import wide


class SOAPLoss(nn.Module):
    r"""One minus AP of sigmoid ranks, whose gradient is taken where moving averages of the ranks are (Qi et al. 2021).

    Every item of a batch is a query among the cosines of the others. What a batch counts of the relevant and of the
    irrelevant items is divided by the share of them that it holds, so that a rank is one among the whole training set.

    ``labels``, int of shape (N,), are the classes of the training set; ``gamma`` in (0, 1] is the weight of the newest
    ranks, of which 1 remembers nothing. Keeps 2 N numbers for each item of the largest class. Raises ValueError for
    a temperature or a gamma out of range. Explained in chapter 20.

    >>> loss = SOAPLoss(torch.tensor([0, 0, 1, 1]), temperature=0.1)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, -1.0]], requires_grad=True)
    >>> items = torch.arange(4)  # the whole set: of two queries the relevant item has rank 2.5, of two it has 1.5
    >>> round(loss(embeddings, torch.tensor([0, 0, 1, 1]), items).item(), 4)
    0.4667
    """

    takes_items = True
    place: Tensor
    size: Tensor
    kept: Tensor

    def __init__(self, labels: Tensor, temperature: float = 0.01, gamma: float = 0.9) -> None:
        super().__init__()
        self.temperature = check_number(temperature, "temperature", above=0, hint="of a cosine: try 0.01")
        self.gamma = check_number(gamma, "gamma", above=0, most=1, hint="the weight of the newest ranks")
        number, sizes = labels.unique(return_inverse=True, return_counts=True)[1:]
        order, place = number.sort(stable=True).indices, torch.empty_like(number)
        place[order] = torch.arange(len(order)) - (sizes.cumsum(0) - sizes)[number[order]]
        self.register_buffer("place", place, persistent=False)  # of an item in its class
        self.register_buffer("size", sizes[number], persistent=False)  # of its class
        self.register_buffer("kept", torch.full((len(labels), int(sizes.max()), 2), torch.nan))

    def extra_repr(self) -> str:
        return f"temperature={self.temperature:g}, gamma={self.gamma:g}"

    def forward(self, embeddings: Tensor, labels: Tensor, items: Tensor) -> Tensor:
        """The loss of embeddings (batch, dim) of these items of the training set, (batch,), with their classes.

        Its value is of the averages; queries without a relevant item in the batch are left out.
        """
        check_rows(embeddings, "embeddings")
        labels = check_labels(labels, embeddings)
        check_like(items, labels, name="items", other="labels")
        cosines = nn.functional.normalize(wide(embeddings), dim=-1)
        cosines = cosines @ cosines.T
        same, itself = labels[:, None] == labels, torch.eye(len(labels), dtype=torch.bool, device=labels.device)
        query, item = (same & ~itself).nonzero(as_tuple=True)
        if not len(query):
            return 0.0 * embeddings.sum()
        above = ((cosines[query] - cosines[query, item, None]) / self.temperature).sigmoid()
        here, of_class = same.sum(-1)[query], self.size[items][query]
        relevant = (here - 2) / (of_class - 2).clamp(min=1)  # the shares that the batch holds, but for the pair
        others = (len(labels) - here) / (len(self.size) - of_class).clamp(min=1)
        counted = above.masked_fill(~same[query] | itself[query] | itself[item], 0.0).sum(-1)
        within = 1 + counted / relevant.clamp(min=1 / len(self.size))
        rank = within + above.masked_fill(same[query], 0.0).sum(-1) / others.clamp(min=1 / len(self.size))
        place, new = (items[query], self.place[items][item]), torch.stack([within, rank], -1).detach()
        old = self.kept[place].to(new)
        new = torch.where(old.isnan(), new, old.lerp(new, self.gamma))
        self.kept[place] = new.to(self.kept)
        own, all_ = new.unbind(-1)
        moved = (own * rank - all_ * within) / all_.square()
        queries = (here - 1) * (same.sum(-1) > 1).sum()
        return ((1 - own / all_ + moved - moved.detach()) / queries).sum()

"""The methods of the papers' tables by name: each a loss of embeddings and labels, with its published settings."""

import ast
from typing import Any

import torch
from torch import Tensor, nn

from rankedu_lab.methods.table import METHODS, Method, TrainingSet
from rankedu_lab.runs.parameters import check_known
from rankedu_lab.training.loading import leaves

__all__ = ["METHODS", "Method", "Objective", "find_method", "make_loss", "parse_settings"]


class Objective(nn.Module):
    """A method's loss, called as ``loss(embeddings, labels)``; with ``known`` classes, these may have any ids."""

    known: Tensor

    def __init__(self, method: Method, loss: nn.Module, known: Tensor | None = None) -> None:
        super().__init__()
        self.method, self.takes_paths, self.takes_items, self.loss = method, method.paths, method.takes_items, loss
        self.register_buffer("known", torch.empty(0, dtype=torch.int64) if known is None else known, persistent=False)

    def extra_repr(self) -> str:
        return repr(self.method.name)

    def forward(self, embeddings: Tensor, labels: Tensor, *items: Tensor) -> Tensor:
        """Compute the loss of a batch, a Tensor of shape (); of paths (batch, L) if ``takes_paths``.

        If ``takes_items``, the places of the items in the training set, (batch,), come third.
        """
        return self.loss(embeddings, _numbered(labels, self.known) if len(self.known) else labels, *items)


def _numbered(labels: Tensor, known: Tensor) -> Tensor:
    """Number the leaves by their places among the known ones, which are sorted."""
    ids = leaves(labels).contiguous()
    numbers = torch.searchsorted(known, ids).clamp(max=len(known) - 1)
    strange = known[numbers] != ids
    if strange.any():
        raise ValueError(f"labels must be of the {len(known)} classes of the training set, got {int(ids[strange][0])}")
    return numbers if labels.ndim == 1 else torch.cat([labels[:, :-1], numbers[:, None]], dim=1)


def find_method(name: str) -> Method:
    """Look up a method; ValueError for an unknown name says which are near, and which there are."""
    check_known("loss", name, sorted(METHODS))
    return METHODS[name]


def make_loss(
    name: str, *, dim: int, labels: Tensor | None = None, n_classes: int | None = None, **settings: Any
) -> Objective:
    """Make the loss of a method for embeddings of `dim` dimensions, called as ``loss(embeddings, labels)``.

    `labels` are those of the training set, (N,) or from root to leaf (N, L), of any ids; sums over levels and CSL need
    them. With `n_classes` instead the classes are numbered from 0. A setting of None leaves the default.
    """
    method = find_method(name)
    method.check(settings)
    chosen = {setting: value for setting, value in settings.items() if value is not None}
    known = None
    if n_classes is None and labels is not None:
        classes = leaves(labels).unique()
        n_classes = len(classes)
        if method.proxies and not method.is_sum:  # such a loss keeps a table of the classes
            labels, known = _numbered(labels, classes), classes
    return Objective(method, method.make(TrainingSet(dim, n_classes, labels), **chosen), known)


def parse_settings(text: str) -> dict[str, Any]:
    """Read ``name=value`` pairs with commas or spaces between them: numbers, true and false as such, else strings."""
    settings: dict[str, Any] = {}
    for pair in text.replace(",", " ").split():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise ValueError(f"settings must be name=value each, got {pair!r} (for instance bins=10)")
        try:
            settings[name] = ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings

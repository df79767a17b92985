"""The methods of the papers' tables by name: each a loss of embeddings and labels, with its published settings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.lab.methods.recipes import RECIPES, Recipe, TrainingSet
from rankedu.lab.runs.parameters import did_you_mean
from rankedu.losses import SumOverLevels

__all__ = ["METHODS", "Method", "Objective", "find_method", "make_loss", "parse_settings"]


#: Of which methods the tables have the sum over levels.
SUMS = {
    "triplet_semihard": "HAPPIER Tab. 1–2",
    "normalized_softmax": "HAPPIER Tab. 1–2",
    "proxy_nca_pp": "HAPPIER Tab. 1",
}


@dataclass(frozen=True)
class Method:
    """A row of a table.

    Attributes
    ----------
    name, title, source : str
        What it is asked for by, what the tables call it, and where it stands.
    paths : bool
        Whether it wants label paths from root to leaf; else the class alone.
    proxies : bool
        Whether it learns a vector for each class.
    settings : mapping
        What can be set, each with its default.
    """

    name: str
    title: str
    source: str
    paths: bool
    proxies: bool
    settings: Mapping[str, Any]
    base: str = ""  # of a sum over levels: what is added up

    def check(self, settings: Iterable[str]) -> None:
        """Raise TypeError for a setting that the method does not have."""
        for setting in settings:
            if setting not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise TypeError(f"settings of {self.name!r} must be among {has}, got {setting!r}")


def _methods() -> dict[str, Method]:
    """The recipes, and of each that knows one level alone the sum over all levels."""
    found = {name: Method(name, *recipe[:5]) for name, recipe in RECIPES.items()}
    for name, recipe in RECIPES.items():
        if not recipe.paths:
            title, source = f"Σ {recipe.title}", SUMS.get(name, "not in a table")
            found[f"sum_{name}"] = Method(f"sum_{name}", title, source, True, recipe.proxies, recipe.settings, name)
    return found


#: Every method by its name.
METHODS: Mapping[str, Method] = _methods()


class Objective(nn.Module):
    """A method's loss, made for a training set, called as ``loss(embeddings, labels)``.

    Parameters
    ----------
    method : Method
    loss : Module
    labels : Tensor of int, shape (N,) or (N, L), optional
        Of the training set. Given, the classes are numbered from 0, as losses with proxies want them; their ids may
        then be any.
    """

    known: Tensor

    def __init__(self, method: Method, loss: nn.Module, labels: Tensor | None = None) -> None:
        super().__init__()
        self.method, self.takes_paths, self.loss = method, method.paths, loss
        known = torch.empty(0, dtype=torch.int64) if labels is None else _leaves(labels).unique()
        self.register_buffer("known", known, persistent=False)

    def extra_repr(self) -> str:
        return repr(self.method.name)

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the loss of a batch, a Tensor of shape (); of paths (batch, L) if ``takes_paths``."""
        value: Tensor = self.loss(embeddings, self._numbered(labels) if len(self.known) else labels)
        return value

    def _numbered(self, labels: Tensor) -> Tensor:
        leaves = _leaves(labels).contiguous()
        numbers = torch.searchsorted(self.known, leaves).clamp(max=len(self.known) - 1)
        strange = self.known[numbers] != leaves
        if strange.any():
            raise ValueError(
                f"labels must be of the {len(self.known)} classes of the training set, got {int(leaves[strange][0])}"
            )
        return numbers if labels.ndim == 1 else torch.cat([labels[:, :-1], numbers[:, None]], dim=1)


def _leaves(labels: Tensor) -> Tensor:
    return labels if labels.ndim == 1 else labels[:, -1]


def find_method(name: str) -> Method:
    """Look up a method; ValueError for an unknown name says which are near, and which there are."""
    if name not in METHODS:
        raise ValueError(
            f"loss {name!r} is unknown{did_you_mean(name, METHODS)}; there are: {', '.join(sorted(METHODS))}"
        )
    return METHODS[name]


def make_loss(
    name: str, *, dim: int, labels: Tensor | None = None, n_classes: int | None = None, **settings: Any
) -> Objective:
    """Make the loss of a method.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    dim : int
        Dimension of the embeddings.
    labels : Tensor of int, shape (N,) or (N, L), optional
        Of the training set: classes, or paths from root to leaf, of any ids. Needed by sums over levels and by CSL.
    n_classes : int, optional
        Number of classes of the training set, which are then numbered from 0. Default: counted in ``labels``.
    **settings
        Of the method, see ``METHODS[name].settings``: ``margin``, ``lam``, ``temperature``, ``memory``, ``weight``,
        ``alpha``, … None leaves the default.

    Returns
    -------
    Objective
        ``loss(embeddings, labels)``. Its ``takes_paths`` says whether it wants paths.

    Raises
    ------
    ValueError
        For an unknown name, labels or a number of classes that are missing, or a value out of range.
    TypeError
        For a setting that the method does not have; names those it has.

    Examples
    --------
    >>> loss = make_loss("rambo_log", dim=64, margin=0.05, memory=3)
    >>> loss.takes_paths, loss.loss.memory
    (False, EmbeddingMemory(length=3))
    >>> make_loss("happier", dim=64, labels=torch.tensor([[0, 7], [0, 9], [4, 12]])).loss.cluster
    ClusterLoss(n_classes=3, dim=64, temperature=0.05)
    """
    method = find_method(name)
    method.check(settings)
    chosen = {setting: value for setting, value in settings.items() if value is not None}
    renumbered = labels if n_classes is None and (method.proxies and not method.base) else None
    if n_classes is None and labels is not None:
        n_classes = len(_leaves(labels).unique())
    if method.base:
        loss = _sum_over_levels(method, labels, dim, chosen)
    else:
        known = _renumber(labels) if renumbered is not None and labels is not None else labels
        loss = RECIPES[name].make(TrainingSet(dim, n_classes, known), **chosen)
    return Objective(method, loss, renumbered)


def _renumber(labels: Tensor) -> Tensor:
    """The same labels with the leaves numbered from 0, for a loss that keeps a table of the paths."""
    numbers = _leaves(labels).unique(return_inverse=True)[1]
    return numbers if labels.ndim == 1 else torch.cat([labels[:, :-1], numbers[:, None]], dim=1)


def _sum_over_levels(method: Method, labels: Tensor | None, dim: int, settings: dict[str, Any]) -> nn.Module:
    recipe: Recipe = RECIPES[method.base]
    if labels is None or labels.ndim != 2:
        shape = "None" if labels is None else f"shape {tuple(labels.shape)}"
        raise ValueError(f"labels must be the paths (N, L) of the training set for {method.name!r}, got {shape}")
    return SumOverLevels(lambda n: recipe.make(TrainingSet(dim, n, None), **settings), labels)


def parse_settings(text: str) -> dict[str, Any]:
    """Read ``name=value`` pairs with commas or spaces between them: numbers, true and false as such, else strings.

    Raises
    ------
    ValueError
        Without an equals sign.

    Examples
    --------
    >>> parse_settings("bins=10, monotone=true step=happier")
    {'bins': 10, 'monotone': True, 'step': 'happier'}
    """
    found: dict[str, Any] = {}
    for pair in text.replace(",", " ").split():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise ValueError(f"settings must be name=value each, got {pair!r} (for instance bins=10)")
        try:
            found[name] = ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
        except (ValueError, SyntaxError):
            found[name] = value
    return found

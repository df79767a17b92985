"""The losses on a device that is not the CPU: the same values and gradients, and no scores that are copied to the host.

Without a GPU a tensor stands in that says it lies elsewhere and computes on the CPU. What a GPU would wait for is
counted: numbers that become Python's, shapes that depend on values, and copies.
"""

import contextlib
from collections import Counter
from typing import ClassVar

import pytest
import torch
from cases import LOSSES
from drawn import random
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from rankedu.losses import OnEmbeddings

#: Operators whose result, or its shape, the host has to wait for.
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "bincount", "equal", "_unique2", "tolist"}


class Elsewhere(torch.Tensor):
    """A tensor on a device that is not the CPU, for whoever asks; it holds one on the CPU, and counts waits."""

    waits: ClassVar[Counter] = Counter()

    @staticmethod
    def __new__(cls, held):
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        return torch.Tensor._make_wrapper_subclass(cls, held.size(), **layout, device="meta")

    def __init__(self, held):
        self.held = held

    def tolist(self):
        return compute(torch.ops.aten._to_copy.default, (self,), {"device": "cpu"}).tolist()

    def numpy(self):
        return compute(torch.ops.aten._to_copy.default, (self,), {"device": "cpu"}).numpy()

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


def compute(function, args, kwargs):
    """On the CPU; what comes out lies elsewhere again, unless it was copied to the host."""
    name, copied = function.overloadpacket.__name__, str(kwargs.get("device")) == "cpu"
    if name in ("index", "index_put", "index_put_"):
        name = "nonzero" if any(i is not None and i.dtype == torch.bool for i in args[1]) else name
    if copied:
        name = "tolist"
        assert not args[0].dtype.is_floating_point or args[0].numel() == 1, f"scores are copied: {tuple(args[0].shape)}"
    Elsewhere.waits[name] += name in WAITS

    def here(x):
        return x.held if isinstance(x, Elsewhere) else torch.device("cpu") if isinstance(x, torch.device) else x

    found = function(*tree_map(here, args), **tree_map(here, kwargs))
    bare = lambda x: isinstance(x, torch.Tensor) and not isinstance(x, Elsewhere)  # noqa: E731
    return found if copied else tree_map(lambda x: Elsewhere(x) if bare(x) else x, found)


class Made(TorchDispatchMode):
    """What is made on a tensor's device lies there."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        there = str(kwargs.get("device")) == "meta" or any(issubclass(kind, Elsewhere) for kind in types)
        return compute(function, args, kwargs) if there else function(*args, **kwargs)


@pytest.fixture
def elsewhere(monkeypatch):
    """Lay a tensor elsewhere; autocast, which does not know the place, does nothing there."""
    real, nothing = torch.autocast, contextlib.nullcontext()
    monkeypatch.setattr(torch, "autocast", lambda kind, **more: nothing if kind == "meta" else real(kind, **more))
    Elsewhere.waits.clear()
    with Made():
        yield lambda tensor: Elsewhere(tensor.detach().clone())


#: How often the host may wait.
WAITS_OF = {"smooth ap": 16, "ap of a sigmoid": 16, "fast ap": 16, "ap": 20, "recall": 20, "sup ap": 16, "happier": 40}


@pytest.mark.parametrize("name", WAITS_OF)
def test_values_and_gradients_are_those_of_the_cpu_and_waits_are_few(elsewhere, name):
    loss, counted = OnEmbeddings(LOSSES[name].loss), []
    for size in (32, 64):
        embeddings, classes = random(size, 8, dtype=torch.float32).requires_grad_(), torch.arange(size) // 4
        labels = torch.stack([classes // 2, classes], 1) if name == "happier" else classes
        expected = loss(embeddings, labels)
        expected.backward()
        Elsewhere.waits.clear()
        there = elsewhere(embeddings).requires_grad_()
        found = loss(there, elsewhere(labels))
        found.backward()
        torch.testing.assert_close(found.held.detach(), expected.detach())
        torch.testing.assert_close(there.grad.held, embeddings.grad)
        counted.append(Elsewhere.waits.total())
    assert counted[0] == counted[1] <= WAITS_OF[name], "a larger batch waits no more often"

"""How often the host waits for a GPU in a step: no more often for a larger batch, whose scores are never copied.

Without a GPU the same operators are counted on the CPU, in float64, which has no faster way there.
"""

import pytest
import torch
from cases import LOSSES
from drawn import DEVICES, random, value_and_gradients
from torch.utils._python_dispatch import TorchDispatchMode

from rankedu.losses import OnEmbeddings

pytestmark = pytest.mark.filterwarnings("ignore:lam must")  # as in test_contract.py
#: Operators whose result, or its shape, the host has to wait for.
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "bincount", "equal", "_unique2"}
#: How often the host may wait in a step of a loss.
MOST = {"smooth ap": 16, "ap of a sigmoid": 16, "fast ap": 16, "ap": 20, "recall": 20, "sup ap": 16, "happier": 40}


class Counting(TorchDispatchMode):
    """How often the host waits: for the operators above, an index of True and False, and copies from the device."""

    waits = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, made = function.overloadpacket.__name__, function(*args, **(kwargs or {}))
        picks = name in ("index", "index_put", "index_put_") and any(
            i is not None and i.dtype == torch.bool for i in args[1]
        )
        copied = name == "_to_copy" and made.device.type == "cpu" != args[0].device.type
        assert not copied or not made.is_floating_point() or made.numel() == 1, f"scores are copied: {made.shape}"
        self.waits += name in WAITS or picks or copied
        return made


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MOST)
def test_values_and_gradients_are_those_of_the_cpu_and_waits_are_few(name, device):
    loss, counted = OnEmbeddings(LOSSES[name].loss), []
    for size in (32, 64):
        embeddings, classes = random(size, 8), torch.arange(size) // 4
        labels = torch.stack([classes // 2, classes], 1) if name == "happier" else classes
        expected = value_and_gradients(lambda e: loss(e, labels), embeddings)  # noqa: B023
        given, labels = embeddings.to(device), labels.to(device)
        with Counting() as count:
            found = value_and_gradients(lambda e: loss(e, labels), given)  # noqa: B023
        torch.testing.assert_close(tuple(part.cpu() for part in found), expected)
        counted.append(count.waits)
    assert 0 < counted[0] == counted[1] <= MOST[name], "a larger batch waits no more often"

"""How a loss runs: within torch.compile as it is, with two graphs, before and behind it; and with how much memory."""

import copy
import itertools
import sys
import threading
from pathlib import Path

import pytest
import torch
from cases import EMBEDDED, LOSSES, PATHS
from drawn import DEVICES, random, value_and_gradients
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

import rankedu
from rankedu.losses import APLoss, HAPLoss, MAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from rankedu_lab.contestants import baseline
from rankedu_lab.detections import OnProposals

#: One loss of each forward() that is kept out of the graph.
MADE = {
    **{name: (make, labels) for name, (make, labels) in EMBEDDED.items()},
    **{
        name: (lambda name=name: LOSSES[name].loss, (torch.arange(42).view(7, 6) % 4 == 0).long())
        for name in ("fast ap", "h-ap", "spearman", "calibration", "roadmap")
    },
    "a memory that grows": (lambda: OnEmbeddings(SmoothAPLoss(0.1), memory=EmbeddingMemory(3)), PATHS[:, 1]),
    "one of scores": (lambda: OnProposals(MAPLoss(BlackboxRanker(1e3), memory=ScoreMemory(3))), PATHS[:, 1]),
    "contrastive": (lambda: baseline("contrastive"), PATHS[:, 1]),
}


@pytest.mark.parametrize("name", MADE)
def test_a_compiled_step_has_two_graphs_and_the_same_gradient(name):
    from torch._dynamo.testing import CompileCounter  # a second, and only here

    torch.manual_seed(0)
    make, labels = MADE[name]
    net, compiled, plain = nn.Linear(3, 6), make(), make()
    compiled.load_state_dict(plain.state_dict())
    torch._dynamo.reset()
    counter = CompileCounter()

    @torch.compile(backend=counter)
    def step(images):
        return 0.25 * compiled(net(images).tanh(), labels)

    for seed in range(5):
        images = random(7, 3, seed=seed, dtype=torch.float32)
        found = torch.autograd.grad(step(images), net.weight)[0]
        expected = torch.autograd.grad(0.25 * plain(net(images).tanh(), labels), net.weight)[0]
        torch.testing.assert_close(found, expected)
    assert counter.frame_count == 2  # the network, and the product behind the loss
    assert expected.any()


def peak(loss, *batch):
    """The most bytes that torch holds at a time beyond the batch, in a step forward and back."""
    loss(*batch).backward()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        loss(*batch).backward()
    changes = [event.nbytes() for event in found.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(itertools.accumulate(changes))


def test_a_list_takes_25_bytes_a_score_and_a_batch_little_more_than_its_similarities():
    """Beside these, one sort has a key of 8 bytes per score. A tensor of all triples of 464 items takes 400 MB."""
    classes, embeddings = torch.arange(464) // 4, torch.randn(464, 64).requires_grad_()
    labels = torch.stack([classes // 58, classes // 8, classes], dim=1)
    for loss in (HAPLoss(), HAPLoss(SigmoidRanker(0.01), within_grad=True)):
        assert 1e6 < peak(OnEmbeddings(loss), embeddings, labels) < 40e6
    classes, embeddings = (torch.arange(1024) - 200).clamp(min=0) // 2, torch.randn(1024, 64).requires_grad_()
    assert peak(OnEmbeddings(SmoothAPLoss()), embeddings, classes) < 40e6
    n = 10**6
    y, relevance = torch.empty(n).normal_().requires_grad_(), torch.arange(n) % 100 == 0
    assert 4 * n < peak(APLoss(BlackboxRanker(1e6), margin=0.02), y, relevance) < 25 * n


# How often the host waits for a GPU in a step: no more often for a larger batch, whose scores are never copied.
# Without a GPU the same operators are counted on the CPU, in float64, which has no faster way there.


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
        assert not copied or not made.is_floating_point() or made.numel() < 9, f"scores are copied: {made.shape}"
        self.waits += name in WAITS or picks or copied
        return made


@pytest.mark.filterwarnings("ignore:lam=")  # as in test_contract.py
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MOST)
def test_values_and_gradients_are_those_of_the_cpu_and_waits_are_few(name, device):
    counted = []
    for size in (32, 64):
        loss = OnEmbeddings(copy.deepcopy(LOSSES[name].loss))
        embeddings, classes = random(size, 8), torch.arange(size) // 4
        labels = torch.stack([classes // 2, classes], 1) if name == "happier" else classes
        expected = value_and_gradients(lambda e: loss(e, labels), embeddings)  # noqa: B023
        given, labels = embeddings.to(device), labels.to(device)
        with Counting() as count:
            found = value_and_gradients(lambda e: loss(e, labels), given)  # noqa: B023
        torch.testing.assert_close(tuple(part.cpu() for part in found), expected)
        counted.append(count.waits)
    with Counting() as count:
        torch.ones(2).any().item()
    assert count.waits == 1
    assert counted[0] == counted[1] <= MOST[name], "a larger batch waits no more often"


def test_the_way_of_a_loss_is_short_and_leads_through_algorithm_1():
    """The README's loss, forward and backward: what a debugger steps through, on every device."""
    loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam="auto"), margin=0.1))
    embeddings, package = random(64, 8, dtype=torch.float32).requires_grad_(), Path(rankedu.__file__).parent
    entered = []

    def look(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(package):
            entered.append(file.relative_to(package).as_posix())

    sys.setprofile(look)
    threading.setprofile(look)
    try:
        loss(embeddings, torch.arange(64) // 4).backward()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert {"rankers/blackbox.py", "ranks.py", "losses/recall.py"} <= set(entered)
    changes = sum(a != b for a, b in itertools.pairwise(entered))
    assert len(entered) <= 40 and len(set(entered)) <= 6 and changes <= 12, entered

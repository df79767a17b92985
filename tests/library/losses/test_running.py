"""How a loss runs: within torch.compile as it is, with two graphs, before and behind it; and with how much memory."""

import subprocess
import sys

import pytest
import torch
from cases import EMBEDDED, LOSSES, PATHS
from drawn import DEVICES, random, value_and_gradients
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from rankedu.losses import MAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker
from ranklab.contestants import baseline
from ranklab.detections import OnProposals

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


SCRIPT = """
import torch
from rankedu.losses import APLoss, HAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.rankers import BlackboxRanker, SigmoidRanker

def kib(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))

def grown(loss, few, *many):
    loss(*few).backward()
    open("/proc/self/clear_refs", "w").write("5")
    before = kib("VmRSS")
    loss(*many).backward()
    print((kib("VmHWM") - before) / 1024)

torch.set_num_threads(1)
classes, embeddings = torch.arange(464) // 4, torch.randn(464, 64).requires_grad_()
labels = torch.stack([classes // 58, classes // 8, classes], dim=1)
for loss in (HAPLoss(), HAPLoss(SigmoidRanker(0.01))):
    grown(OnEmbeddings(loss), (embeddings[:64], labels[:64]), embeddings, labels)
classes, embeddings = (torch.arange(1024) - 200).clamp(min=0) // 2, torch.randn(1024, 64).requires_grad_()
grown(OnEmbeddings(SmoothAPLoss()), (embeddings[:64], classes[:64]), embeddings, classes)
n = 4 * 10**6
y, relevance = torch.empty(n).normal_().requires_grad_(), torch.arange(n) % 100 == 0
few = torch.rand(90000, requires_grad=True), relevance[:90000]
grown(APLoss(BlackboxRanker(1e6), margin=0.02), few, y, relevance)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
def test_a_list_takes_20_bytes_a_score_and_a_batch_little_more_than_its_similarities():
    """In MB; one tensor of the definition of H-AP takes 400, the similarities of 1,024 items take 4."""
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    if "clear_refs" in run.stderr:
        pytest.skip("the peak of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    supremum, sigmoid, one_large_class, of_list = map(float, run.stdout.split())
    assert 30 < of_list < 77 and max(supremum, sigmoid) < 60 and one_large_class < 40, run.stdout


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


@pytest.mark.filterwarnings("ignore:lam must")  # as in test_contract.py
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
    with Counting() as count:
        torch.ones(2).any().item()
    assert count.waits == 1
    assert counted[0] == counted[1] <= MOST[name], "a larger batch waits no more often"

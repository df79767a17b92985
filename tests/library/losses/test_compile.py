"""Within torch.compile a loss runs as it is: two graphs, before and behind it, made once."""

import pytest
import torch
from cases import EMBEDDED, LOSSES, PATHS
from drawn import random
from torch import nn

from rankedu.losses import MAPLoss, OnEmbeddings, OnProposals, SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker
from ranklab.contestants import baseline

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

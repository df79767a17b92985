"""Within torch.compile a loss runs as it is: two graphs, before and behind it, made once."""

import pytest
import torch
from drawn import random
from torch import nn

from rankedu.losses import FastAPLoss, HAPPIERLoss, MAPLoss, OnEmbeddings, OnProposals, RecallLoss, SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker
from ranklab.contestants import baseline as make_baseline

LABELS = torch.arange(16) // 4
LOSSES = {
    "recall": lambda: OnEmbeddings(RecallLoss(BlackboxRanker(4.0))),
    "smooth ap": lambda: OnEmbeddings(SmoothAPLoss(0.1)),
    "fast ap": lambda: OnEmbeddings(FastAPLoss()),
    "a memory that grows": lambda: OnEmbeddings(SmoothAPLoss(0.1), memory=EmbeddingMemory(3)),
    "happier": lambda: HAPPIERLoss(n_classes=4, dim=5),
    "map": lambda: OnProposals(MAPLoss(BlackboxRanker(4.0), memory=ScoreMemory(7))),
    "contrastive": lambda: make_baseline("contrastive"),
}


@pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)
def test_a_compiled_step_has_two_graphs_and_the_same_gradient(make):
    from torch._dynamo.testing import CompileCounter  # a second, and only here

    torch.manual_seed(0)
    net, compiled, plain = nn.Linear(3, 5), make(), make()
    compiled.load_state_dict(plain.state_dict())
    images = [random(16, 3, seed=seed, dtype=torch.float32) for seed in range(6)]
    torch._dynamo.reset()
    counter = CompileCounter()

    @torch.compile(backend=counter)
    def step(images):
        return 0.25 * compiled(net(images), LABELS)

    for batch in images:
        found = torch.autograd.grad(step(batch), net.weight)[0]
        expected = torch.autograd.grad(0.25 * plain(net(batch), LABELS), net.weight)[0]
        torch.testing.assert_close(found, expected)
    assert counter.frame_count == 2  # the network, and the product behind the loss
    assert expected.any()

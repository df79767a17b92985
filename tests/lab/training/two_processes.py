"""What test_distributed.py runs in two processes: ``torchrun --nproc-per-node 2 two_processes.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

from rankedu.losses import ClusterLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.memory import EmbeddingMemory
from rankedu.rankers import BlackboxRanker
from ranklab.training import Recipe, distributed, train

BATCH, DIM = 16, 6
LABELS = torch.arange(BATCH) // 4


class Mean(nn.Module):
    """Two layers, in float64, without batch norm."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, DIM)).double()

    def forward(self, images):
        return self.layers(images.double())


class Pictures:
    """40 pictures of 5 classes."""

    images = torch.randint(0, 256, (40, 8, 8), generator=torch.Generator().manual_seed(1)).byte()
    labels = torch.arange(40) // 8


class Both(nn.Module):
    """A ranking loss with a memory, and proxies."""

    def __init__(self):
        super().__init__()
        self.ranking = OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.1), memory=EmbeddingMemory(2))
        self.cluster = ClusterLoss(5, DIM).double()

    def forward(self, embeddings, labels):
        return self.ranking(embeddings, labels) + 0.1 * self.cluster(embeddings, labels)


LOSSES = {
    "smooth_ap": OnEmbeddings(SmoothAPLoss(0.1)),
    "recall": OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.1)),
}


def gradient(name):
    """Of the loss of the global batch, averaged over the processes: of the network, and of proxies."""
    torch.manual_seed(0)
    net, proxies = Mean(), ClusterLoss(4, DIM).double()
    images = torch.randn(BATCH, 1, 8, 8, generator=torch.Generator().manual_seed(2))
    embeddings, labels = distributed.gather(net(distributed.own_part(images)), distributed.own_part(LABELS))
    (LOSSES[name](embeddings, labels) + proxies(embeddings, labels)).backward()
    trained = [*net.parameters(), *proxies.parameters()]
    distributed.average_gradients(trained)
    return torch.cat([parameter.grad.flatten() for parameter in trained])


def trained(folder, steps=5):
    """The network and the loss after some steps; where there are several processes, only the first has this start."""
    torch.manual_seed(distributed.rank())
    net, loss = Mean(), Both()
    recipe = Recipe(optimizer="sgd", clip=1.0, chunk=None if distributed.world_size() == 1 else 3)
    chosen = {"batch_size": BATCH, "lr": 0.1, "recipe": recipe, "folder": folder, "progress": False}
    history = train(net, Pictures(), loss, steps=steps, test=Pictures(), **chosen)
    return {**net.state_dict(), **loss.state_dict()}, history.losses, history.evaluations


def main(folder):
    with distributed.joined():
        rank = distributed.rank()
        found = {name: gradient(name) for name in LOSSES}
        try:
            distributed.gather(torch.ones(3 + rank, 2), torch.zeros(3 + rank))
        except ValueError as error:
            found["unequal"] = str(error)
        trained(folder / "run", steps=3)
        found["trained"] = trained(folder / "run")
        found["main"] = distributed.is_main()
        torch.save(found, folder / f"{rank}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

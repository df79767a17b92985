"""What test_distributed.py runs in two processes: ``torchrun --nproc-per-node 2 two_processes.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from rankedu.losses import ClusterLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from ranklab.training import distributed

BATCH, DIM = 16, 6
LABELS = torch.arange(BATCH) // 4


class Mean(nn.Module):
    """Two layers, in float64, without batch norm."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, DIM)).double()

    def forward(self, images):
        return self.layers(images.double())


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
    for parameter in trained if distributed.world_size() > 1 else ():
        dist.all_reduce(parameter.grad)
        parameter.grad /= distributed.world_size()
    return torch.cat([parameter.grad.flatten() for parameter in trained])


def main(folder):
    with distributed.joined():
        rank = distributed.rank()
        found = {name: gradient(name) for name in LOSSES}
        try:
            distributed.gather(torch.ones(3 + rank, 2), torch.zeros(3 + rank))
        except ValueError as error:
            found["unequal"] = str(error)
        torch.save(found, folder / f"{rank}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

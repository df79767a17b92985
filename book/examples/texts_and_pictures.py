"""Train two towers, one for texts and one for pictures, so that each text finds its picture among all: recall@1.

The pairs are drawn here: two noisy views of the same thing. A number after the script's name sets the steps.
"""

import copy
import sys

import torch
from torch.nn.functional import cross_entropy, normalize

from rankedu.losses import OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
draw = torch.Generator().manual_seed(0)
views = [torch.randn(16, size, generator=draw) / 4 for size in (40, 60)]  # what texts and pictures show of a thing


def pairs(n):
    """Your data goes here: the inputs of the two towers, row by row of the same thing."""
    things = torch.randn(n, 16, generator=draw)
    return [(things @ view).tanh() + 0.4 * torch.randn(n, view.shape[1], generator=draw) for view in views]


def tower(size):
    return torch.nn.Sequential(torch.nn.Linear(size, 128), torch.nn.ReLU(), torch.nn.Linear(128, 32))


def info_nce(embeddings, ids, ref_emb, ref_labels):
    return cross_entropy(normalize(embeddings) @ normalize(ref_emb).T / 0.07, torch.arange(len(ids)))


LOSSES = {
    "untrained": None,
    "InfoNCE": info_nce,
    "Smooth-AP": OnEmbeddings(SmoothAPLoss(0.05)),
    "recall, blackbox": OnEmbeddings(RecallLoss(BlackboxRanker("auto"), margin=0.3)),
}
train, test, ids, everybody = pairs(3000), pairs(1000), torch.arange(128), torch.arange(1000)
print("three starts      R@1 of texts         mean   of pictures")
found = {name: torch.zeros(2, 3) for name in LOSSES}
for name in LOSSES:
    for start in range(3):
        torch.manual_seed(start)
        loss = copy.deepcopy(LOSSES[name])
        towers = torch.nn.ModuleList([tower(40), tower(60)])
        optimizer = torch.optim.Adam(towers.parameters(), lr=2e-3)
        for _ in range(steps if loss else 0):
            some = torch.randperm(3000)[:128]
            texts, pictures = (net(view[some]) for net, view in zip(towers, train, strict=True))
            optimizer.zero_grad()
            for queries, gallery in ((texts, pictures), (pictures, texts)):
                loss(queries, ids, ref_emb=gallery, ref_labels=ids).backward(retain_graph=True)
            optimizer.step()
        with torch.no_grad():
            sides = [net(view) for net, view in zip(towers, test, strict=True)]
        for side, (queries, gallery) in enumerate((sides, sides[::-1])):
            told = evaluate_retrieval(queries, everybody, gallery=gallery, gallery_labels=everybody)
            found[name][side, start] = told["recall_at_1"]
    texts, pictures = found[name]
    print(f"{name:<16}  {'  '.join(f'{value:.3f}' for value in texts)}  {texts.mean():.3f}  {pictures.mean():.3f}")

"""Rank the documents of a query by grades from 0 to 4: lists of different lengths, judged by NDCG@10 and AP.

What a document is worth depends on its features, and how strictly it was graded on the query. A number sets the steps.
"""

import copy
import sys

import torch
from torch.nn.utils.rnn import pad_sequence

from rankedu import where_of
from rankedu.losses import HAPLoss, NDCGLoss
from rankedu.metrics import average_precision, ndcg
from rankedu.rankers import BlackboxRanker, SigmoidRanker

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
draw = torch.Generator().manual_seed(0)
taste, edges = torch.randn(3, 20, generator=draw) / 20**0.5, torch.tensor([0.8, 1.5, 2.2, 3.0])


def lists(queries):
    """Your data goes here: features (documents, 20) and grades (documents,) of each query; padded, with a mask."""
    lengths, grades = torch.randint(5, 41, (queries,), generator=draw), []
    features = [torch.randn(length, 20, generator=draw) for length in lengths.tolist()]
    for x in features:
        worth = (x @ taste[0]) * (x @ taste[1]).sigmoid() + (x @ taste[2]).relu()
        strict = torch.randn(1, generator=draw) + 0.6 * torch.randn(len(x), generator=draw)
        grades.append(torch.bucketize(worth - strict, edges))
    return *(pad_sequence(part, batch_first=True) for part in (features, grades)), where_of(lengths)


def softmax(scores, grades, where):
    gains, logs = (2.0**grades - 1) * where, scores.masked_fill(~where, -1e9).log_softmax(-1)
    return -((gains * logs).sum(-1) / gains.sum(-1).clamp(min=1)).mean()  # listwise cross entropy


LOSSES = {
    "untrained": None,
    "regression": lambda scores, grades, where: (scores - grades).square()[where].mean(),
    "softmax": softmax,
    "NDCG, sigmoid": NDCGLoss(SigmoidRanker(1.0)),
    "NDCG, blackbox": NDCGLoss(BlackboxRanker("auto"), margin=2.0),
    "without margin": NDCGLoss(BlackboxRanker("auto")),
    "H-AP, sigmoid": HAPLoss(SigmoidRanker(1.0), within_grad=True),
}
(x, y, here), (new_x, new_y, new_here) = lists(300), lists(300)
found = {name: torch.zeros(2, 3) for name in LOSSES}
print("three starts    NDCG@10              mean    AP of grades >= 2")
for name in LOSSES:
    for start in range(3):
        torch.manual_seed(start)
        loss = copy.deepcopy(LOSSES[name])
        net = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1), torch.nn.Flatten(1))
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        for some in torch.randint(len(x), (steps if loss else 0, 64)):
            optimizer.zero_grad()
            loss(net(x[some]), y[some], where=here[some]).backward()
            optimizer.step()
        scores = net(new_x).detach()  # queries without a gain, or without such a document, are nan
        found[name][0, start] = ndcg(scores, 2.0**new_y - 1, where=new_here, k=10).nanmean()
        found[name][1, start] = average_precision(scores, new_y >= 2, where=new_here).nanmean()
    at_10, ap = found[name]
    print(f"{name:<14}  {'  '.join(f'{value:.3f}' for value in at_10)}  {at_10.mean():.3f}   {ap.mean():.3f}")

"""Train in plain PyTorch with RaMBO's recall loss; at the end a memory makes the ranked lists longer.

A number after the script's name sets the steps. It leaves the network and a dump of the test set's embeddings.
"""

import sys

import numpy as np
import torch

from rankedu.losses import OnEmbeddings, RecallLoss
from rankedu.memory import EmbeddingMemory
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker
from rankedu_lab.datasets import UnicodeGlyphs, augment
from rankedu_lab.models import ConvNet
from rankedu_lab.training import ClassBalancedSampler

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
torch.manual_seed(0)
train, test = UnicodeGlyphs("train"), UnicodeGlyphs("test")  # your data goes here
keep = test.labels[:, 0] == test.names[0].index("GREEK")
views, classes = augment(test.images[keep]), test.labels[keep, -1]

net = ConvNet(dim=64)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
recall = RecallLoss(BlackboxRanker(lam="auto"), margin=0.1)


@torch.no_grad()
def embed(images):
    net.eval()
    embeddings = torch.cat([net(part) for part in images.split(256)])
    net.train()
    return embeddings


def judge(when):
    found = evaluate_retrieval(embed(views), classes, metrics=("recall_at_1", "average_precision"))
    print(f"{when:<15} R@1 {found['recall_at_1']:.2f}   mAP {found['average_precision']:.2f}")
    return found["recall_at_1"]


before = judge("untrained")
batches = ClassBalancedSampler(train.labels[:, -1], batch_size=128, per_class=4, batches=steps, seed=0)
loss = OnEmbeddings(recall)
for step, chosen in enumerate(batches):
    if step == 3 * steps // 4:  # a memory wants a network that knows something, and that changes slowly
        judge("without memory")
        loss = OnEmbeddings(recall, memory=EmbeddingMemory(length=3))  # in batches
        optimizer.param_groups[0]["lr"] /= 10
    optimizer.zero_grad()
    loss(net(augment(train.images[chosen])), train.labels[chosen, -1]).backward()
    optimizer.step()
after = judge("with a memory")
torch.save(net.state_dict(), "net.pt")
np.save("embeddings.npy", embed(views).numpy())
np.savetxt("classes.csv", classes.numpy(), fmt="%d")

"""Train and judge on pictures in class folders with torch, NumPy and rankedu alone; Pillow reads the pictures.

A number after the script's name sets the steps.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

from rankedu.losses import OnEmbeddings, RecallLoss
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
torch.manual_seed(0)
files = sorted(Path("letters").glob("*/*.png"))  # your folder goes here
read = [np.array(Image.open(file).convert("L").resize((32, 32)), dtype=np.float32) / 255 for file in files]
images = torch.from_numpy(np.stack(read)).unsqueeze(1)
names, numbers = np.unique([file.parent.name for file in files], return_inverse=True)
labels, order = torch.from_numpy(numbers), torch.randperm(len(names))
test, seen = torch.isin(labels, order[: len(names) // 3]), order[len(names) // 3 :]  # no class is in both
members = {int(name): (labels == name).nonzero()[:, 0] for name in seen}

layers, sizes = [], (1, 32, 64, 128)
for before, after in itertools.pairwise(sizes):
    layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * 128, 64))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam="auto"), margin=0.1))  # λ is taken from the data


@torch.no_grad()
def judge(when):
    embeddings = net.eval()(images[test])
    found = evaluate_retrieval(embeddings, labels[test], metrics=("recall_at_1", "average_precision"))
    print(f"{when:<10} R@1 {found['recall_at_1']:.2f}   mAP {found['average_precision']:.2f}")
    return found["recall_at_1"]


before = judge("untrained")
for _ in range(steps):
    chosen = [members[int(name)] for name in seen[torch.randperm(len(seen))[:32]]]
    batch = torch.cat([items[torch.randperm(len(items))[:4]] for items in chosen])  # 4 pictures of a class
    moved = torch.roll(images[batch], torch.randint(-3, 4, (2,)).tolist(), dims=(2, 3))
    optimizer.zero_grad()
    loss(net.train()(moved), labels[batch]).backward()
    optimizer.step()
after = judge("trained")
torch.save(net.state_dict(), "net.pt")

"""Train with pytorch-metric-learning's sampler and accuracy, and a loss of rankedu.

A number after the script's name sets the steps.
"""

import sys

import torch
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.samplers import MPerClassSampler
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from pytorch_metric_learning.utils.inference import CustomKNN

from rankedu.losses import OnEmbeddings, ROADMAPLoss
from rankedu_lab.datasets import UnicodeGlyphs, augment
from rankedu_lab.models import ConvNet

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 150
torch.manual_seed(0)


def pictures_and_classes(split, script=None):
    """Your data set goes here: pairs of a picture and an integer."""
    glyphs = UnicodeGlyphs(split)
    keep = slice(None) if script is None else glyphs.labels[:, 0] == glyphs.names[0].index(script)
    return torch.utils.data.TensorDataset(augment(glyphs.images[keep]), glyphs.labels[keep, -1])


train, test = pictures_and_classes("train"), pictures_and_classes("test", "GREEK")
sampler = MPerClassSampler(train.tensors[1], m=4, batch_size=128, length_before_new_iter=128 * steps)
calculator = AccuracyCalculator(
    ("precision_at_1", "mean_average_precision_at_r"), knn_func=CustomKNN(CosineSimilarity())
)
net = ConvNet(dim=64)
loss = OnEmbeddings(ROADMAPLoss())  # the one line that is rankedu's
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)


def accuracy():
    net.eval()
    with torch.no_grad():
        embeddings = torch.cat([net(part) for part in test.tensors[0].split(512)])
    net.train()
    found = calculator.get_accuracy(embeddings, test.tensors[1])
    return found["precision_at_1"], found["mean_average_precision_at_r"]


before = accuracy()
for pictures, classes in torch.utils.data.DataLoader(train, batch_size=128, sampler=sampler):
    optimizer.zero_grad()
    loss(net(pictures), classes).backward()
    optimizer.step()
after = accuracy()
print(f"{len(test)} pictures of classes that training never saw; {steps} steps")
print(f"R@1     {before[0]:.2f} -> {after[0]:.2f}")
print(f"mAP@R   {before[1]:.2f} -> {after[1]:.2f}")

"""Train with open-metric-learning's sampler and metrics, and a loss of rankedu as the criterion.

The vectors are drawn here. A number after the script's name sets the epochs.
"""

import random
import sys

import numpy as np
import torch
from oml.interfaces.datasets import IQueryGalleryLabeledDataset
from oml.metrics import calc_retrieval_metrics_rr
from oml.retrieval import RetrievalResults
from oml.samplers import BalanceSampler

from rankedu.losses import APLoss, OnEmbeddings
from rankedu.rankers import BlackboxRanker

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
torch.manual_seed(0), random.seed(0), np.random.seed(0)  # noqa: NPY002


class Vectors(IQueryGalleryLabeledDataset):
    """Your data goes here: classes of eight, which differ in the first 8 of 64 numbers; every item is a query."""

    input_tensors_key, labels_key, index_key = "input_tensors", "labels", "idx"

    def __init__(self, classes):
        self.labels = torch.arange(classes).repeat_interleave(8)
        centres = torch.randn(classes, 64) * (torch.arange(64) < 8)
        self.inputs, self.extra_data = centres[self.labels] + torch.randn(8 * classes, 64) / 2, {}

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, item):
        return {"input_tensors": self.inputs[item], "labels": self.labels[item], "idx": item}

    def get_labels(self):
        return self.labels.numpy()

    def get_query_ids(self):
        return torch.arange(len(self))

    get_gallery_ids = get_query_ids


train, test, net = Vectors(100), Vectors(30), torch.nn.Linear(64, 16)
sampler = BalanceSampler(train.get_labels(), n_labels=16, n_instances=4)
criterion = OnEmbeddings(APLoss(BlackboxRanker("auto"), margin=0.1))  # the one line that is rankedu's
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)


def accuracy():
    with torch.no_grad():
        found = RetrievalResults.from_embeddings(net(test.inputs), test)
    return calc_retrieval_metrics_rr(found, cmc_top_k=(1,), map_top_k=(7,), precision_top_k=(), verbose=False)


before = accuracy()
for _ in range(epochs):
    for batch in torch.utils.data.DataLoader(train, batch_sampler=sampler):
        optimizer.zero_grad()
        criterion(net(batch["input_tensors"]), batch["labels"]).backward()
        optimizer.step()
after = accuracy()
print(f"{len(test)} vectors of classes that training never saw; {epochs} epochs")
print(f"CMC@1   {before['cmc'][1]:.2f} -> {after['cmc'][1]:.2f}")
print(f"mAP@7   {before['map'][7]:.2f} -> {after['map'][7]:.2f}")

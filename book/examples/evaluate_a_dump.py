"""Judge embeddings that lie in files: first make small files, then evaluate them from Python.

The embeddings are the pixels themselves, which is the least that a network has to beat.
"""

import csv

import numpy as np
import torch

from rankedu.metrics import evaluate_retrieval
from rankedu_lab.datasets import UnicodeGlyphs, augment

# One row a picture, and beside it the labels from root to leaf.
glyphs = UnicodeGlyphs("test")
keep = torch.isin(glyphs.labels[:, 0], torch.tensor([glyphs.names[0].index(s) for s in ("GREEK", "CYRILLIC")]))
pixels = augment(glyphs.images[keep], generator=torch.Generator().manual_seed(0)).flatten(1).numpy()
np.save("pixels.npy", pixels)
with open("labels.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["script", "letter", "character"])
    table.writerows([glyphs.names[level][i] for level, i in enumerate(path)] for path in glyphs.labels[keep].tolist())

# What `rankedu evaluate` does with these files; labels of several columns bring in the hierarchy.
saved = torch.from_numpy(np.load("pixels.npy"))
found = evaluate_retrieval(saved, glyphs.labels[keep], metrics=("average_precision", "recall_at_1", "h_ap"))
for level, row in found["levels"].items():
    print(f"level {level}: AP {row['average_precision']:.4f}, recall@1 {row['recall_at_1']:.4f}")
print(f"all levels: H-AP {found['h_ap']:.4f}")
print(f"which queries fail? {int((found['per_query']['recall_at_1'][:, -1] == 0).sum())} of {len(pixels)}")

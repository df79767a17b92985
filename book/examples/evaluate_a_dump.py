"""Judge embeddings that lie in a file: first make a small dump, then evaluate it from Python.

The embeddings are the pixels themselves, which is the least that a network has to beat.
"""

import csv
from importlib.util import find_spec

import numpy as np
import torch

from rankedu.metrics import evaluate_retrieval
from ranklab import dumps
from ranklab.datasets import UnicodeGlyphs, augment

# A dump: one row a picture, and beside it the labels from root to leaf.
glyphs = UnicodeGlyphs("test")
keep = torch.isin(glyphs.labels[:, 0], torch.tensor([glyphs.names[0].index(s) for s in ("GREEK", "CYRILLIC")]))
pixels = augment(glyphs.images[keep], generator=torch.Generator().manual_seed(0)).flatten(1).numpy()
np.save("pixels.npy", pixels)
with open("labels.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["script", "letter", "character"])
    table.writerows([glyphs.names[level][i] for level, i in enumerate(path)] for path in glyphs.labels[keep].tolist())
if find_spec("faiss"):
    import faiss

    index = faiss.IndexFlatIP(pixels.shape[1])
    index.add(pixels)
    faiss.write_index(index, "pixels.faiss")

# From files: the same that `rankedu evaluate` does.
report = dumps.evaluate("pixels.npy", "labels.csv", metrics="ap,recall@1,h-ap")
print(report.table())

# From arrays that are in memory already; labels of several columns bring in the hierarchy.
found = evaluate_retrieval(
    torch.from_numpy(pixels), glyphs.labels[keep], metrics=("average_precision", "recall_at_1", "h_ap")
)
assert found["h_ap"] == report.result["h_ap"]
print(f"which queries fail? {int((found['per_query']['recall_at_1'][:, -1] == 0).sum())} of {len(pixels)}")

"""AP of detection, as a ratio to pycocotools on the same detections, in one interleaved run.

The goal, on one thread, with 500 images of 100 detections each and 20 classes: less than a second, and a tenth of the
time of pycocotools, which here too has one threshold, one range of areas and no limit on detections.
"""

import contextlib
import io

import numpy as np
import pytest
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from rankedu.metrics import evaluate_detections

C = 20


def detector(images=500, detections=100, truths=6, seed=0):
    """Detections around the truths, half of them of the right class."""
    generator = torch.Generator().manual_seed(seed)
    found, true = [], []
    for _ in range(images):
        corner = 100 * torch.rand(truths, 2, generator=generator)
        boxes = torch.cat([corner, corner + 10 + 30 * torch.rand(truths, 2, generator=generator)], 1)
        labels = torch.randint(1, C + 1, (truths,), generator=generator)
        true.append({"boxes": boxes, "labels": labels})
        copies = torch.arange(detections) % truths
        right = torch.rand(detections, generator=generator) < 0.5
        found.append(
            {
                "boxes": boxes[copies] + 4 * torch.rand(detections, 4, generator=generator),
                "labels": torch.where(right, labels[copies], torch.randint(1, C + 1, right.shape, generator=generator)),
                "scores": torch.rand(detections, generator=generator),
            }
        )
    return found, true


def annotations(images, **more):
    """The boxes in COCO's form."""
    columns = {name: lambda x, key=key: x[key].tolist() for name, key in more.items()}
    rows = []
    for number, image in enumerate(images):
        corners = image["boxes"].double()
        sizes = torch.cat([corners[:, :2], corners[:, 2:] - corners[:, :2]], 1).tolist()
        values = {name: column(image) for name, column in columns.items()}
        for i, (box, label) in enumerate(zip(sizes, image["labels"].tolist(), strict=True)):
            row = {"id": len(rows) + 1, "image_id": number, "category_id": label, "bbox": box, "area": 1, "iscrowd": 0}
            rows.append(row | {name: column[i] for name, column in values.items()})
    return rows


@pytest.mark.parametrize("matching", ["voc", "coco"])
def test_detection(interleaved, matching):
    found, true = detector()
    with contextlib.redirect_stdout(io.StringIO()):
        truths = COCO()
        truths.dataset = {
            "images": [{"id": i} for i in range(len(true))],
            "categories": [{"id": c} for c in range(1, C + 1)],
            "annotations": annotations(true),
        }
        truths.createIndex()
        detections = truths.loadRes(annotations(found, score="scores"))

    def pycocotools():
        with contextlib.redirect_stdout(io.StringIO()):
            run = COCOeval(truths, detections, "bbox")
            run.params.iouThrs = np.array([0.5])
            run.params.areaRng, run.params.areaRngLbl = [[0, 1e10]], ["all"]
            run.params.maxDets = [10_000]
            run.evaluate()
            run.accumulate()

    def ours():
        return evaluate_detections(found, true, n_classes=C, matching=matching)

    interleaved(ours, {"pycocotools": pycocotools}, 5)

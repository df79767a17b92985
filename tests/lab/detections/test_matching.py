"""AP of detection against the definitions, written out."""

import math

import numpy as np
import pytest
import torch
from drawn import refused

from rankedu.metrics import UndefinedMetricWarning, average_precision
from rankedu_lab.detections import box_iou, evaluate_detections, match_detections

C = 3


def boxes_in(generator, n, size, step):
    """Boxes of 4 to 12 a side; with a coarse step equal overlaps, and overlaps of just ½, are common."""
    corner = torch.rand(n, 2, generator=generator) * size
    extent = 4 + 8 * torch.rand(n, 2, generator=generator)
    boxes = torch.cat([corner, corner + extent], 1)
    return (boxes / step).round() * step if step else boxes


def scenes(seed, step=2.0, size=20):
    """Crowded images, some without truths and some without detections; scores have ties where boxes do."""
    generator = torch.Generator().manual_seed(seed)
    found, true = [], []
    for image in range(30):
        m = 0 if image % 10 == 3 else int(torch.randint(1, 7, (), generator=generator))
        n = 0 if image % 10 == 4 else 12
        truths = {
            "boxes": boxes_in(generator, m, size, step),
            "labels": torch.randint(1, C + 1, (m,), generator=generator),
            "difficult": torch.rand(m, generator=generator) < 0.3,
        }
        boxes, labels = boxes_in(generator, n, size, step), torch.randint(1, C + 1, (n,), generator=generator)
        near = min(m, n)  # some detections are near a truth
        boxes[:near] = truths["boxes"][:near] + step * torch.randint(-1, 2, (near, 1), generator=generator)
        labels[:near] = truths["labels"][:near]
        scores = torch.rand(n, generator=generator)
        found.append({"boxes": boxes, "labels": labels, "scores": (scores * 10).round() / 10 if step else scores})
        true.append(truths)
    return found, true


def iou(a, b):
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(wide, 0) * max(high, 0)
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def voc_ranking(found, true, label, threshold):
    """What becomes of each detection of a class as the VOC evaluation decides it, and its truth; how many truths."""
    listed = [
        (-score.item(), image, place)
        for image, detections in enumerate(found)
        for place, score in enumerate(detections["scores"])
        if detections["labels"][place] == label
    ]
    used, outcome = set(), []
    for _, image, place in sorted(listed):
        box, truths = found[image]["boxes"][place].tolist(), true[image]
        best, most = -1, -math.inf
        for t, other in enumerate(truths["boxes"].tolist()):
            if truths["labels"][t] == label and iou(box, other) > most:
                best, most = t, iou(box, other)
        if most < threshold:
            outcome.append(("miss", -1))
        elif truths["difficult"][best]:
            outcome.append(("ignored", best))
        else:
            outcome.append(("miss", -1) if (image, best) in used else ("hit", best))
            used.add((image, best))
    return outcome, sum(int(((t["labels"] == label) & ~t["difficult"]).sum()) for t in true)


@pytest.mark.parametrize(("seed", "step"), [(0, 2.0), (1, 2.0), (7, 2.0), (7, 0.0)])
def test_voc_matching_is_its_definition(seed, step):
    found, true = scenes(seed, step)
    for threshold in (0.5, 0.75):
        matches = match_detections(found, true, n_classes=C, iou=threshold)
        for label in range(1, C + 1):
            expected, n = voc_ranking(found, true, label, threshold)
            mine = matches.labels == label
            words = np.select([matches.hits[mine], matches.ignored[mine]], ["hit", "ignored"], "miss").tolist()
            assert [*zip(words, matches.taken[mine].tolist(), strict=True)] == expected
            assert {"hit", "miss"} <= set(words) and matches.truths[label - 1] == n
        assert len(matches.scores) == sum(len(d["scores"]) for d in found) and (matches.scores.diff() <= 0).all()


def test_of_truths_that_are_overlapped_equally_the_first_is_taken():
    truths = {"boxes": torch.tensor([[0, 0, 10, 10], [2, 0, 12, 10]]), "labels": torch.tensor([1, 1])}
    between = {"boxes": torch.tensor([[1, 0, 11, 10]]), "labels": torch.tensor([1]), "scores": torch.tensor([0.5])}
    assert match_detections([between], [truths], n_classes=1).taken.tolist() == [0]


@pytest.mark.parametrize("seed", range(3))
def test_without_interpolation_it_is_eq_4_where_a_missed_truth_adds_0(seed):
    found, true = scenes(seed)
    result = evaluate_detections(found, true, n_classes=C, interpolation="none")
    matches = match_detections(found, true, n_classes=C)
    for label, n in enumerate(matches.truths.tolist(), start=1):
        hits = matches.hits_of(label)
        assert hits.sum() < n
        expected = average_precision(-torch.arange(len(hits)).double(), hits) * hits.sum() / n
        assert result["per class"][label - 1] == pytest.approx(expected.item(), abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_interpolated_ap_is_that_of_the_envelope_of_precision(seed):
    found, true = scenes(seed)
    matches = match_detections(found, true, n_classes=C)
    for label, n in enumerate(matches.truths.tolist(), start=1):
        hits = matches.hits_of(label).tolist()
        curve = [(sum(hits[: k + 1]), sum(hits[: k + 1]) / (k + 1)) for k in range(len(hits))]

        def envelope(tenths, curve=curve, n=n):
            return max((precision for count, precision in curve if 10 * count >= tenths * n), default=0.0)

        every = sum(envelope(10 * k / n) for k in range(1, n + 1)) / n
        assert matches.average_precision()[label - 1] == pytest.approx(every, abs=1e-12)
        eleven = sum(envelope(tenths) for tenths in range(11)) / 11
        assert matches.average_precision("11-point")[label - 1] == pytest.approx(eleven, abs=1e-12)


def test_any_dtype_and_device():
    """Numbers that each dtype holds exactly."""
    found, true = scenes(6)
    found = [d | {"scores": (10 * d["scores"]).round()} for d in found]
    expected = evaluate_detections(found, true, n_classes=C)["per class"]
    dtypes = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32]
    for there in [*dtypes, *["cuda"] * torch.cuda.is_available()]:
        cast = [[d | {k: d[k].to(there) for k in d if k in ("boxes", "scores")} for d in x] for x in (found, true)]
        if there == "cuda":
            cast = [[{k: v.cuda() for k, v in d.items()} for d in x] for x in cast]
        assert torch.equal(evaluate_detections(*cast, n_classes=C)["per class"], expected)


@pytest.mark.parametrize("interpolation", ["all-point", "11-point", "none"])
def test_nothing_found_is_0_and_nothing_to_find_is_nan(interpolation):
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0).long(), "scores": torch.zeros(0)}
    box = {"boxes": torch.tensor([[0, 0, 4, 4]]), "labels": torch.tensor([2])}
    with pytest.warns(UndefinedMetricWarning, match=r"2 of 3 classes have no truth.*labels 1, 3\)"):
        result = evaluate_detections([nothing], [box], n_classes=3, interpolation=interpolation)
    torch.testing.assert_close(result["per class"], torch.tensor([math.nan, 0, math.nan]).double(), equal_nan=True)
    assert result["AP"] == 0
    assert result["truths"].tolist() == [0, 1, 0]
    for found, true in (([], []), ([nothing], [nothing]), ([box | {"scores": torch.ones(1)}], [nothing])):
        with pytest.warns(UndefinedMetricWarning, match="3 of 3 classes") as caught:
            assert math.isnan(evaluate_detections(found, true, n_classes=3, interpolation=interpolation)["AP"])
        assert caught[0].filename == __file__


def test_box_iou_is_its_definition_and_takes_batches():
    generator = torch.Generator().manual_seed(0)
    a, b = boxes_in(generator, 6, 10, 0).reshape(2, 3, 4).double(), boxes_in(generator, 5, 10, 0).double()
    value = box_iou(a, b)
    assert value.shape == (2, 3, 5)
    expected = [[[iou(x, y) for y in b.tolist()] for x in row] for row in a.tolist()]
    torch.testing.assert_close(value, torch.tensor(expected).double())
    torch.testing.assert_close(box_iou(a.float(), b.float()), value.float())
    torch.testing.assert_close(box_iou(b, a), value.mT)
    assert torch.autograd.gradcheck(box_iou, (a[0].requires_grad_(), b.requires_grad_()))
    without_area = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 3], [0, 0, 4, 4]])
    assert box_iou(without_area, without_area).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert box_iou(without_area, torch.zeros(0, 4)).shape == (3, 0)


BOX = torch.tensor([[0.0, 0, 4, 4]])
GOOD = {"boxes": BOX, "labels": torch.tensor([1]), "scores": torch.tensor([0.5])}


def test_what_is_no_test_set_is_refused_and_the_image_named():
    def evaluate(found=(GOOD,), true=(GOOD,), **settings):
        return lambda: evaluate_detections(found, true, **{"n_classes": 2} | settings)

    def odd(key, value):
        return evaluate([GOOD, GOOD | {key: value}], [GOOD, GOOD])

    refused(
        (odd("boxes", BOX[None]), ValueError, r"detections\[1\] must have a label and a value for each box"),
        (odd("boxes", BOX * math.nan), ValueError, r"detections\[1\]\['boxes'\]\[0\] must be finite, .* got \[nan"),
        (odd("boxes", -BOX), ValueError, r"\[0\] must be finite, with x1 <= x2 .*x2 = x \+ width"),
        (odd("labels", torch.tensor([1, 1])), ValueError, r"detections\[1\] must have a label and a value for each"),
        (odd("labels", torch.tensor([0])), ValueError, r"\['labels'\] must be from 1 to n_classes = 2, got \[0\]"),
        (odd("scores", torch.tensor([math.nan])), ValueError, r"detections\[1\]\['scores'\] must not be NaN"),
        (evaluate([GOOD, GOOD]), ValueError, "detections must be of the 1 images of truths, got 2"),
        (evaluate([{"boxes": BOX}]), KeyError, "labels"),
        (evaluate(iou=0), ValueError, r"iou must be finite and in \(0, 1\], got 0"),
        (evaluate(n_classes=0), ValueError, "n_classes must be >= 1, got 0"),
        (evaluate(interpolation="40-point"), ValueError, "interpolation must be .*'none', got '40-point'"),
        (lambda: box_iou(BOX, BOX[:, :3]), ValueError, r"others must have shape \(\.\.\., n, 4\), got \(1, 3\)"),
    )

"""AP of detection against the definitions, written out, and against pycocotools."""

import contextlib
import io
import math

import numpy as np
import pytest
import torch
from drawn import refused
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

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


def voc_ranking(found, true, label, threshold=0.5):
    """What becomes of the detections of a class, as the VOC evaluation decides it, best first, and how many truths."""
    listed = [
        (-score.item(), image, place)
        for image, detections in enumerate(found)
        for place, score in enumerate(detections["scores"])
        if detections["labels"][place] == label
    ]
    used, outcome = set(), {}
    for _, image, place in sorted(listed):
        box, truths = found[image]["boxes"][place].tolist(), true[image]
        best, most = None, -math.inf
        for t, other in enumerate(truths["boxes"].tolist()):
            if truths["labels"][t] == label and iou(box, other) > most:
                best, most = t, iou(box, other)
        if best is None or most < threshold:
            outcome[image, place] = "miss"
        elif truths["difficult"][best]:
            outcome[image, place] = "ignored"
        else:
            outcome[image, place] = "miss" if (image, best) in used else "hit"
            used.add((image, best))
    return outcome, sum(int(((t["labels"] == label) & ~t["difficult"]).sum()) for t in true)


def outcome(matches, label):
    mine = matches.labels == label
    words = np.select([matches.hits[mine], matches.ignored[mine]], ["hit", "ignored"], "miss").tolist()
    return dict(zip(zip(matches.images[mine].tolist(), matches.places[mine].tolist(), strict=True), words, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_voc_matching_is_its_definition_and_leads_back_to_the_boxes(seed):
    found, true = scenes(seed)
    matches = match_detections(found, true, n_classes=C)
    assert matches in {matches} and matches != match_detections(found, true, n_classes=C), "tensors have no one answer"
    for label in range(1, C + 1):
        expected, n = voc_ranking(found, true, label)
        assert list(outcome(matches, label).items()) == list(expected.items())  # in the same order
        assert {"hit", "miss"} <= set(expected.values())
        assert matches.truths[label - 1] == n
    assert len(matches.scores) == sum(len(d["scores"]) for d in found) and (matches.scores.diff() <= 0).all()
    for image, place, taken, score in zip(matches.images, matches.places, matches.taken, matches.scores, strict=True):
        detection, truth = found[image], true[image]
        assert detection["scores"][place] == score
        if taken >= 0:
            assert truth["labels"][taken] == detection["labels"][place]
            assert iou(detection["boxes"][place].tolist(), truth["boxes"][taken].tolist()) >= 0.5
    assert torch.equal(matches.taken >= 0, matches.hits | matches.ignored)


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
        _, hits = matches.of(label)
        assert hits.sum() < n
        expected = average_precision(-torch.arange(len(hits)).double(), hits) * hits.sum() / n
        assert result["per class"][label - 1] == pytest.approx(expected.item(), abs=1e-14)
        recall, precision = matches.curve(label)
        assert recall.tolist() == pytest.approx(np.cumsum(hits.numpy()) / n)
        assert precision.tolist() == pytest.approx(np.cumsum(hits.numpy()) / np.arange(1, len(hits) + 1))


class Coco:
    """What pycocotools makes of detections. A truth out of its range of areas stands for a difficult one."""

    def __init__(self, found, true, threshold):
        self.place = [p for t in found for p in range(len(t["scores"]))]
        annotations = [
            {**drawn, "area": -1 if true[drawn["image_id"]]["difficult"][place] else 1, "iscrowd": 0, "id": n}
            for n, (place, drawn) in enumerate(self.boxes(true), start=1)  # 0 would be taken for no match
        ]
        scored = [
            {**drawn, "score": float(found[drawn["image_id"]]["scores"][place])} for place, drawn in self.boxes(found)
        ]
        images, categories = [{"id": i} for i in range(len(true))], [{"id": c} for c in range(1, C + 1)]
        with contextlib.redirect_stdout(io.StringIO()):
            truths = COCO()
            truths.dataset = {"images": images, "categories": categories, "annotations": annotations}
            truths.createIndex()
            self.run = COCOeval(truths, truths.loadRes(scored), "bbox")
            self.run.params.iouThrs, self.run.params.maxDets = np.array([threshold]), [10_000]
            self.run.params.areaRng, self.run.params.areaRngLbl = [[0, 1e10]], ["all"]
            self.run.evaluate()

    @staticmethod
    def boxes(images):
        for i, image in enumerate(images):
            for place, (box, label) in enumerate(zip(image["boxes"], image["labels"], strict=True)):
                x, y, far, low = box.double().tolist()
                yield place, {"image_id": i, "category_id": int(label), "bbox": [x, y, far - x, low - y]}

    def outcome(self, label):
        words = {}
        for seen in (one for one in self.run.evalImgs if one is not None and one["category_id"] == label):
            rows = zip(seen["dtIds"], seen["dtMatches"][0], seen["dtIgnore"][0], strict=True)
            for number, match, ignored in rows:
                word = "ignored" if ignored else "hit" if match else "miss"
                words[int(seen["image_id"]), self.place[number - 1]] = word
        return words

    def average_precision(self, label, interpolation, n):
        if interpolation != "101-point":  # which is its own
            recalls = [i / 10 for i in range(11)] if interpolation == "11-point" else [k / n for k in range(1, n + 1)]
            self.run.params.recThrs = np.array(recalls)
        with contextlib.redirect_stdout(io.StringIO()):
            self.run.accumulate()
        return self.run.eval["precision"][0, :, label - 1, 0, 0].mean()


@pytest.mark.parametrize(("seed", "step"), [(0, 2.0), (1, 2.0), (7, 2.0), (7, 0.0)])
def test_matching_and_ap_in_the_coco_style_are_pycocotools(seed, step):
    """Of each class what becomes of each detection, and both values of AP."""
    found, true = scenes(seed, step=step)
    for threshold in (0.5, 0.75):
        matches = match_detections(found, true, n_classes=C, iou=threshold, matching="coco")
        theirs = Coco(found, true, threshold)
        usual = theirs.run.params.recThrs
        for label, n in enumerate(matches.truths.tolist(), start=1):
            assert outcome(matches, label) == theirs.outcome(label)
            for how in ("101-point", "all-point", "11-point"):
                expected = theirs.average_precision(label, how, n)
                assert matches.average_precision(how)[label - 1] == pytest.approx(expected, abs=1e-12)
                assert 0 < expected < 1
            theirs.run.params.recThrs = usual


@pytest.mark.parametrize("truths", [1, 7, 10, 99, 100, 101, 128])
def test_101_point_ap_is_pycocotools_wherever_a_recall_is_reached_exactly(truths):
    """It compares recalls in floating point, where 7 of 100 fall short of 0.07."""
    box = {"boxes": torch.tensor([[0.0, 0, 4, 4]]), "labels": torch.tensor([1])}
    true = [box | {"difficult": torch.tensor([False])}] * truths
    for hits in {1, 7, truths // 3, truths - 1, truths} & set(range(1, truths + 1)):
        found = [box | {"scores": torch.tensor([0.5])}] * hits
        found += [{"boxes": torch.zeros(0, 4), "labels": torch.zeros(0).long(), "scores": torch.zeros(0)}] * (
            truths - hits
        )
        matches = match_detections(found, true, n_classes=C, matching="coco")
        expected = Coco(found, true, 0.5).average_precision(1, "101-point", truths)
        assert matches.average_precision("101-point")[0] == pytest.approx(expected, abs=1e-12)


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


@pytest.mark.parametrize("interpolation", ["all-point", "101-point", "11-point", "none"])
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


def test_boxes_are_named_with_their_image():
    bad_boxes = [
        ("boxes", BOX.bool(), TypeError, "must be floating point or integer, got torch.bool"),
        ("boxes", BOX[None], ValueError, r"must have shape \(n, 4\), got \(1, 1, 4\)"),
        ("boxes", BOX * math.nan, ValueError, r"\[0\] must be finite, got \[nan"),
        ("boxes", -BOX, ValueError, r"\[0\] must have x1 <= x2 .*x2 = x \+ width"),
        ("labels", torch.tensor([1.0]), TypeError, "must be integers, got torch.float32"),
        ("labels", torch.tensor([1, 1]), ValueError, r"must have shape \(1,\), .* got \(2,\)"),
        ("labels", torch.tensor([0]), ValueError, r"\[0\] must be from 1 to n_classes = 2, got 0 .*background"),
        ("scores", [0.5], TypeError, "must be a torch.Tensor, got list"),
        ("scores", torch.tensor([True]), TypeError, "must be floating point or integer, got torch.bool"),
        ("scores", torch.tensor([math.nan]), ValueError, r"\[0\] must not be NaN"),
        ("difficult", torch.tensor([0]), TypeError, "must be bool, got torch.int64"),
    ]
    for key, value, error, message in bad_boxes:
        for name, other in (("detections", "scores"), ("truths", "difficult")):
            if key in ("boxes", "labels", other):
                images = {"detections": [GOOD, GOOD], "truths": [GOOD, GOOD], name: [GOOD, GOOD | {key: value}]}
                with pytest.raises(error, match=rf"{name}\[1\]\['{key}'\].*{message}"):
                    evaluate_detections(**images, n_classes=2)


def test_what_is_no_test_set_is_refused():
    def evaluate(found=(GOOD,), true=(GOOD,), **settings):
        return lambda: evaluate_detections(found, true, **{"n_classes": 2} | settings)

    boxes, odd = BOX.expand(2, 1, 4), torch.tensor([[0.0, 0, 4, 4], [0.0, 0, math.nan, 4]])
    no_labels = r"detections\[0\] must have .* got no 'labels' among \['boxes'\]"
    refused(
        (evaluate([GOOD, GOOD]), ValueError, "detections must be of the 1 images of truths, got 2"),
        (evaluate(GOOD), TypeError, "detections must be a list, got dict .*one dict an image"),
        (evaluate(true=[BOX]), TypeError, r"truths\[0\] must be a dict, got Tensor"),
        (evaluate([{"boxes": BOX}]), ValueError, no_labels),
        (evaluate(iou=0), ValueError, r"iou must be finite and in \(0, 1\], got 0"),
        (evaluate(n_classes=0), ValueError, "n_classes must be >= 1, got 0"),
        (evaluate(interpolation="40-point"), ValueError, "interpolation must be .*'none', got '40-point'"),
        (evaluate(matching="lvis"), ValueError, "matching must be one of 'voc', 'coco', got 'lvis'"),
        (lambda: box_iou(odd.nan_to_num(-1), BOX), ValueError, r"boxes\[1\] must have x1 <= x2 .*got \[0.0, 0.0, -1.0"),
        (lambda: box_iou(boxes, [[0, 0, 1, 1]]), TypeError, "others must be a torch.Tensor, got list"),
        (lambda: box_iou(boxes, BOX[:, :3]), ValueError, r"others must have shape \(\.\.\., n, 4\), got \(1, 3\)"),
        (lambda: match_detections([GOOD], [GOOD], n_classes=1).of(2), ValueError, "label .* 1 to 1, got 2"),
    )

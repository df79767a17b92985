"""AP of detection against the definitions, written out, and against pycocotools."""

import contextlib
import io
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from rankedu.metrics import UndefinedMetricWarning, average_precision, box_iou, evaluate_detections, match_detections

C = 3
HOW = ["all-point", "11-point", "none"]
RULES = ["voc", "coco"]


def boxes_in(generator, n, size, step):
    """Boxes of 4 to 12 a side; with a coarse step equal overlaps, and overlaps of just ½, are common."""
    corner = torch.rand(n, 2, generator=generator) * size
    extent = 4 + 8 * torch.rand(n, 2, generator=generator)
    boxes = torch.cat([corner, corner + extent], 1)
    return (boxes / step).round() * step if step else boxes


def scenes(seed, *, images=30, step=2.0, size=20, difficult=0.3, detections=12):
    """Crowded images, some without truths and some without detections; scores have ties where boxes do."""
    generator = torch.Generator().manual_seed(seed)
    found, true = [], []
    for image in range(images):
        m = 0 if image % 10 == 3 else int(torch.randint(1, 7, (), generator=generator))
        n = 0 if image % 10 == 4 else detections
        true.append(
            {
                "boxes": boxes_in(generator, m, size, step),
                "labels": torch.randint(1, C + 1, (m,), generator=generator),
                "difficult": torch.rand(m, generator=generator) < difficult,
            }
        )
        boxes, labels = boxes_in(generator, n, size, step), torch.randint(1, C + 1, (n,), generator=generator)
        near = min(m, n)  # some detections are near a truth
        boxes[:near] = true[-1]["boxes"][:near] + step * torch.randint(-1, 2, (near, 1), generator=generator)
        labels[:near] = true[-1]["labels"][:near]
        scores = torch.rand(n, generator=generator)
        found.append({"boxes": boxes, "labels": labels, "scores": (scores * 10).round() / 10 if step else scores})
    return found, true


# The definitions, as one would write them by hand


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


def area_under_envelope(points, n):
    """All-point AP as an area: between two recalls stands the best precision at the second or beyond."""
    area, before = Fraction(0), Fraction(0)
    for hits, _ in points:
        recall = Fraction(hits, n)
        area += (recall - before) * max(p for h, p in points if h >= hits)
        before = recall
    return area


def defined_ap(hits, n, interpolation):
    """AP from its definition, in fractions."""
    counted = np.cumsum(hits)
    points = [(int(h), Fraction(int(h), k)) for k, h in enumerate(counted, start=1)]
    if interpolation == "none":
        return sum((p for (_, p), hit in zip(points, hits, strict=True) if hit), Fraction(0)) / n
    if interpolation == "all-point":
        return area_under_envelope(points, n)
    levels = [Fraction(i, 10) for i in range(11)]
    return sum(max((p for h, p in points if Fraction(h, n) >= r), default=Fraction(0)) for r in levels) / 11


def outcome(matches, label):
    mine = matches.labels == label
    words = np.select([matches.hits[mine], matches.ignored[mine]], ["hit", "ignored"], "miss")
    keys = zip(matches.images[mine].tolist(), matches.places[mine].tolist(), strict=True)
    return dict(zip(keys, words.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("label", range(1, C + 1))
def test_voc_matching_is_its_definition(seed, label):
    found, true = scenes(seed)
    expected, n = voc_ranking(found, true, label)
    matches = match_detections(found, true, n_classes=C)
    assert outcome(matches, label) == expected
    assert list(outcome(matches, label)) == list(expected)  # in the same order
    assert {"hit", "miss"} <= set(expected.values())
    assert matches.truths[label - 1] == n


@pytest.mark.parametrize("interpolation", HOW)
@pytest.mark.parametrize("n", [1, 3, 7, 10, 23])
def test_average_precision_is_its_definition(interpolation, n):
    random = np.random.default_rng(n)
    for _ in range(20):
        hits = np.zeros(30, dtype=bool)
        hits[random.choice(30, random.integers(0, n + 1), replace=False)] = True
        value = evaluate_detections(*ranked(hits, n), n_classes=1, interpolation=interpolation)["AP"]
        assert value == pytest.approx(float(defined_ap(hits, n, interpolation)), abs=1e-14)


def ranked(hits, n):
    """Detections in this order of hits and misses, of n truths."""
    corners = 10.0 * torch.arange(max(n, 1))[:, None] * torch.ones(4)
    true = corners[:n] + torch.tensor([0.0, 0, 5, 5])
    index = torch.as_tensor(hits).cumsum(0) - 1
    boxes = true[index.clamp(min=0)] if n else torch.zeros(len(hits), 4)
    boxes = torch.where(torch.as_tensor(hits)[:, None], boxes, torch.tensor([-5.0, -5, -1, -1]))
    scores = torch.arange(len(hits), 0, -1).float()
    found = {"boxes": boxes, "labels": torch.ones(len(hits)).long(), "scores": scores}
    return [found], [{"boxes": true, "labels": torch.ones(n).long()}]


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


# pycocotools


class Coco:
    """What pycocotools makes of detections. A truth out of its range of areas stands for a difficult one."""

    def __init__(self, found, true, threshold=0.5):
        with contextlib.redirect_stdout(io.StringIO()):
            truths = COCO()
            truths.dataset = {
                "images": [{"id": i} for i in range(len(true))],
                "categories": [{"id": c} for c in range(1, C + 1)],
                "annotations": [
                    {
                        "id": 0,
                        "image_id": i,
                        "category_id": int(c),
                        "bbox": wide(b),
                        "area": -1 if d else 1,
                        "iscrowd": 0,
                    }
                    for i, t in enumerate(true)
                    for b, c, d in zip(t["boxes"], t["labels"], t["difficult"], strict=True)
                ],
            }
            for number, annotation in enumerate(truths.dataset["annotations"], start=1):
                annotation["id"] = number  # 0 would be taken for no match
            truths.createIndex()
            self.place = [p for t in found for p in range(len(t["scores"]))]
            detections = truths.loadRes(
                [
                    {"image_id": i, "category_id": int(c), "bbox": wide(b), "score": float(s)}
                    for i, t in enumerate(found)
                    for b, c, s in zip(t["boxes"], t["labels"], t["scores"], strict=True)
                ]
            )
            self.run = COCOeval(truths, detections, "bbox")
            self.run.params.iouThrs = np.array([threshold])
            self.run.params.areaRng, self.run.params.areaRngLbl = [[0, 1e10]], ["all"]
            self.run.params.maxDets = [10_000]
            self.run.evaluate()

    def outcome(self, label):
        words = {}
        for seen in self.run.evalImgs:
            if seen is not None and seen["category_id"] == label:
                for number, match, ignored in zip(
                    seen["dtIds"], seen["dtMatches"][0], seen["dtIgnore"][0], strict=True
                ):
                    word = "ignored" if ignored else "hit" if match else "miss"
                    words[int(seen["image_id"]), self.place[number - 1]] = word
        return words

    def average_precision(self, label, recalls):
        self.run.params.recThrs = np.array(recalls)
        with contextlib.redirect_stdout(io.StringIO()):
            self.run.accumulate()
        return self.run.eval["precision"][0, :, label - 1, 0, 0].mean()


def wide(box):
    x, y, far, low = box.double().tolist()
    return [x, y, far - x, low - y]


@pytest.mark.parametrize("threshold", [0.5, 0.75])
@pytest.mark.parametrize("seed", range(4))
def test_coco_matching_is_pycocotools(seed, threshold):
    found, true = scenes(seed)
    theirs, matches = (
        Coco(found, true, threshold),
        match_detections(found, true, n_classes=C, iou=threshold, matching="coco"),
    )
    for label in range(1, C + 1):
        assert outcome(matches, label) == theirs.outcome(label)


def recalls_of(interpolation, n):
    return [i / 10 for i in range(11)] if interpolation == "11-point" else [k / n for k in range(1, n + 1)]


@pytest.mark.parametrize("interpolation", ["all-point", "11-point"])
@pytest.mark.parametrize("step", [2.0, 0.0], ids=["with ties", "without ties"])
def test_ap_with_coco_matching_is_pycocotools(interpolation, step):
    found, true = scenes(7, step=step)
    theirs = Coco(found, true)
    result = evaluate_detections(found, true, n_classes=C, interpolation=interpolation, matching="coco")
    for label, n in enumerate(result["truths"].tolist(), start=1):
        expected = theirs.average_precision(label, recalls_of(interpolation, n))
        assert result["per class"][label - 1] == pytest.approx(expected, abs=1e-12)
    assert result["AP"] == pytest.approx(result["per class"].mean().item(), abs=1e-15)
    assert 0.05 < result["AP"] < 0.95


@pytest.mark.parametrize("interpolation", ["all-point", "11-point"])
@pytest.mark.parametrize("seed", range(2))
def test_ap50_in_the_voc_style_is_pycocotools_where_no_truths_overlap(interpolation, seed):
    found, true = scenes(seed, difficult=0, size=40)
    for image in true:
        apart = (box_iou(image["boxes"], image["boxes"]).tril(-1) == 0).all(1)
        for key, value in image.items():
            image[key] = value[apart]
    theirs = Coco(found, true)
    matches = match_detections(found, true, n_classes=C)
    ours = matches.average_precision(interpolation)
    for label, n in enumerate(matches.truths.tolist(), start=1):
        assert outcome(matches, label) == theirs.outcome(label)
        assert ours[label - 1] == pytest.approx(
            theirs.average_precision(label, recalls_of(interpolation, n)), abs=1e-12
        )


# The two rules


def test_the_rules_differ_where_a_second_detection_prefers_a_truth_that_is_taken():
    truths = [{"boxes": torch.tensor([[0, 0, 10, 10], [2, 0, 12, 10]]), "labels": torch.tensor([1, 1])}]
    boxes = torch.tensor([[0.0, 0, 10, 10], [0.5, 0, 10.5, 10]])
    found = [{"boxes": boxes, "labels": torch.tensor([1, 1]), "scores": torch.tensor([0.9, 0.8])}]
    shared = box_iou(boxes, truths[0]["boxes"])
    assert shared[1, 0] > shared[1, 1] >= 0.5
    ap = {rule: evaluate_detections(found, truths, n_classes=1, matching=rule)["AP"] for rule in RULES}
    assert ap == {"voc": 0.5, "coco": 1.0}


def crowds(seed, *, images=20, truths=5, detections=15):
    """Truths that overlap, and detections near them."""
    generator = torch.Generator().manual_seed(seed)
    found, true = [], []
    for _ in range(images):
        boxes = torch.tensor([0.0, 0, 10, 10]) + 3 * torch.rand(truths, 4, generator=generator)
        true.append({"boxes": boxes, "labels": torch.arange(truths) % C + 1})
        copies = torch.arange(detections) % truths
        near = boxes[copies] + 3 * torch.rand(detections, 4, generator=generator)
        scores = torch.rand(detections, generator=generator)
        found.append({"boxes": near, "labels": true[-1]["labels"][copies], "scores": scores})
    return found, true


@pytest.mark.parametrize("interpolation", HOW)
def test_coco_finds_what_voc_finds_where_no_overlaps_are_equal(interpolation):
    for seed in range(4):
        voc, coco = (match_detections(*crowds(seed), n_classes=C, matching=rule) for rule in RULES)
        for label in (1, 2):  # of these there are two truths in an image, of 3 there is one
            more = coco.of(label)[1].cumsum(0) - voc.of(label)[1].cumsum(0)
            assert (more >= 0).all()
            assert more.max() > 0
        difference = coco.average_precision(interpolation) - voc.average_precision(interpolation)
        assert (difference >= 0).all()
        assert difference[:2].max() > 0
        assert difference[2] == 0


@pytest.mark.parametrize(
    ("rule", "ignored", "hits", "ap"),
    [
        ("voc", [True, True, False], [False, False, True], 1.0),
        ("coco", [True, False, False], [False, False, True], 0.5),
    ],
)
def test_difficult_truths_are_neither_hits_nor_misses(rule, ignored, hits, ap):
    """By VOC's rule any number of detections may find a difficult truth, by COCO's one."""
    boxes = torch.tensor([[0, 0, 4, 4], [9, 9, 13, 13]])
    truths = [{"boxes": boxes, "labels": torch.ones(2).long(), "difficult": torch.tensor([True, False])}]
    found = [{"boxes": boxes[[0, 0, 1]], "labels": torch.ones(3).long(), "scores": torch.tensor([0.9, 0.8, 0.7])}]
    matches = match_detections(found, truths, n_classes=1, matching=rule)
    assert matches.ignored.tolist() == ignored
    assert matches.hits.tolist() == hits
    assert matches.truths.tolist() == [1]
    assert matches.average_precision().tolist() == [ap]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("far", "hit"), [(8.0, True), (8.0001, False)], ids=["just one half", "less"])
def test_an_overlap_of_one_half_counts(rule, far, hit):
    truths = [{"boxes": torch.tensor([[0.0, 0, 4, 4]]), "labels": torch.tensor([1])}]
    found = [{"boxes": torch.tensor([[0.0, 0, far, 4]]), "labels": torch.tensor([1]), "scores": torch.tensor([0.1])}]
    assert match_detections(found, truths, n_classes=1, matching=rule).hits.item() is hit


# The interpolations


def test_the_interpolations_differ_as_the_notes_say():
    largest = {"above": 0.0, "below": 0.0}
    for seed in range(120):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 40))
        hits = np.sort(random.random(40)) < random.random() if seed % 2 else random.random(40) < random.random()
        hits &= np.cumsum(hits) <= n
        matches = match_detections(*ranked(hits, n), n_classes=1)
        every, eleven, none = (matches.average_precision(how).item() for how in HOW)
        precision = matches.curve(1)[1]
        p0, p1 = precision.max().item(), 0.0
        if hits.sum() == n:
            p1 = precision[np.flatnonzero(hits)[-1]].item()
        assert none <= every + 1e-15
        assert -(every - p1) / 11 - 1e-12 <= eleven - every <= (p0 - every) / 11 + 1e-12
        largest["above"] = max(largest["above"], eleven - every)
        largest["below"] = max(largest["below"], every - eleven)
    assert min(largest.values()) > 0.02  # either may be the larger


def test_a_recall_of_three_tenths_is_reached_by_3_of_10():
    assert np.arange(0, 1.1, 0.1)[3] > 3 / 10  # why thresholds are not made like that
    hits = np.array([True] * 3)
    assert evaluate_detections(*ranked(hits, 10), n_classes=1, interpolation="11-point")["AP"] == pytest.approx(4 / 11)


def test_the_11_points_exceed_the_area_by_one_eleventh_at_most():
    """One truth found of many: the envelope is 1 at recall 0 alone."""
    found, true = ranked(np.array([True]), 10_000)
    ap = {how: evaluate_detections(found, true, n_classes=1, interpolation=how)["AP"] for how in HOW}
    assert ap["all-point"] == ap["none"] == 1e-4
    assert ap["11-point"] == pytest.approx(1 / 11)


# Invariances and limits


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda f, t: ([d | {"scores": 4 * d["scores"] - 9} for d in f], t), id="scores"),
        pytest.param(lambda f, t: (f[::-1], t[::-1]), id="order of images"),
        pytest.param(lambda f, t: ([{k: v.flip(0) for k, v in d.items()} for d in f], t), id="order of detections"),
        pytest.param(lambda f, t: (f, [{k: v.flip(0) for k, v in d.items()} for d in t]), id="order of truths"),
        pytest.param(
            lambda f, t: tuple([d | {"boxes": 2 * d["boxes"].double() + 64} for d in x] for x in (f, t)), id="boxes"
        ),
    ],
)
def test_without_ties_nothing_depends_on(change, rule):
    found, true = scenes(5, step=0.0)
    before = evaluate_detections(found, true, n_classes=C, matching=rule)
    after = evaluate_detections(*change(found, true), n_classes=C, matching=rule)
    torch.testing.assert_close(after["per class"], before["per class"], rtol=0, atol=1e-15)
    assert before["per class"].unique().numel() == C


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32])
def test_any_dtype(dtype):
    """Numbers that each of them holds exactly."""
    found, true = scenes(6)
    found = [d | {"scores": (10 * d["scores"]).round()} for d in found]
    expected = evaluate_detections(found, true, n_classes=C)
    found, true = ([d | {k: d[k].to(dtype) for k in ("boxes", "scores") if k in d} for d in x] for x in (found, true))
    result = evaluate_detections(found, true, n_classes=C)
    torch.testing.assert_close(result["per class"], expected["per class"], rtol=0, atol=0)


def test_the_matches_lead_back_to_the_boxes():
    found, true = scenes(8)
    matches = match_detections(found, true, n_classes=C)
    assert len(matches.scores) == sum(len(d["scores"]) for d in found)
    assert (matches.scores.diff() <= 0).all()
    rows = zip(matches.images, matches.places, matches.taken, matches.scores, matches.labels, strict=True)
    for image, place, taken, score, label in rows:
        detection, truth = found[image], true[image]
        assert (detection["scores"][place], detection["labels"][place]) == (score, label)
        if taken >= 0:
            assert truth["labels"][taken] == label
            assert iou(detection["boxes"][place].tolist(), truth["boxes"][taken].tolist()) >= 0.5
    assert torch.equal(matches.taken >= 0, matches.hits | matches.ignored)


@pytest.mark.parametrize("interpolation", HOW)
def test_nothing_found_is_0_and_nothing_to_find_is_nan(interpolation):
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0).long(), "scores": torch.zeros(0)}
    box = {"boxes": torch.tensor([[0, 0, 4, 4]]), "labels": torch.tensor([2])}
    with pytest.warns(UndefinedMetricWarning, match=r"2 of 3 classes have no truth.*labels 1, 3"):
        result = evaluate_detections([nothing], [box], n_classes=3, interpolation=interpolation)
    torch.testing.assert_close(result["per class"], torch.tensor([math.nan, 0, math.nan]).double(), equal_nan=True)
    assert result["AP"] == 0
    assert result["truths"].tolist() == [0, 1, 0]
    for found, true in (([], []), ([nothing], [nothing]), ([box | {"scores": torch.ones(1)}], [nothing])):
        with pytest.warns(UndefinedMetricWarning, match="3 of 3 classes"):
            assert math.isnan(evaluate_detections(found, true, n_classes=3, interpolation=interpolation)["AP"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_cuda():
    found, true = scenes(9)
    expected = evaluate_detections(found, true, n_classes=C)
    found, true = ([{k: v.cuda() for k, v in d.items()} for d in x] for x in (found, true))
    assert torch.equal(evaluate_detections(found, true, n_classes=C)["per class"], expected["per class"])
    a, b = found[0]["boxes"], true[0]["boxes"]
    torch.testing.assert_close(box_iou(a, b).cpu(), box_iou(a.cpu(), b.cpu()))


# Overlaps


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


def test_box_iou_of_boxes_without_area_is_0():
    boxes = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 3], [0, 0, 4, 4]])
    assert box_iou(boxes, boxes).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert box_iou(boxes, torch.zeros(0, 4)).shape == (3, 0)


# Bad input

BOX = torch.tensor([[0.0, 0, 4, 4]])
GOOD = {"boxes": BOX, "labels": torch.tensor([1]), "scores": torch.tensor([0.5])}


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        ("boxes", BOX.bool(), TypeError, r"must be floating point or integer, got torch.bool"),
        ("boxes", BOX[None], ValueError, r"must have shape \(n, 4\), got \(1, 1, 4\)"),
        ("boxes", BOX * math.nan, ValueError, r"\[0\] must be finite, got \[nan"),
        ("boxes", -BOX, ValueError, r"\[0\] must have x1 <= x2 .*x2 = x \+ width"),
        ("labels", torch.tensor([1.0]), TypeError, r"must be integers, got torch.float32"),
        ("labels", torch.tensor([1, 1]), ValueError, r"must have shape \(1,\), .* got \(2,\)"),
        ("labels", torch.tensor([0]), ValueError, r"\[0\] must be from 1 to n_classes = 2, got 0 .*background"),
        ("scores", [0.5], TypeError, r"must be a torch.Tensor, got list"),
        ("scores", torch.tensor([math.nan]), ValueError, r"\[0\] must not be NaN"),
        ("difficult", torch.tensor([0]), TypeError, r"must be bool, got torch.int64"),
    ],
)
def test_bad_boxes(key, value, error, message):
    """The error says in which image, and which box of it."""
    bad = [GOOD, GOOD | {key: value}]
    if key != "difficult":
        with pytest.raises(error, match=rf"^detections\[1\]\['{key}'\].*{message}"):
            evaluate_detections(bad, [GOOD, GOOD], n_classes=2)
    if key != "scores":
        with pytest.raises(error, match=rf"^truths\[1\]\['{key}'\].*{message}"):
            evaluate_detections([GOOD, GOOD], bad, n_classes=2)


@pytest.mark.parametrize(
    ("found", "true", "error", "message"),
    [
        ([GOOD, GOOD], [GOOD], ValueError, r"detections must be of the 1 images of truths, got 2"),
        (GOOD, [GOOD], TypeError, r"detections must be a list, got dict .*one dict an image"),
        ([GOOD], [BOX], TypeError, r"truths\[0\] must be a dict, got Tensor"),
        ([{"boxes": BOX}], [GOOD], ValueError, r"detections\[0\] must have .* got no 'labels' among \['boxes'\]"),
    ],
    ids=["images", "no list", "no dict", "no labels"],
)
def test_bad_lists(found, true, error, message):
    with pytest.raises(error, match=message):
        evaluate_detections(found, true, n_classes=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iou": 0}, r"iou must be finite and in \(0, 1\], got 0"),
        ({"iou": 50}, r"iou must be .* got 50"),
        ({"n_classes": 0}, r"n_classes must be >= 1, got 0"),
        ({"interpolation": "101-point"}, r"interpolation must be one of .*'none', got '101-point'"),
        ({"matching": "lvis"}, r"matching must be one of 'voc', 'coco', got 'lvis'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        evaluate_detections([GOOD], [GOOD], **{"n_classes": 1} | settings)


@pytest.mark.parametrize(
    ("others", "error", "message"),
    [
        ([[0, 0, 1, 1]], TypeError, r"others must be a torch.Tensor, got list"),
        (BOX[:, :3], ValueError, r"others must have shape \(\.\.\., n, 4\), got \(1, 3\)"),
        (BOX.expand(3, 1, 4), ValueError, r"others must .* broadcast .*\(2,\), got \(3,\)"),
        (BOX.to("meta"), ValueError, r"others must be on the device of boxes, cpu, got meta"),
    ],
    ids=["type", "shape", "batches", "device"],
)
def test_bad_overlaps(others, error, message):
    with pytest.raises(error, match=message):
        box_iou(BOX.expand(2, 1, 4), others)


def test_a_class_that_is_not_there():
    with pytest.raises(ValueError, match="label must be from 1 to 1, got 2"):
        match_detections([GOOD], [GOOD], n_classes=1).of(2)

"""The training of a detector: what it is shown, what is kept, and a few steps of the real one."""

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.functional import dropout

from rankedu.losses import MAPLoss
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker
from rankedu_lab.datasets import Scenes
from rankedu_lab.detections import OnProposals, evaluate_detections
from rankedu_lab.models import build_detector
from rankedu_lab.training import Recipe, detect, detection, evaluate_detector, proposal_scores, train_detector
from rankedu_lab.training import detection as shown

CPU = torch.device("cpu")
STEPS = 8


class Pictures:
    """Small pictures, each of a colour of its own, with an object each; every third one is difficult."""

    names = ("thing", "other")

    def __init__(self, items=7, flips=True):
        self.items, self.flips = items, flips

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        image = torch.full((3, 8, 8 + index % 2 * 2), 10 * index, dtype=torch.uint8)
        image[:, :, 0] += 5  # so that left and right differ
        labels, difficult = torch.tensor([1 + index % 2]), torch.tensor([index % 3 == 0])
        return image, {"boxes": torch.tensor([[1.0, 2.0, 4.0, 6.0]]), "labels": labels, "difficult": difficult}

    def target(self, index):
        return self[index][1]


class Fake(nn.Module):
    """It has the losses of a detector, and draws from the global generator as one does."""

    def __init__(self):
        super().__init__()
        self.norm, self.score = nn.BatchNorm1d(3), nn.Linear(3, 3)
        self.roi_heads = SimpleNamespace(mark=print)

    def forward(self, images, targets=None):
        colours = torch.stack([image.mean((1, 2)) for image in images])
        scores = self.score(self.norm(dropout(colours + torch.arange(3), 0.2, self.training)))
        if not self.training:
            box = torch.tensor([[1.0, 2.0, 4.0, 6.0]])
            return [{"boxes": box, "scores": row.max()[None], "labels": 1 + row[1:].argmax()[None]} for row in scores]
        labels = torch.cat([target["labels"] for target in targets]).clamp(min=0)
        classes = nn.functional.cross_entropy(scores, labels)
        return {"loss_classifier": classes, "loss_box_reg": scores.square().mean(), "cross_entropy": classes.detach()}


class Refusing(Fake):
    """Its loss refuses what it gets, and its weights are finite."""

    def forward(self, images, targets=None):
        raise ValueError("class_logits must not contain NaN")


def run(folder=None, *, net=None, **settings):
    """Train from the start that the seed makes."""
    torch.manual_seed(0)
    net = Fake() if net is None else net
    chosen = {"steps": STEPS, "lr": 1e-2, "batch_size": 3, "test": Pictures(5), "evaluate_every": 3, "progress": False}
    return net, train_detector(net, Pictures(), folder=folder, **{**chosen, "checkpoint_every": 3, **settings})


def test_bad_settings_and_a_foreign_checkpoint_are_named(tmp_path, refused):
    run(tmp_path, steps=3, test=None)
    rows = (
        ({"weight": 2.0}, ValueError, "of another run, with weight=1.0, got weight=2.0"),
        ({"batch_size": 2}, ValueError, "with batch_size=3, got batch_size=2"),
        ({"net": nn.BatchNorm1d(3)}, ValueError, "does not fit the network of this run"),
        ({"recipe": Recipe(chunk=4)}, ValueError, "recipe.chunk must be None for a detector, got 4"),
    )
    refused((lambda settings=settings: run(tmp_path, **settings), error, message) for settings, error, message in rows)
    none = (lambda: train_detector(Fake(), Pictures(0), steps=1, lr=0.1), ValueError, "must have pictures, got 0")
    odd = (lambda: run(net=Refusing()), ValueError, "class_logits must not contain NaN")  # as it said, for it is sound
    refused([none, odd])


def made(data, steps=7, **settings):
    return list(shown.batches(data, **{"steps": steps, "batch_size": 3, "device": CPU, **settings}))


def test_every_epoch_is_a_permutation_of_the_data_and_half_are_mirrored_with_their_boxes():
    seen = []
    for flips in (True, False):
        data, mirrored = Pictures(flips=flips), []
        for batch in made(data, steps=42):
            for image, target in zip(batch.images, batch.targets, strict=True):
                seen.append(round(255 * image[0, 0, 4].item() / 10))  # which it is, by its colour
                (whole, known), width = data[seen[-1]], image.shape[-1]
                mirrored.append(not torch.equal(image, whole / 255))
                assert torch.equal(image, (whole.flip(-1) if mirrored[-1] else whole) / 255)
                assert target["boxes"].tolist() == [[width - 4, 2, width - 1, 6] if mirrored[-1] else [1, 2, 4, 6]]
                assert target["labels"].tolist() == ([-1] if known["difficult"] else known["labels"].tolist())
        assert (0.35 if flips else 0) <= sum(mirrored) / len(mirrored) <= (0.65 if flips else 0)
    epochs = [tuple(seen[start : start + 7]) for start in range(0, 126, 7)]
    assert all(sorted(epoch) == list(range(7)) for epoch in epochs) and len({*epochs}) > 10


def test_seed_step_and_place_determine_a_picture_from_the_middle_and_by_a_worker():
    whole, other = made(Pictures(), seed=4), made(Pictures(), seed=1)
    assert not all(torch.equal(one.images[0], two.images[0]) for one, two in zip(whole, other, strict=True))
    for settings in ({"first": 3}, {"workers": 1}):
        part = made(Pictures(), seed=4, **settings)
        for one, two in zip(whole[settings.get("first", 0) :], part, strict=True):
            torch.testing.assert_close((one.images, one.targets), (two.images, two.targets), rtol=0, atol=0)


def test_the_seed_decides_and_the_log_has_all_losses(tmp_path):
    losses = []
    for seed, drawn in ((1, 5), (1, 6), (2, 5)):
        torch.manual_seed(0)
        net = Fake()
        torch.manual_seed(drawn)
        state = torch.get_rng_state()
        losses.append(train_detector(net, Pictures(), steps=3, lr=0.1, seed=seed, progress=False).losses)
        assert torch.equal(torch.get_rng_state(), state), "the global generator is left alone"
    assert losses[0] == losses[1] != losses[2]
    _, history = run(tmp_path, weight=2.0)
    rows = history.rows()
    head = (tmp_path / "log.csv").read_text().splitlines()[0].split(",")
    assert head == [*dict.fromkeys(name for row in rows for name in row)]
    for row in rows:
        assert row["loss"] == pytest.approx(2 * row["loss_classifier"] + row["loss_box_reg"], rel=1e-6)
        assert row["cross_entropy"] == row["loss_classifier"]
    assert "AP50" in rows[2] and "AP50 11-point" in rows[5] and "AP50" not in rows[0]


def test_detections_are_those_of_the_network_in_order_and_evaluation_is_their_metric():
    torch.manual_seed(0)
    net, data = Fake().train(), Pictures()
    images, truths = zip(*(data[index] for index in range(len(data))), strict=True)
    expected = copy.deepcopy(net).eval()([image / 255 for image in images])
    for batch_size in (2, 16):
        found = detect(net, data, batch_size=batch_size)
        torch.testing.assert_close(found, expected)
        assert net.training
    kinds = {"AP50": "all-point", "AP50 11-point": "11-point"}
    scored = {k: evaluate_detections(found, truths, n_classes=2, interpolation=v)["AP"] for k, v in kinds.items()}
    assert evaluate_detector(net, data) == pytest.approx(scored) and scored["AP50"] > 0
    nn.init.constant_(net.score.weight, torch.nan)
    with pytest.raises(ValueError, match="net must have finite weights"):
        evaluate_detector(net, data)


def detector():
    torch.manual_seed(0)
    loss = OnProposals(MAPLoss(BlackboxRanker(0.5), margin=0.15, memory=ScoreMemory(7)))
    return build_detector("narrow", classes=20, classifier_loss=loss)


@pytest.mark.filterwarnings("ignore:lam=")
def test_a_faster_rcnn_learns_from_the_ap_loss_and_is_evaluated(tmp_path):
    """A few steps for real; the rest of the loop is tested with a fake."""
    train, test = Scenes("train", images=10), Scenes("test", images=6)
    settings = {"lr": 2e-3, "batch_size": 4, "test": test, "progress": False, "recipe": Recipe(clip=10.0)}
    net = detector()
    history = train_detector(net, train, steps=6, folder=tmp_path, **settings)
    rows = history.rows()
    assert set(rows[0]) == {"step", "loss", "lr", "cross_entropy", *detection.LOSSES}
    assert 0 < rows[0]["loss_classifier"] < 1 < rows[0]["cross_entropy"]
    assert sum(history.losses[3:]) < sum(history.losses[:3]) and 0 < history.loss_seconds < history.seconds
    assert history.evaluations == [{"step": 6, **evaluate_detector(net, test)}]
    assert all(len(found["boxes"]) > 0 for found in detect(net, test))
    logits, labels = proposal_scores(net, test)
    assert logits.shape == (len(labels), 21) and (labels > 0).any() and (labels == 0).any()
    nn.init.constant_(net.roi_heads.box_head.fc6.weight, torch.nan)
    with pytest.raises(FloatingPointError, match="loss must stay finite, got nan at step 1 "):
        train_detector(net, train, steps=1, **settings)

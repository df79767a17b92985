"""Faster R-CNN by its name: the classifier's loss is exchanged, all else is torchvision's."""

import copy

import pytest
import torch
from torch import nn

from rankedu.losses import MAPLoss, NoPositivesWarning
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker
from rankedu_lab.detections import OnProposals
from rankedu_lab.models import build_detector, load_torchvision


def scene(objects=3, side=64, seed=0):
    """Noise with bright squares, and where they are."""
    random = torch.Generator().manual_seed(seed)
    image, boxes = 0.5 * torch.rand(3, side, side, generator=random), []
    for i in range(objects):
        x, y, size = (20 * i + 2, 5 * i + 4, 14 + 2 * i)
        image[i % 3, y : y + size, x : x + size] += 0.5
        boxes.append([x, y, x + size, y + size])
    labels = 1 + torch.arange(objects) % 4
    return image, {"boxes": torch.tensor(boxes, dtype=torch.float32).view(-1, 4), "labels": labels}


def batch(*objects):
    images, targets = zip(*(scene(n, seed=i) for i, n in enumerate(objects or (3, 2))), strict=True)
    return list(images), list(targets)


def narrow(loss=None, **settings):
    torch.manual_seed(0)
    return build_detector(classes=4, classifier_loss=loss, image_size=64, proposals=16, **settings)


def map_loss(length=2):
    return OnProposals(MAPLoss(BlackboxRanker(1e6), margin=0.1, memory=ScoreMemory(length)))


def step(net, scale=1.0, given=None):
    """The losses, and the gradients of their sum; anchors and proposals are drawn from the same seed."""
    torch.manual_seed(1)
    net.zero_grad()
    losses = net(*(given or batch()))
    total = sum(value for name, value in losses.items() if name not in ("cross_entropy", "loss_classifier"))
    (total + scale * losses["loss_classifier"]).backward()
    return losses, {name: parameter.grad.clone() for name, parameter in net.named_parameters()}


def test_with_cross_entropy_it_is_torchvisions():
    net = narrow()
    original = copy.deepcopy(net)
    original.roi_heads.__class__ = load_torchvision("the oracle").models.detection.roi_heads.RoIHeads
    (losses, gradients), (expected, theirs) = step(net, 3.0), step(original, 3.0)
    assert losses.keys() == expected.keys() | {"cross_entropy"}
    for name, value in expected.items():
        torch.testing.assert_close(losses[name], value)
    assert torch.equal(losses["cross_entropy"], expected["loss_classifier"])
    assert not losses["cross_entropy"].requires_grad
    torch.testing.assert_close(gradients, theirs)
    net.eval(), original.eval()
    with torch.no_grad():
        torch.testing.assert_close(net(batch()[0]), original(batch()[0]))


def test_all_proposals_of_a_test_set_can_be_judged_and_pictures_may_be_empty():
    net = narrow().eval()
    images, targets = batch(3, 0, 2)
    with torch.no_grad():
        detections = net(images, targets)
        logits, labels = net.roi_heads.last
        alone = net(images)
    assert net.roi_heads.last[0] is logits  # without targets nothing is kept
    torch.testing.assert_close(detections, alone)
    assert logits.shape == (len(labels), 5) and 3 < len(labels) <= 3 * 100
    assert set(labels.tolist()) <= {-1, 0, 1, 2, 3, 4}
    given = batch(0, 0)
    assert all(value.isfinite() for value in step(narrow(), given=given)[0].values())
    with pytest.warns(NoPositivesWarning):
        losses, gradients = step(narrow(map_loss()), given=given)
    assert losses["loss_classifier"] == 0 and all(gradient.isfinite().all() for gradient in gradients.values())


def test_training_goes_on_with_another_loss(tmp_path):
    for before, after in ((None, map_loss()), (map_loss(), None), (map_loss(), map_loss())):
        net = narrow(before)
        step(net)
        torch.save(net.state_dict(), tmp_path / "net.pt")
        again = narrow(after, weights=tmp_path / "net.pt")
        assert again.pretrained == "file net.pt"
        with torch.no_grad():
            torch.testing.assert_close(net.eval()(batch()[0]), again.eval()(batch()[0]))


def test_pretrained_weights_are_taken_where_they_are_and_then_kept_still(thin):
    with pytest.warns(UserWarning, match=r"pretrained weights are not at .*, so the net starts at random") as caught:
        net = build_detector("resnet50_fpn", 4, pretrained=True, image_size=64)
    assert [w.filename for w in caught if "pretrained" in str(w.message)] == [__file__]
    assert net.pretrained == "random" and all(parameter.requires_grad for parameter in net.parameters())
    assert isinstance(net.backbone.body.bn1, nn.BatchNorm2d)
    classifier, file = thin.make(), thin.file("ResNet50_Weights")
    nn.init.constant_(classifier.bn1.bias, 3.0)
    torch.save(classifier.state_dict(), file)
    for settings in ({"pretrained": True}, {"weights": file}):
        net = build_detector("resnet50_fpn", 4, image_size=64, **settings)
        assert net.pretrained.startswith("ImageNet (torchvision" if "pretrained" in settings else "file resnet50")
        body = net.backbone.body
        assert body.bn1.bias.eq(3).all() and torch.equal(body.layer4[0].conv1.weight, classifier.layer4[0].conv1.weight)
        still = {name.split(".")[0] for name, parameter in body.named_parameters() if not parameter.requires_grad}
        assert still == {"conv1", "layer1"} and type(body.bn1).__name__ == "FrozenBatchNorm2d"
    losses, gradients = step(build_detector("resnet50_fpn", 4, classifier_loss=map_loss(), image_size=64, proposals=16))
    assert all(value.isfinite() for value in losses.values())
    assert gradients["roi_heads.box_predictor.cls_score.weight"].any() and gradients["backbone.body.conv1.weight"].any()


def test_bad_settings_and_weights_are_refused(tmp_path, refused):
    torch.save(build_detector(classes=3).state_dict(), tmp_path / "three.pt")
    rows = (
        ({"name": "wide"}, ValueError, "name must be one of 'narrow', .* got 'wide'"),
        ({"pretrained": True}, ValueError, "pretrained must be False for 'narrow', got True"),
        ({"name": "resnet50_fpn", "pretrained": True, "weights": "x"}, ValueError, "must not both be given"),
        ({"classifier_loss": "rambo_map"}, TypeError, r"classifier_loss must be a Module, got 'rambo_map'"),
        ({"weights": tmp_path / "none.pt"}, FileNotFoundError, r"weights must be a file, got .*none\.pt"),
        ({"weights": tmp_path / "three.pt"}, ValueError, r"must fit the narrow, got .*three\.pt, .*size mismatch"),
    )
    refused((lambda given=given: build_detector(**given), error, message) for given, error, message in rows)

"""Faster R-CNN by its name: a narrow one for a CPU, and the three of the paper."""

from pathlib import Path
from typing import Any

from torch import nn

from rankedu.checks import check_choice, check_count
from rankedu_lab.models.build import check_start, load_state, read_state
from rankedu_lab.models.convnet import NarrowBackbone
from rankedu_lab.models.resnet import cached_weights, load_cached
from rankedu_lab.models.vision import load_torchvision

#: The names that `build_detector` takes, smallest first.
DETECTORS = ("narrow", "resnet50_fpn", "resnet101_fpn", "resnext101_32x4d_fpn")
#: torchvision's names of the weights that the papers start from; it has none for the third.
PRETRAINED = {"resnet50_fpn": "ResNet50_Weights", "resnet101_fpn": "ResNet101_Weights"}
#: Blocks of ResNet-101 and of ResNeXt-101.
BLOCKS_101 = [3, 4, 23, 3]


def build_detector(
    name: str = "narrow",
    classes: int = 20,
    *,
    classifier_loss: nn.Module | None = None,
    pretrained: bool = False,
    weights: str | Path | None = None,
    image_size: int | None = None,
    proposals: int | None = None,
) -> nn.Module:
    """Make torchvision's Faster R-CNN, with any loss in the place of its classifier's cross entropy.

    ``classifier_loss(class_logits, labels)`` takes (P, C + 1) and (P,), e.g.
    ``OnProposals(MAPLoss(BlackboxRanker(1e5)))``. ``pretrained`` starts the backbone from ImageNet; ``weights`` is a
    file made by ``torch.save(net.state_dict(), …)``, of such a detector, whatever its loss, or of an image classifier
    of torchvision's with that backbone. ``image_size`` is what the shorter side is resized to, ``proposals`` how many
    of a picture the classifier is trained on. ``losses["cross_entropy"]`` is in no sum; ``net.pretrained`` says how it
    starts. Detections are not cut off at a score: AP depends on the order, and a loss of the order fixes no level.

    Source: RaMBO Sec. 5.2.

    Examples
    --------
    >>> import torch
    >>> net = build_detector("narrow", classes=3).eval()
    >>> sorted(net([torch.rand(3, 128, 128)])[0])
    ['boxes', 'labels', 'scores']
    """
    check_choice(name, DETECTORS, name="name")
    check_count(classes, "classes")
    if classifier_loss is not None and not isinstance(classifier_loss, nn.Module):
        raise TypeError(
            f"classifier_loss must be a Module, got {classifier_loss!r} "
            "(e.g. OnProposals(MAPLoss(BlackboxRanker(lam=1e5))))"
        )
    narrow = name == "narrow"
    image_size = (128 if narrow else 600) if image_size is None else image_size
    proposals = (64 if narrow else 512) if proposals is None else proposals
    check_count(image_size, "image_size", least=32)
    check_count(proposals, "proposals")
    check_start(name, pretrained, weights, PRETRAINED)
    torchvision: Any = load_torchvision("object detection")
    common = {
        "num_classes": None if narrow else classes + 1,
        "min_size": image_size,
        "max_size": image_size * 5 // 3,
        "box_score_thresh": 0.0,
        "box_detections_per_img": 100,
        "box_batch_size_per_image": proposals,
    }
    if narrow:
        net = _narrow(torchvision, classes, common)
    else:
        net = _with_pyramid(torchvision, name, pretrained, weights is not None, common)
    from rankedu_lab.models._roi_heads import RoIHeads

    RoIHeads.take_over(net.roi_heads, nn.CrossEntropyLoss() if classifier_loss is None else classifier_loss)
    if weights is not None:
        net.pretrained = _load(net, name, Path(weights))
    return net


def _narrow(torchvision: Any, classes: int, common: dict[str, Any]) -> Any:
    """One map of features, small anchors, few proposals, a thin head."""
    detection, channels, bins, width = torchvision.models.detection, 64, 5, 128
    net = detection.FasterRCNN(
        NarrowBackbone(channels),
        **common,
        size_divisible=8,
        image_mean=[0.5] * 3,
        image_std=[0.25] * 3,
        rpn_anchor_generator=detection.rpn.AnchorGenerator(((12, 19, 30, 48),), ((0.5, 1.0, 2.0),)),
        rpn_pre_nms_top_n_train=300,
        rpn_pre_nms_top_n_test=300,
        rpn_post_nms_top_n_train=100,
        rpn_post_nms_top_n_test=100,
        rpn_batch_size_per_image=64,
        box_roi_pool=torchvision.ops.MultiScaleRoIAlign(["0"], bins, sampling_ratio=2),
        box_head=detection.faster_rcnn.TwoMLPHead(channels * bins**2, width),
        box_predictor=detection.faster_rcnn.FastRCNNPredictor(width, classes + 1),
    )
    net.pretrained = "random"
    return net


def _with_pyramid(torchvision: Any, name: str, pretrained: bool, to_be_loaded: bool, common: dict[str, Any]) -> Any:
    """A residual net with a feature pyramid; one that starts from weights keeps its batch norm and first layers."""
    models = torchvision.models
    file = cached_weights(torchvision, PRETRAINED[name]) if pretrained else None
    frozen = to_be_loaded or file is not None
    norm = torchvision.ops.FrozenBatchNorm2d if frozen else nn.BatchNorm2d
    if name == "resnext101_32x4d_fpn":
        body = models.ResNet(models.resnet.Bottleneck, BLOCKS_101, groups=32, width_per_group=4, norm_layer=norm)
    else:
        body = getattr(models, name.removesuffix("_fpn"))(weights=None, norm_layer=norm)
    start = load_cached(torchvision, body, file)
    if frozen:
        for part in (body.conv1, body.bn1, body.layer1):
            part.requires_grad_(False)
    layers = {f"layer{i + 1}": str(i) for i in range(4)}
    pyramid = models.detection.backbone_utils.BackboneWithFPN(body, layers, [256, 512, 1024, 2048], 256)
    net = models.detection.FasterRCNN(pyramid, **common)
    net.pretrained = start
    return net


def _load(net: Any, name: str, file: Path) -> str:
    """Load a state dict of the detector, or of a classifier with its backbone; say what the start is."""
    state = read_state(file)
    if "fc.weight" in state and hasattr(net.backbone, "body"):
        return load_state(net.backbone.body, state, file, of=name, new=("fc.",))
    # A detector may go on with another loss, and then without its memory.
    return load_state(net, state, file, of=name, new=("roi_heads.classifier_loss.",))

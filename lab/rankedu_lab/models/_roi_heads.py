"""The second stage of torchvision's Faster R-CNN, with any loss of class logits and labels in its classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from rankedu_lab.models.vision import load_torchvision

_Parent: Any = load_torchvision("Faster R-CNN").models.detection.roi_heads.RoIHeads


class RoIHeads(_Parent):  # type: ignore[misc]
    """torchvision's, but for the loss of the classifier: class logits and labels are caught as they pass.

    ``classifier_loss`` takes class logits (P, C + 1) and labels (P,); ``mark`` is called with "loss begins" before and
    with "loss ends" after it; ``last`` keeps logits and labels of the last step, without their graph.
    """

    classifier_loss: nn.Module
    mark: Callable[[str], Any]
    last: tuple[Tensor, Tensor] | None

    @classmethod
    def take_over(cls, heads: nn.Module, classifier_loss: nn.Module) -> RoIHeads:
        """Make torchvision's heads ours, in place."""
        ours: Any = heads
        ours.__class__ = cls
        ours.classifier_loss, ours.mark, ours.last = classifier_loss, lambda stage: None, None
        return ours

    def select_training_samples(self, proposals: list[Tensor], targets: Any) -> Any:
        """Keep the labels of the sampled proposals."""
        selected = super().select_training_samples(proposals, targets)
        self._labels = torch.cat(list(selected[2]))
        return selected

    def forward(
        self,
        features: dict[str, Tensor],
        proposals: list[Tensor],
        image_shapes: list[tuple[int, int]],
        targets: list[dict[str, Tensor]] | None = None,
    ) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
        """Do what torchvision does, and replace the classifier's loss."""
        caught: list[Tensor] = []
        hook = self.box_predictor.register_forward_hook(lambda module, given, output: caught.append(output[0]))
        try:
            result, losses = super().forward(features, proposals, image_shapes, targets)
        finally:
            hook.remove()
        logits = caught[0]
        if self.training:
            labels = self.__dict__.pop("_labels")
            losses["cross_entropy"] = losses["loss_classifier"].detach()
            self.mark("loss begins")
            with torch.autocast(logits.device.type, enabled=False):
                wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
                losses["loss_classifier"] = self.classifier_loss(wide, labels)
            self.mark("loss ends")
            self.last = logits.detach(), labels
        elif targets is not None:
            boxes = [target["boxes"].to(proposals[0]) for target in targets]
            labels = self.assign_targets_to_proposals(proposals, boxes, [target["labels"] for target in targets])[1]
            self.last = logits.detach(), torch.cat(labels)
        return result, losses

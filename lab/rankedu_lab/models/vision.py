"""torchvision, also beside a torch for which its compiled operators were not built."""

import sys
import warnings
from types import ModuleType
from typing import Any

import torch

from rankedu_lab.models import _operators

#: What torchvision's import asks torch for; its compiled part would have declared it.
SCHEMAS = tuple(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor" for name in ("nms", "qnms"))

_declared: list[torch.library.Library] = []  # a declaration ends with the object that made it


class StandInWarning(UserWarning):
    """torchvision's compiled operators do not load beside this torch; equal ones in PyTorch take their place."""


def load_torchvision(needed_for: str, *, instead: str = "") -> ModuleType:
    """Import torchvision; where its compiled operators do not load, put equal ones in PyTorch in their place.

    torchvision's wheels are built for a torch with CUDA: beside a torch for the CPU even ``import torchvision`` fails.
    Where the real operators load, nothing is touched.
    """
    try:
        try:
            import torchvision
        except RuntimeError:  # "operator torchvision::nms does not exist"
            _forget_half_imported()
            _declare()
            import torchvision
    except (ImportError, RuntimeError) as error:  # a build for another torch fails at run time
        _forget_half_imported()
        raise ImportError(
            f"torchvision is needed for {needed_for} and cannot be imported ({error}): "
            "pip install 'rankedu[vision]', a build that fits your torch" + (f"; or {instead}" if instead else "")
        ) from error
    if not _has_operators(torchvision) and torchvision.ops.nms is not _operators.nms:
        warnings.warn(
            "torchvision's compiled operators do not load beside this torch, so non-maximum suppression and RoIAlign "
            "are PyTorch's: the same results, somewhat slower (install a torchvision built for your torch)",
            StandInWarning,
            stacklevel=3,  # where build_detector() was called
        )
        _replace(torchvision)
    return torchvision


def operators() -> str:
    """Say whose operators a detector runs with, "torchvision" or "PyTorch": they agree up to rounding."""
    return "torchvision" if _has_operators(load_torchvision("object detection")) else "PyTorch"


def _forget_half_imported() -> None:
    """Take out the parts that a failed import leaves behind: the next one would go on from the middle."""
    if "torchvision" not in sys.modules:
        for name in [name for name in sys.modules if name.startswith("torchvision.")]:
            del sys.modules[name]


def _declare() -> None:
    """Declare the operators that the import asks for, and give them to those who call them through torch.ops."""
    if not _declared:
        library = torch.library.Library("torchvision", "DEF")
        for schema in SCHEMAS:
            library.define(schema)
        library.impl("nms", _operators.nms, "CompositeExplicitAutograd")
        _declared.append(library)


def _has_operators(torchvision: Any) -> bool:
    """Whether the compiled part was loaded. What has no such part, needs none."""
    extension = getattr(torchvision, "extension", None)
    return extension is None or bool(extension._has_ops())


def _replace(torchvision: Any) -> None:
    """Put our functions wherever a module of torchvision holds its own."""
    modules = [module for key, module in sys.modules.items() if key.split(".")[0] == "torchvision"]
    for ours in (_operators.nms, _operators.roi_align):
        theirs = getattr(torchvision.ops, ours.__name__)
        for module in modules:
            if getattr(module, ours.__name__, None) is theirs:
                setattr(module, ours.__name__, ours)

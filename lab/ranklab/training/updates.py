"""From gradients to weights, as a recipe says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from rankedu._validation import check_number
from ranklab.training.recipe import Recipe

__all__ = ["Updates", "all_finite"]

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": lambda groups, lr: torch.optim.SGD(groups, lr=lr, momentum=0.9, nesterov=True),
}


def all_finite(parameters: Iterable[Tensor]) -> bool:
    """Whether none is NaN or infinite anywhere."""
    return all(bool(parameter.isfinite().all()) for parameter in parameters)


class Updates:
    """An optimiser with a group each for backbone, head and loss, led by a recipe.

    Parameters that have no ``requires_grad`` are left alone; those of a loss are trained if it is a module.
    """

    def __init__(self, recipe: Recipe, net: nn.Module, loss: Any, lr: float) -> None:
        check_number(lr, "lr", above=0)
        head: set[int] = set()
        if recipe.head_lr != 1 or recipe.head_only:
            if not hasattr(net, "head_parameters"):
                raise ValueError(
                    f"net must have a method head_parameters() for head_lr={recipe.head_lr:g} and "
                    f"head_only={recipe.head_only}, got a {type(net).__name__} without (see ranklab.models)"
                )
            head = {id(parameter) for parameter in net.head_parameters()}  # type: ignore[operator]
        own = loss.parameters() if isinstance(loss, nn.Module) else ()
        parts: dict[str, tuple[Iterable[nn.Parameter], float, float]] = {
            "backbone": ((p for p in net.parameters() if id(p) not in head), 1.0, recipe.weight_decay),
            "head": ((p for p in net.parameters() if id(p) in head), recipe.head_lr, recipe.weight_decay),
            "loss": (own, recipe.loss_lr, 0.0),
        }
        groups = [
            {"params": trained, "name": name, "base": lr * factor, "weight_decay": decay}
            for name, (parameters, factor, decay) in parts.items()
            if (trained := [p for p in parameters if p.requires_grad])
        ]
        self.recipe, self.optimizer = recipe, OPTIMIZERS[recipe.optimizer](groups, lr=lr)
        device = next(net.parameters()).device.type
        self.scaler = torch.amp.GradScaler(device, enabled=recipe.amp and device == "cuda")

    def parameters(self, *names: str) -> list[nn.Parameter]:
        """All that is trained, or those of the groups that are named."""
        groups = [group for group in self.optimizer.param_groups if not names or group["name"] in names]
        return [parameter for group in groups for parameter in group["params"]]

    def begin(self, step: int, steps: int) -> float:
        """Forget the gradients, set a step's learning rates, freeze or unfreeze the backbone; return the basic rate."""
        self.optimizer.zero_grad()
        factor = self.recipe.factor(step, steps)
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor
        if self.recipe.head_only:
            self._freeze_backbone(step <= self.recipe.head_only)
        return float(self.optimizer.defaults["lr"] * factor)

    def scale(self, gradient: Tensor) -> Tensor:
        """Scale the gradient of the embeddings, so that float16 does not lose the network's small ones."""
        return self.scaler.scale(gradient)

    def apply(self) -> None:
        """Clip the gradients and take a step. Gradients of the loss's own parameters come unscaled."""
        if self.scaler.is_enabled():
            for parameter in self.parameters("loss"):
                if parameter.grad is not None:
                    parameter.grad = self.scaler.scale(parameter.grad)
            self.scaler.unscale_(self.optimizer)
        if self.recipe.clip is not None:
            nn.utils.clip_grad_norm_(self.parameters(), self.recipe.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def __enter__(self) -> Updates:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no parameter frozen, wherever the run has ended."""
        if self.recipe.head_only:
            self._freeze_backbone(False)

    def _freeze_backbone(self, frozen: bool) -> None:
        for parameter in self.parameters("backbone"):
            parameter.requires_grad_(not frozen)

    def state_dict(self) -> dict[str, Any]:
        """The optimiser's state, and the scale."""
        return {"optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put back a state."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])

"""A recipe, which says how the weights follow the gradient, and the updates that it leads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from rankedu.checks import check_choice, check_count, check_number

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": lambda groups, lr: torch.optim.SGD(groups, lr=lr, momentum=0.9, nesterov=True),
}
SCHEDULES = ("constant", "cosine", "one_cycle", "steps")  # cosine falls to 0
#: Of one_cycle: the share of the steps in which the learning rate rises, and the factors of the first and last step.
RISE, FIRST, LAST = 0.3, 1 / 25, 1 / 25e4


@dataclass(frozen=True)
class Recipe:
    """The settings of the updates; the learning rate is a pure function of the step."""

    optimizer: str = "adam"  #: or "adamw", or "sgd", which has Nesterov's momentum 0.9
    weight_decay: float = 0.0  #: of the network's parameters; the loss's own have none
    head_lr: float = 1.0  #: the factor of the learning rate of the head, ``net.head_parameters()``
    loss_lr: float = 1.0  #: the same for the parameters of the loss, for instance proxies
    schedule: str = "constant"  #: of the learning rate, one of SCHEDULES
    milestones: tuple[int, ...] = ()  #: steps after which the schedule "steps" multiplies the rate by ``decay``
    decay: float = 0.3
    warmup: int = 0  #: the number of first steps in which the rate rises linearly; one_cycle rises by itself
    head_only: int = 0  #: the number of first steps in which only the head and the loss learn
    clip: float | None = None  #: the bound of the gradient's norm, over all parameters
    amp: bool = False  #: embed in 16 bits, bfloat16 on a CPU and float16 on CUDA; the loss has 32
    chunk: int | None = None  #: the number of images that are embedded at a time

    def __post_init__(self) -> None:
        object.__setattr__(self, "milestones", tuple(self.milestones))
        check_choice(self.optimizer, tuple(OPTIMIZERS), name="optimizer")
        check_choice(self.schedule, SCHEDULES, name="schedule")
        check_number(self.weight_decay, "weight_decay", least=0)
        for name in ("head_lr", "loss_lr", "decay"):
            check_number(getattr(self, name), name, above=0, most=1 if name == "decay" else math.inf)
        for name in ("warmup", "head_only"):
            check_count(getattr(self, name), name, least=0)
        if self.clip is not None:
            check_number(self.clip, "clip", above=0, hint="None for none")
        if self.chunk is not None:
            check_count(self.chunk, "chunk", hint="None for all")
        if not isinstance(self.amp, bool):
            raise TypeError(f"amp must be True or False, got {self.amp!r}")
        for milestone in self.milestones:
            check_count(milestone, "milestones")
        if (self.schedule == "steps") != bool(self.milestones):
            raise ValueError(
                f"milestones must be given with schedule='steps', and with no other, got {self.milestones} with "
                f"schedule={self.schedule!r} (e.g. schedule='steps', milestones=(600, 900))"
            )
        if self.schedule == "one_cycle" and self.warmup:
            raise ValueError(f"warmup must be 0 with schedule='one_cycle', got {self.warmup} (it rises by itself)")

    def factor(self, step: int, steps: int) -> float:
        """Return the factor of the learning rate in a step, from 1 to ``steps``."""
        done, top = step - 1, max(RISE * steps - 1, 0.0)
        if self.schedule == "one_cycle":
            if done < top:
                return _along_cosine(FIRST, 1.0, done / top)
            return _along_cosine(1.0, LAST, (done - top) / max(steps - 1 - top, 1e-9))
        warm = min(1.0, step / self.warmup) if self.warmup else 1.0
        if self.schedule == "cosine":
            return warm * _along_cosine(1.0, 0.0, done / steps)
        return warm * float(self.decay ** sum(done >= milestone for milestone in self.milestones))


def _along_cosine(start: float, end: float, done: float) -> float:
    """Go from one value to another along half a cosine, with ``done`` from 0 to 1."""
    return end + (start - end) * (1 + math.cos(math.pi * done)) / 2


def all_finite(parameters: Iterable[Tensor]) -> bool:
    """Return whether no parameter is NaN or infinite anywhere."""
    return all(bool(parameter.isfinite().all()) for parameter in parameters)


class Updates:
    """An optimiser with a group each for backbone, head and loss, if it is a module, led by a recipe."""

    def __init__(self, recipe: Recipe, net: nn.Module, loss: Any, lr: float) -> None:
        check_number(lr, "lr", above=0)
        head: set[int] = set()
        if recipe.head_lr != 1 or recipe.head_only:
            if not hasattr(net, "head_parameters"):
                raise ValueError(
                    f"net must have a method head_parameters() for head_lr={recipe.head_lr:g} and "
                    f"head_only={recipe.head_only}, got a {type(net).__name__} without (see rankedu_lab.models)"
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
        """List all trained parameters, or those of the groups that are named."""
        groups = [group for group in self.optimizer.param_groups if not names or group["name"] in names]
        return [parameter for group in groups for parameter in group["params"]]

    def begin(self, step: int, steps: int) -> float:
        """Forget the gradients, set a step's learning rates, freeze or unfreeze the backbone; return the basic rate."""
        self.optimizer.zero_grad()
        factor = self.recipe.factor(step, steps)
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor
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
        self._freeze_backbone(False)

    def _freeze_backbone(self, frozen: bool) -> None:
        if self.recipe.head_only:
            for parameter in self.parameters("backbone"):
                parameter.requires_grad_(not frozen)

    def state_dict(self) -> dict[str, Any]:
        return {"optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])

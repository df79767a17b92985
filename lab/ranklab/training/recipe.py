"""How the weights follow the gradient: optimiser, learning rates, their schedule. A value, without any state."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankedu._validation import check_choice, check_count, check_number

__all__ = ["OPTIMIZERS", "SCHEDULES", "Recipe"]

OPTIMIZERS = ("adam", "adamw", "sgd")
SCHEDULES = ("constant", "cosine", "one_cycle", "steps")  # cosine falls to 0
#: Of one_cycle: the share of the steps in which the learning rate rises, and the factors of the first and last step.
RISE, FIRST, LAST = 0.3, 1 / 25, 1 / 25e4


@dataclass(frozen=True)
class Recipe:
    """What a training run does beside choosing batches and a loss.

    The learning rate is a pure function of the step, so that a run that goes on needs no state of a scheduler.
    """

    optimizer: str = "adam"  #: or "adamw", or "sgd", which has Nesterov's momentum 0.9
    weight_decay: float = 0.0  #: of the network's parameters; the loss's own have none
    head_lr: float = 1.0  #: the head, ``net.head_parameters()``, learns so many times faster
    loss_lr: float = 1.0  #: the same for the parameters of the loss, for instance proxies
    schedule: str = "constant"  #: of the learning rate, one of SCHEDULES
    milestones: tuple[int, ...] = ()  #: steps after which the schedule "steps" multiplies the rate by ``decay``
    decay: float = 0.3
    warmup: int = 0  #: in so many first steps the rate rises linearly; not with one_cycle, which rises by itself
    head_only: int = 0  #: in so many first steps only the head and the loss learn, as is done with a new head
    clip: float | None = None  #: the bound of the gradient's norm, over all parameters
    amp: bool = False  #: embed in 16 bits, bfloat16 on a CPU and float16 on CUDA; the loss has 32
    chunk: int | None = None  #: embed so many images at a time

    def __post_init__(self) -> None:
        object.__setattr__(self, "milestones", tuple(self.milestones))
        check_choice(self.optimizer, OPTIMIZERS, name="optimizer")
        check_choice(self.schedule, SCHEDULES, name="schedule")
        check_number(self.weight_decay, "weight_decay", least=0)
        for name in ("head_lr", "loss_lr", "decay"):
            check_number(getattr(self, name), name, above=0)
        for name in ("warmup", "head_only"):
            check_count(getattr(self, name), name, least=0)
        if self.decay > 1:
            raise ValueError(f"decay must be in (0, 1], got {self.decay}")
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
        """By how much the learning rate is multiplied in a step, from 1 to ``steps``."""
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
    """From one value to another along half a cosine; done goes from 0 to 1."""
    return end + (start - end) * (1 + math.cos(math.pi * done)) / 2

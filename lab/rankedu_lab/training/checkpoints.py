"""Checkpoints: all that a training run needs to go on as if it had never stopped."""

import io
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.files import written
from rankedu_lab.training.device import random_state, set_random_state
from rankedu_lab.training.logs import History
from rankedu_lab.training.recipe import Recipe, Updates, all_finite

KIND = "rankedu training run, 3"


def write_packed(path: Path, save: Callable[[Any], None]) -> None:
    """Write what ``save`` gives to a file at once, because torch and NumPy do not say why they could not write."""
    save(packed := io.BytesIO())
    with written(path) as part:
        part.write_bytes(packed.getbuffer())


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint onto the CPU, without executing anything in the file. A ValueError if it is damaged."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if dict(state).get("kind") != KIND:
            raise ValueError(f"its kind is not {KIND!r}")
    except Exception as error:  # torch has many names for it
        raise ValueError(
            f"checkpoint {path} cannot be read: it is damaged, or was not written by this version of rankedu "
            "(move it away to begin anew, or use another folder)"
        ) from error
    return state


class TrainingState:
    """All that changes while a network is trained, and the settings that a resumed run must share."""

    def __init__(
        self,
        net: nn.Module,
        loss: Any,
        recipe: Recipe,
        lr: float,
        *,
        steps: int,
        folder: str | Path | None,
        resume: bool,
        **settings: Any,
    ) -> None:
        self.net, self.loss, self.updates = net, loss, Updates(recipe, net, loss, lr)
        self.settings = {**settings, "lr": lr, **asdict(recipe)}
        if recipe.schedule in ("cosine", "one_cycle"):
            self.settings["steps"] = steps  # the learning rate depends on it
        self.parts: dict[str, Any] = {"network": net, "optimizer": self.updates}
        if isinstance(loss, nn.Module):
            self.parts["loss"] = loss
        self.history, self.step = History(), 0  # the number of steps that are done
        self.draws: Tensor | None = None  #: the state of the augmentation's generator after them
        self.path = None if folder is None else Path(folder) / "checkpoint.pt"
        if self.path is not None and resume:
            self.load(self.path, steps)

    def check(self) -> None:
        """Raise FloatingPointError if a weight is NaN or infinite."""
        if not all_finite(self.updates.parameters()):
            raise FloatingPointError(f"weights must stay finite, got others after step {self.step} (try a smaller lr)")

    def save(self) -> None:
        """Write a checkpoint and the log, if there is a folder for them, unless a weight is not finite."""
        if self.path is None:
            return
        self.check()
        state = {"kind": KIND, **{name: part.state_dict() for name, part in self.parts.items()}}
        state |= {"history": vars(self.history), "settings": self.settings, "step": self.step, "draws": self.draws}
        state["random"] = random_state(self.device)
        write_packed(self.path, lambda file: torch.save(state, file))
        self.history.write(self.path.with_name("log.csv"))

    def load(self, path: Path, steps: int) -> None:
        """Go on from a checkpoint, if there is one; a ValueError names the setting that differs in another run."""
        if not path.exists():
            return
        state, instead = load(path), "(use another folder, or resume=False to begin anew)"
        if state["step"] > steps:
            raise ValueError(f"steps must be >= {state['step']}, which {path} has done, got {steps} {instead}")
        for name, value in self.settings.items():
            then = state["settings"].get(name)
            if then != value:
                raise ValueError(f"{path} is of another run, with {name}={then!r}, got {name}={value!r} {instead}")
        for name, part in self.parts.items():
            try:
                part.load_state_dict(state[name])
            except (KeyError, RuntimeError, ValueError) as error:
                raise ValueError(f"checkpoint {path} does not fit the {name} of this run {instead}: {error}") from error
        self.step, self.draws, self.history = state["step"], state["draws"], History(**state["history"])
        if self.step < steps:
            self.history.interrupted.append(self.step)
        set_random_state(state["random"], self.device)

    @property
    def device(self) -> torch.device:
        """The network's."""
        return next(self.net.parameters()).device

"""Argument checks: an error names the parameter, what was expected, what came, and what to do.

Public, for whoever writes a ranker, a loss or a lab beside the library: errors then read the same everywhere. A check
raises TypeError or ValueError, or returns; those that return a value return it in the form that is computed with.
"""

import difflib
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = [
    "INTEGERS",
    "RANKABLE",
    "as_graded",
    "as_relevance",
    "check_choice",
    "check_count",
    "check_finite",
    "check_flag",
    "check_floating",
    "check_integers",
    "check_k",
    "check_lam",
    "check_like",
    "check_mask",
    "check_not_nan",
    "check_number",
    "check_query",
    "check_tensor",
    "check_values",
    "check_weight",
    "check_where",
    "did_you_mean",
    "refuse_second_derivative",
    "relevant_items",
    "warn_caller",
]

#: Dtypes of whole numbers.
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
#: Dtypes of scores.
RANKABLE = (torch.float16, torch.bfloat16, torch.float32, torch.float64, *INTEGERS)
#: The transform of torch.func that is at work, or None.
in_transform: Callable[[], Any] = getattr(torch._C._functorch, "peek_interpreter_stack", lambda: None)


def check_tensor(values: Any, name: str) -> None:
    """A tensor; words are numbered, and lists of different lengths are padded."""
    if isinstance(values, Tensor):
        if values.is_nested:
            padded = f"{name}.to_padded_tensor(0.0), with where=rankedu.where_of([len(y) for y in {name}.unbind()])"
            raise TypeError(f"{name} must have rows of one length, got a nested tensor (pad it: {padded})")
        if values.layout != torch.strided:
            raise TypeError(f"{name} must be dense, got {values.layout} (convert it with {name}.to_dense())")
        if values.is_meta:
            raise TypeError(f"{name} must have numbers, got a tensor on the device 'meta' (load or compute it first)")
        return
    words = getattr(getattr(values, "dtype", None), "kind", "") in ("U", "S", "O")  # of a NumPy array
    words |= isinstance(values, (list, tuple)) and any(isinstance(value, str) for value in values)
    hint = f"use torch.as_tensor({name})"
    if words:
        hint = f"number the words: torch.as_tensor(numpy.unique({name}, return_inverse=True)[1])"
    raise TypeError(f"{name} must be a torch.Tensor, got {type(values).__name__} ({hint})")


def check_values(values: Tensor, *, name: str = "scores") -> None:
    """Values that can be ranked along a last dimension of at least one item."""
    check_tensor(values, name)
    if values.dtype not in RANKABLE:
        raise TypeError(
            f"{name} must be float16, bfloat16, float32, float64 or integer, got {values.dtype} "
            f"(convert it with {name}.to(torch.float32))"
        )
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape (..., n) with n >= 1, got {tuple(values.shape)} "
            "(drop empty queries, or pad them and say so with `where`)"
        )


def extremes(values: Tensor) -> tuple[float, float]:
    """The least and the largest value, NaN if there is one; 0 of none. A GPU is waited for once."""
    least, most = torch.stack(torch.aminmax(values.detach())).tolist() if values.numel() else (0.0, 0.0)
    return least, most


def check_not_nan(values: Tensor, where: Tensor | None, *, name: str = "scores", hint: str = "") -> None:
    """No NaN among the items that take part."""
    if not values.is_floating_point() or not values.detach().sum().isnan():
        return  # a NaN makes the sum one: no need to look at each (infinities may do so too)
    nan = values.isnan() if where is None else values.isnan() & where
    if nan.any():
        first = tuple(nan.nonzero()[0].tolist())
        raise ValueError(
            f"{name} must not contain NaN, got {int(nan.sum())} of {nan.numel()}, the first at index {first} "
            f"(find what made it, or {hint or f'leave these items out with where=~{name}.isnan()'})"
        )


def check_finite(scores: Tensor, where: Tensor | None, hint: str) -> None:
    """No infinity, and no NaN, among the scores that take part."""
    odd = ~scores.isfinite() if where is None else ~scores.isfinite() & where
    if odd.any():
        first = scores[odd][0].item()
        raise ValueError(f"scores must be finite, got {int(odd.sum())} of {odd.numel()} like {first} ({hint})")


def check_floating(values: Tensor, *, name: str = "scores") -> None:
    """Values through which a gradient can flow."""
    check_tensor(values, name)
    if not values.is_floating_point():
        raise TypeError(
            f"{name} must be floating point to be differentiated, got {values.dtype} "
            f"(convert it with {name}.to(torch.float32))"
        )


def check_integers(values: Tensor, name: str, hint: str) -> None:
    """Whole numbers."""
    check_tensor(values, name)
    if values.dtype not in INTEGERS:
        hint = f"if all are whole: {name}.long(); else {hint}" if values.is_floating_point() else hint
        raise TypeError(f"{name} must be integers, got {values.dtype} ({hint})")


def check_query(query: Tensor, scores: Tensor) -> None:
    """The number of a query for each score of a flat list."""
    check_integers(query, "query", "number the queries")
    check_values(scores)
    if scores.ndim != 1:
        raise ValueError(f"scores must have shape (n,) beside query, got {tuple(scores.shape)}")
    check_like(query, scores, name="query")


def check_like(values: Tensor, scores: Tensor, *, name: str, other: str = "scores") -> None:
    """The same shape and device as the scores."""
    check_tensor(values, name)
    if values.shape != scores.shape:
        shape = tuple(scores.shape)
        hints = []
        if name == "relevance" and values.shape == scores.shape[:-1]:
            hints.append("one a row? If these are embeddings and labels: rankedu.losses.OnEmbeddings(loss)")
        if 0 < values.ndim < scores.ndim and values.shape == scores.shape[-values.ndim :]:
            hints.append(f"where all rows share it, use {name}.expand{shape}")
        hint = "; ".join(hints) or "one for each"
        raise ValueError(f"{name} must have the shape of {other}, {shape}, got {tuple(values.shape)} ({hint})")
    if values.device != scores.device:
        raise ValueError(
            f"{name} must be on the device of {other}, {scores.device}, got {values.device} "
            f"(move it with {name}.to({other}.device))"
        )


def check_mask(mask: Tensor, scores: Tensor, *, name: str, other: str = "scores") -> None:
    """A bool tensor of the scores' shape."""
    check_like(mask, scores, name=name, other=other)
    if mask.dtype != torch.bool:
        raise TypeError(f"{name} must be bool, got {mask.dtype} (convert it with {name}.bool())")


def check_where(where: Tensor | None, scores: Tensor, *, other: str = "scores") -> None:
    """Who takes part; None for all."""
    if where is not None:
        check_mask(where, scores, name="where", other=other)


def relevant_items(scores: Tensor, relevance: Tensor, where: Tensor | None) -> Tensor:
    """Check all three; say who is relevant and takes part."""
    check_values(scores)
    positive = as_relevance(relevance, scores, where)
    return positive if where is None else positive & where


def check_weight(weight: Tensor, scores: Tensor) -> None:
    """One finite number >= 0 for each query."""
    check_tensor(weight, "weight")
    if weight.shape != scores.shape[:-1]:
        shape = tuple(scores.shape[:-1])
        raise ValueError(f"weight must have one number for each query, {shape}, got shape {tuple(weight.shape)}")
    if not (weight.isfinite() & (weight >= 0)).all():
        raise ValueError("weight must be finite and >= 0 (0 leaves a query out)")


def as_graded(
    values: Tensor, scores: Tensor, where: Tensor | None, *, name: str = "relevance", hint: str = ""
) -> Tensor:
    """Relevance by degrees: a copy in floating point, 0 for items that do not take part.

    In float64 if the scores or the values are, or are whole numbers that float32 cannot hold; otherwise in float32.
    """
    check_like(values, scores, name=name)
    check_where(where, scores)
    dtype = torch.promote_types(torch.promote_types(values.dtype, torch.float32), scores.dtype)
    if values.dtype in (torch.int32, torch.int64) and max(map(abs, extremes(values))) > 1 << 24:
        dtype = torch.float64
    graded = values.detach().to(dtype, copy=True)
    if where is not None:
        graded.masked_fill_(~where, 0.0)
    least, most = extremes(graded)
    if not (least >= 0 and most < math.inf):
        value = graded[~(graded.isfinite() & (graded >= 0))][0].item()
        hint = hint or "0 is irrelevant; from labels use hierarchy.relevance(hierarchy.levels(labels, ref_labels))"
        hint += f"; leave padding out by where={name} >= 0" if value < 0 else ""
        raise ValueError(f"{name} must be finite and >= 0, got {value} ({hint})")
    return graded


def as_relevance(relevance: Tensor, scores: Tensor, where: Tensor | None = None) -> Tensor:
    """Binary relevance as bool: bool, or numbers that are exactly 0 or 1 for who takes part."""
    check_like(relevance, scores, name="relevance")
    check_where(where, scores)
    if relevance.dtype == torch.bool:
        return relevance
    positive = relevance == 1
    odd = ~positive & (relevance != 0)
    if odd.any() and where is not None:
        odd &= where
    if odd.any():
        value = relevance[odd][0].item()
        hint = "grades are for NDCGLoss, HAPLoss or ndcg(); class ids for OnEmbeddings(loss); else use relevance > 0"
        hint = "leave padding out by where=relevance >= 0" if value < 0 else hint
        raise ValueError(f"relevance must be bool, or 0 and 1, got {value} ({hint})")
    return positive


def check_choice(value: str, choices: Sequence[str], *, name: str) -> None:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_flag(value: bool, name: str, *, hint: str = "") -> bool:
    """True or False; anything else may be an argument of another place."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}{f' ({hint})' if hint else ''}")
    return value


def check_number(
    value: float,
    name: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    hint: str = "",
) -> float:
    """A finite number in a range, open at ``above``, that no training changes; the hint says what to do."""
    if most < math.inf:
        wanted = f"in ({above:g}, {most:g}]" if above > -math.inf else f"in [{least:g}, {most:g}]"
    elif above > -math.inf:
        wanted = f"> {above:g}"
    else:
        wanted = f">= {least:g}" if least > -math.inf else ""
    advice = f" ({hint})" if hint else ""
    if getattr(value, "requires_grad", False):  # of a tensor
        raise TypeError(
            f"{name} must be a number that is not learned, got a tensor that requires a gradient: it would be "
            f"read once, and get none (use {name}.item())"
        )
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number{' ' * bool(wanted)}{wanted}, got {value!r}{advice}") from None
    if not math.isfinite(number) or number <= above or not least <= number <= most:
        raise ValueError(f"{name} must be finite{' and ' * bool(wanted)}{wanted}, got {number}{advice}")
    return number


def check_count(value: int, name: str, *, least: int = 1, hint: str = "") -> int:
    """An int that is large enough."""
    advice = f" ({hint})" if hint else ""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}{advice or f' (use int({name}))'}")
    if value < least:
        raise ValueError(f"{name} must be >= {least}, got {value}{advice}")
    return value


def check_lam(lam: float) -> float:
    """The strength of the interpolation: a finite number > 0."""
    return check_number(lam, "lam", above=0, hint="the limit lam -> 0 is the staircase itself: use rank(); try 4.0")


def check_k(k: int) -> int:
    """The depth of a top-k metric: an integer >= 1."""
    return check_count(k, "k", hint="the best item has rank 1")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn whoever called this package or the lab, be it through torch's modules or past its compiler."""
    level, frame = 2, sys._getframe(1)
    passed = ("rankedu", "rankedu_lab", "torch")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in passed:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def refuse_second_derivative(gradient: Tensor) -> Tensor:
    """Return a gradient that raises an error if it is differentiated: it has no gradient of its own.

    torch's ``once_differentiable`` raises only if the incoming gradient has a graph, which the one of a plain loss has
    not; the second derivative would then be 0, without a word.
    """
    passed: Tensor = _Once.apply(gradient, torch.zeros((), device=gradient.device, requires_grad=True))
    return passed


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradient: Tensor, anchor: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a loss whose gradient has none (use the ranker's own ranks)")


def did_you_mean(name: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """` (did you mean 'x'?)`, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=alike)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""

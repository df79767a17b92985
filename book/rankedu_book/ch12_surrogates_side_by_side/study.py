"""Chapter 12, computed: how much a surrogate distorts a loss."""

import functools

import numpy as np

from rankedu_book.ch12_surrogates_side_by_side.surrogates import SEED, SURROGATES, loss_of, surrogate
from rankedu_book.kit.landscapes import random_coefficients
from rankedu_book.kit.ranks import Array

#: How many losses c·rk(y), and score vectors for each of them.
LOSSES, VECTORS = 16, 8


@functools.cache
def cloud() -> tuple[Array, Array, Array]:
    """Draw standard normal score vectors (16, 8, 20), coefficients (16, 1, 20), the book's first, and the losses."""
    c = np.stack([random_coefficients(seed=SEED + start) for start in range(LOSSES)])[:, None]
    y = np.random.default_rng(SEED).standard_normal((LOSSES, VECTORS, c.shape[-1]))
    return y, c, loss_of(y, c)


@functools.cache
def strength_at(method: str, distortion: float) -> float:
    """Find the strength at which a method distorts the losses so much, by bisection."""
    y, c, loss = cloud()
    how = SURROGATES[method]
    low, high = np.log(how.weakest), np.log(how.strongest)
    for _ in range(14):
        middle = (low + high) / 2
        off = surrogate(how.make(float(np.exp(middle))), y, c)[0] - loss
        low, high = (middle, high) if (off.std(1) / loss.std(1)).mean() < distortion else (low, middle)
    return float(np.exp((low + high) / 2))

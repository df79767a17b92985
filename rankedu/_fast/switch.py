"""The switch between what is fast and what can be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Whether definitions are wanted. Each thread and each asynchronous task has its own.
READABLE = ContextVar("rankedu.readable", default=False)


@contextmanager
def readable() -> Iterator[None]:
    """Compute every loss and every metric by its definition: what a debugger steps through is what the book writes.

    No packed keys are sorted, no tiles are cut, and no gradient is made in closed form. Values and gradients are the
    same up to rounding; pairs take O(n²) time and memory. For ``with``, or as a decorator of a function. It may be
    nested, and holds for the thread or the asynchronous task in which it is entered. Explained in chapter 4.

    >>> import torch
    >>> import rankedu
    >>> from rankedu.losses import APLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, True, False])
    >>> with rankedu.readable():
    ...     APLoss(BlackboxRanker(lam=2.0))(scores, relevance)
    tensor(0.5000)
    """
    before = READABLE.set(True)
    try:
        yield
    finally:
        READABLE.reset(before)

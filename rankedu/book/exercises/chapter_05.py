"""Chapter 5, mini-batch bias and memory: what a batch is expected to say, and lists that really get longer."""

# The references are read by people who solve the exercises: plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from math import comb

import numpy as np

from rankedu.book.exercises.spec import Case, Exercise, Mistake


def expected_batch_precision(rank, n, batch):
    missed = np.prod(1 - rank / (n - np.arange(batch)))  # C(n - r, m)/C(n, m): none of the first r is drawn
    return n / batch / rank * (1 - missed)


def extend_with_memory(embeddings, memory):
    def unit(x):
        return x / np.sqrt((x**2).sum(1))[:, None]

    return unit(embeddings) @ np.concatenate([unit(embeddings), unit(memory)]).T


def _precision_cases() -> list[Case]:
    cases = [
        (3, 5, 3),
        (5, 5, 3),
        (2, 3, 2),
        (1, 6, 4),
        (6, 8, 1),
        (4, 8, 8),
        (9, 24, 6),
        (20, 100, 10),
        (400, 500, 32),
    ]
    return [{"rank": rank, "n": n, "batch": batch} for rank, n, batch in cases]


def _memory_cases() -> list[Case]:
    cases = [([[1.0, 0.0], [0.0, 2.0]], [[3.0, 4.0]]), ([[1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [-2.0, 2.0]])]
    random = np.random.default_rng(4)
    drawn = [(random.integers(-9, 10, (m, d)) + 0.5, random.integers(-9, 10, (k, d)) + 0.5)
             for m, k, d in ((3, 5, 2), (4, 4, 3), (2, 7, 5))]  # fmt: skip
    return [{"embeddings": np.array(e), "memory": np.array(m)} for e, m in [*cases, *drawn]]


def _scores(rows, columns, lengths=True):
    if lengths:
        rows, columns = (x / np.sqrt((x**2).sum(1))[:, None] for x in (rows, columns))
    return rows @ columns.T


def _both(e, m):
    return np.concatenate([e, m])


_THINNED = "takes 1 over the expected rank: by Jensen's inequality, the expected precision is larger"

EXERCISES = (
    Exercise(
        "expected_batch_precision",
        "expected_batch_precision(rank, n, batch): the expected precision of the only relevant item, at this rank "
        "among n, in a random batch of it and batch − 1 others; integers.",
        expected_batch_precision,
        _precision_cases,
        [
            Mistake(lambda rank, n, batch: 1 / rank, "takes the precision in the data set"),
            Mistake(lambda rank, n, batch: 1 / (1 + (rank - 1) * (batch - 1) / max(n - 1, 1)), _THINNED),
            Mistake(
                lambda rank, n, batch: min(1.0, n / batch / rank),
                "leaves out the second factor: an item is not preceded in every batch",
            ),
            Mistake(
                lambda rank, n, batch: 1 - comb(n - rank, batch) / comb(n, batch),
                "takes the probability that a batch of any items holds one of the first r: that is one factor of two",
            ),
            Mistake(
                lambda rank, n, batch: comb(n - rank, batch - 1) / comb(n - 1, batch - 1),
                "takes the probability that nobody ahead is in the batch: the other batches have a precision too",
            ),
            Mistake(
                lambda rank, n, batch: (
                    sum(comb(rank - 1, x) * comb(n - rank, batch - 1 - x) * (1 + x) for x in range(min(rank, batch)))
                    / comb(n - 1, batch - 1)
                ),
                "takes the expected rank in the batch: the precision is one over the rank",
            ),
            Mistake(
                lambda rank, n, batch: sum(
                    comb(batch - 1, x)
                    * ((rank - 1) / (n - 1)) ** x
                    * ((n - rank) / (n - 1)) ** (batch - 1 - x)
                    / (1 + x)
                    for x in range(batch)
                ),
                "draws the others with replacement: no item is in a batch twice",
            ),
        ],
    ),
    Exercise(
        "extend_with_memory",
        "extend_with_memory(embeddings, memory): the cosines of each row of `embeddings` with all rows of `embeddings` "
        "and then with all of `memory`, shape (batch, batch + remembered); NumPy arrays or torch tensors.",
        extend_with_memory,
        _memory_cases,
        [
            Mistake(
                lambda e, m: _scores(_both(e, m), e),
                "adds rows, that is queries: the lists, which are rows, do not get longer",
            ),
            Mistake(lambda e, m: _scores(_both(e, m), _both(e, m)), "lets the remembered items be queries too"),
            Mistake(lambda e, m: _scores(e, _both(m, e)), "puts the memory first; the batch comes first"),
            Mistake(lambda e, m: _scores(e, m), "ranks the memory alone; the batch belongs to the lists too"),
            Mistake(lambda e, m: _scores(e, e), "leaves the memory out"),
            Mistake(lambda e, m: _scores(e, _both(e, m), False), "forgets to divide by the lengths: no cosines"),
        ],
    ),
)

"""Chapter 5, mini-batch bias and memory: what a batch is expected to say, and a memory of the batches before."""

from math import comb

import numpy as np

from rankedu_book.kit.check.spec import Case, Exercise


def expected_batch_precision(rank, n, batch):
    missed = np.prod(1 - rank / (n - np.arange(batch)))  # C(n - r, m)/C(n, m): none of the first r is drawn
    return n / batch / rank * (1 - missed)


def _with_replacement(rank, n, batch):
    ahead = max((rank - 1) / (n - 1), 1e-9)
    return (1 - (1 - ahead) ** batch) / (batch * ahead)


def _precision_cases() -> list[Case]:
    cases = [(3, 5, 3), (5, 5, 3), (2, 3, 2), (1, 6, 4), (6, 8, 1), (4, 8, 8)]
    cases += [(9, 24, 6), (20, 100, 10), (400, 500, 32)]
    return [{"rank": rank, "n": n, "batch": batch} for rank, n, batch in cases]


def _batches() -> list[Case]:
    rng = np.random.default_rng(4)
    cases = []
    listed = (1, (2, 2)), (1, (2, 3, 1)), (2, (2, 2, 2, 2)), (3, (2, 1)), (2, (3, 2, 4, 1, 2)), (0, (2, 3))
    for length, sizes in listed:
        drawn = [(rng.integers(-9, 10, n) / 10).tolist() for n in sizes]
        marks = [(rng.random(n) < 0.5).tolist() for n in sizes]
        cases.append({"length": length, "scores": drawn, "relevance": marks})
    return cases


def _remembered(length, scores, relevance):
    listed = [scores[::-1][: 1 + length], relevance[::-1][: 1 + length]]
    reached = [1.0] * len(scores[-1])
    values, marks = ([float(value) for batch in batches for value in batch] for batches in listed)
    return [values, marks, reached + [0.0] * (len(values) - len(reached))]


def _drive(answer, length, scores, relevance):
    """Hand one batch after the other to a memory; what it returns for the last, and where a gradient flows."""
    import torch

    memory, leaves = answer(length), [torch.tensor(batch, requires_grad=True) for batch in scores]
    for leaf, marks in zip(leaves, relevance, strict=True):
        returned = memory(leaf, torch.tensor(marks))
        if returned is None:
            raise NotImplementedError
    values, marks = returned
    slopes = tuple(torch.zeros_like(leaf) for leaf in leaves)
    if values.requires_grad:
        slopes = torch.autograd.grad(values.sum(), leaves, materialize_grads=True)
    reached = torch.cat(slopes[::-1])[: len(values)]
    return [values.tolist(), marks.double().tolist(), reached.tolist()]


def _memory(detach=True, latest_first=True, forget=True, more=0, cut=False, batch_first=True, itself=True):
    """A memory as a reader would write it; the options make the mistakes."""

    def memory(length):
        import torch

        kept = []

        def extend(scores, relevance):
            old = kept[: max(length + more, 0)] if forget else kept[:]
            old = old if latest_first else old[::-1]
            now = [(scores.detach() if cut else scores, relevance)]
            rows = now + old if batch_first else old + now
            rows = rows if itself or not old else old
            kept.insert(0, (scores.detach() if detach else scores, relevance))
            return tuple(map(torch.cat, zip(*rows, strict=True)))

        return extend

    return memory


EXERCISES = (
    Exercise(
        "expected_batch_precision(rank, n, batch): the expected precision of the only relevant item, at this rank "
        "among n, in a random batch of it and batch − 1 others; integers.",
        expected_batch_precision, _precision_cases, [
            (lambda rank, n, batch: 1 / rank, "takes the precision in the data set"),
            (lambda rank, n, batch: 1 / (1 + (rank - 1) * (batch - 1) / max(n - 1, 1)),
             "takes 1 over the expected rank: by Jensen's inequality, the expected precision is larger"),
            (lambda rank, n, batch: min(1.0, n / batch / rank),
             "leaves out the second factor: an item is not preceded in every batch"),
            (lambda rank, n, batch: 1 - comb(n - rank, batch) / comb(n, batch),
             "takes the probability that a batch of any items holds one of the first r: that is one factor of two"),
            (lambda rank, n, batch: comb(n - rank, batch - 1) / comb(n - 1, batch - 1),
             "takes the probability that nobody ahead is in the batch: the other batches have a precision too"),
            (lambda rank, n, batch: 1 + (rank - 1) * (batch - 1) / (n - 1),
             "takes the expected rank in the batch: the precision is one over the rank"),
            (_with_replacement, "draws the others with replacement: no item is in a batch twice"),
            (lambda rank, n, batch: expected_batch_precision(rank, n, min(batch + 1, n)),
             "draws `batch` others: the relevant item takes one of the places itself"),
        ],
    ),
    Exercise(
        "Memory(length): a class whose instances are called with the scores and the relevance of one batch after the "
        "other, torch vectors, and return both for the list made of this batch and of the `length` batches before it,"
        " the latest first; a gradient reaches the batch alone. Three rows are compared, after the last batch: "
        "scores, relevance, and the gradient of the sum of all scores.",
        _remembered, _batches, [
            (_memory(detach=False), "lets the gradient flow into batches that are past: detach what is kept"),
            (_memory(latest_first=False), "lists the oldest batch first: the latest comes right after the batch"),
            (_memory(forget=False), "never forgets: batches older than `length` have to go"),
            (_memory(more=-1), "counts the current batch as a remembered one: the list holds 1 + length batches"),
            (_memory(more=1), "keeps one batch too many"),
            (_memory(cut=True), "cuts the gradient of the current batch, too: nothing would be trained"),
            (_memory(batch_first=False), "puts the memory first; the batch comes first"),
            (_memory(itself=False), "leaves the current batch out of its own list"),
            (lambda length: lambda y, rel: (y, rel), "remembers nothing"),
        ],
        use=_drive, arrays=("numpy",),
    ),
)  # fmt: skip

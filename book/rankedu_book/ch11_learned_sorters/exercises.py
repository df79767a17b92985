"""Chapter 11, learned sorters: a network that is taught to sort, and the loss of two rankings."""

from functools import partial

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise


def spearman_loss(ranks, target_ranks):
    n = len(ranks)
    return 6 * np.sum((ranks - target_ranks) ** 2) / (n * (n**2 - 1))


def _teach(network, draw, steps, target=lambda y: 1 + (-y).argsort(1).argsort(1), *, scale=True, zero=True):
    """The training loop; the options make the mistakes."""
    import torch

    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(steps):
        lists = draw()
        answers = network(lists) * (lists.shape[1] if scale else 1)
        if zero:
            optimiser.zero_grad()
        (answers - target(lists)).abs().mean().backward()
        optimiser.step()
    return network


def _error_after(teach, n, steps, seed):
    """Let a small network be trained, and measure how many ranks it is off."""
    import torch
    from torch.nn import Linear, ReLU, Sequential, Sigmoid

    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        network = Sequential(Linear(n, 32), ReLU(), Linear(32, n), Sigmoid())
        network = teach(network, lambda: torch.rand(64, n), steps)
        unseen = torch.rand(200, n, generator=torch.Generator().manual_seed(99))
    true = np.array([reference.rank(row) for row in unseen.tolist()])
    return float(np.abs(n * network(unseen).detach().numpy() - true).mean())


def _judge_error(case: Case, error: float) -> str | None:
    """Better than 0.6 of what it is off to answer the middle rank always."""
    middle = np.abs(np.arange(1, case["n"] + 1) - (case["n"] + 1) / 2).mean()
    off = f"{error / middle:.1f} times what always answering the middle gives, and 0.6 is enough"
    return None if error < 0.6 * middle else f"it is off by that many ranks: {off}"


def _rankings() -> list[Case]:
    rng = np.random.default_rng(12)
    cases: list[Case] = [{"ranks": np.array([1.0, 2.0, 3.0]), "target_ranks": np.array([3.0, 2.0, 1.0])}]
    for n in (3, 4, 6, 10):
        cases.append({"ranks": 1.0 + rng.permutation(n), "target_ranks": 1.0 + rng.permutation(n)})
    cases.append({"ranks": rng.uniform(1, 5, 5), "target_ranks": 1.0 + rng.permutation(5)})
    return cases


EXERCISES = (
    Exercise(
        "teach_to_sort(network, draw, steps): train a torch network that takes a batch of lists, a row each, and "
        "answers for every item a number from 0 to 1, its rank divided by the length n; draw() returns a new batch of"
        " lists, and steps says how many. Return the network. What is compared is how many ranks it is off, on "
        "average, on lists that it has not seen.",
        lambda n, steps, seed: _error_after(_teach, n, steps, seed),
        lambda: [{"n": n, "steps": 100, "seed": seed} for n, seed in ((4, 0), (4, 1), (5, 0), (5, 1), (5, 2))],
        [
            (lambda net, draw, steps: net, "does not train it at all"),
            (lambda net, draw, steps: _teach(net, draw, steps, lambda y: 1 + (-y).argsort(1)),
             "teaches argsort, the order of the items, for the ranks: one more argsort inverts it"),
            (lambda net, draw, steps: _teach(net, draw, steps, lambda y: 1 + y.argsort(1).argsort(1)),
             "teaches ranks from the bottom: rank 1 is the largest score"),
            (lambda net, draw, steps: _teach(net, draw, steps, lambda y: (-y).argsort(1).argsort(1)),
             "counts ranks from 0: the best rank is 1"),
            (partial(_teach, scale=False), "compares what the network answers with whole ranks: it answers rank / n"),
            (partial(_teach, zero=False), "lets the gradients of all steps add up: set them to zero before each"),
        ],
        judge=_judge_error, use=_error_after, arrays=("numpy",),
    ),
    Exercise(
        "spearman_loss(ranks, target_ranks): one minus Spearman's correlation of two rankings without ties, by the sum "
        "of squared differences of ranks; it must also take ranks that are not whole numbers.",
        spearman_loss, _rankings, [
            (lambda ranks, target_ranks: np.mean((ranks - target_ranks) ** 2),
             "leaves out the scale: reversed lists must have the loss 2, whatever their length"),
            (lambda ranks, targets: 6 * np.sum((ranks - targets) ** 2) / len(ranks) ** 3, "takes n³ for n(n² − 1)"),
            (lambda ranks, targets: 6 * np.sum(np.abs(ranks - targets)) / (len(ranks) * (len(ranks) ** 2 - 1)),
             "takes absolute differences: they are squared"),
            (lambda ranks, target_ranks: 1 - np.corrcoef(ranks, target_ranks)[0, 1],
             "correlates the soft ranks, which forgets their scale: sum the squared differences"),
        ],
    ),
)  # fmt: skip

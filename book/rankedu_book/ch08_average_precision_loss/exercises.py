"""Chapter 8, the average precision loss: a loss from any ranker, and its gradient."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check import autograd
from rankedu_book.kit.check.spec import Case, Exercise


def _ap_loss(scores, relevance, lam):
    incoming = np.zeros(len(scores))
    incoming[relevance] = ap_gradient_wrt_ranks(np.array(reference.rank(scores))[relevance])
    return [1 - reference.average_precision(scores, relevance), *reference.rank_gradient(scores, incoming, lam)]


def _with_a_ranker(answer, scores, relevance, lam):
    import torch

    from rankedu.rankers import BlackboxRanker

    return autograd.loss(lambda leaf: answer(BlackboxRanker(lam), leaf, torch.from_numpy(relevance)), scores)


def ap_gradient_wrt_ranks(ranks):
    return _within(ranks) / (len(ranks) * ranks**2)


def _within(ranks):
    return 1 + (ranks[None, :] < ranks[:, None]).sum(axis=1)


def _ranker_cases() -> list[Case]:
    rng, cases = np.random.default_rng(10), []
    for n, positives, lam in ((5, 2, 4.0), (3, 2, 8.0), (6, 2, 16.0), (8, 3, 32.0), (12, 4, 64.0)):
        scores, relevance = rng.permutation(100)[:n] / 100, rng.permutation(n) < positives
        cases.append({"scores": scores, "relevance": relevance, "lam": lam})
    return cases


def _rank_cases() -> list[Case]:
    rng = np.random.default_rng(8)
    cases = [[2, 4], [3], [6, 1, 4], [1, 2, 3], [9, 2, 5, 3]]
    cases += [(1 + rng.permutation(n)[:p]).tolist() for n, p in ((12, 5), (20, 3), (30, 8), (100, 10))]
    return [{"ranks": np.array(ranks)} for ranks in cases]


EXERCISES = (
    Exercise(
        "ap_loss(ranker, scores, relevance): 1 − AP of one query from any ranker; ranker(scores) gives ranks among "
        "all, ranker.among(scores, relevance) those among the relevant, and no gradient flows through the latter; "
        "torch tensors, relevance is bool. Compared are the loss and, after it, its gradient, here with a "
        "`BlackboxRanker`.",
        _ap_loss, _ranker_cases, [
            (lambda ranker, y, rel: 1 - (ranker.among(y, rel)[rel] / ranker(y)[rel]).mean(),
             "lets the gradient flow through both ranks: detach the one among the relevant items"),
            (lambda ranker, y, rel: (ranker.among(y, rel).detach()[rel] / ranker(y)[rel]).mean(),
             "returns AP, which is not a loss: one minus it is"),
            (lambda ranker, y, rel: 1 - (ranker.among(y, rel).detach()[rel] / ranker(y)[rel]).sum(),
             "adds the precisions up instead of averaging"),
            (lambda ranker, y, rel: 1 - (ranker.among(y, rel).detach() / ranker(y)).mean(),
             "averages over all items: the mean is over the relevant ones"),
            (lambda ranker, y, rel: 1 - (1 / ranker(y)[rel]).mean(), "leaves out the rank within the relevant items"),
            (lambda ranker, y, rel: 1 - (ranker.among(y, rel)[rel] / ranker(y)[rel].detach()).mean(),
             "detaches the rank among all items, and lets the gradient flow through the other"),
            (lambda ranker, y, rel: 1 - (ranker.among(y, rel)[rel] / ranker(y)[rel]).mean().detach(),
             "detaches the whole: the ranks among all items carry the gradient"),
            (lambda ranker, y, rel: 1 - ranker.among(y, rel).detach()[rel].sum() / ranker(y)[rel].sum(),
             "divides sums: the mean is over quotients"),
        ],
        use=_with_a_ranker, arrays=("numpy",),
    ),
    Exercise(
        "ap_gradient_wrt_ranks(ranks): the gradient of the loss 1 − AP with respect to the ranks of the relevant items "
        "among all, with their ranks among each other held fixed; one entry for each, in the order given.",
        ap_gradient_wrt_ranks, _rank_cases, [
            (lambda ranks: 1 / (len(ranks) * ranks**2), "leaves out the rank within the relevant items"),
            (lambda ranks: _within(ranks) / (len(ranks) * ranks), "stops at the quotient: differentiate it"),
            (lambda ranks: ap_gradient_wrt_ranks(np.sort(ranks)),
             "lists the relevant items from the best to the worst: keep the order given"),
            (lambda ranks: (_within(ranks) - ranks) / (len(ranks) * ranks**2),
             "differentiates the rank within the relevant items as well"),
            (lambda ranks: np.arange(1, len(ranks) + 1) / (len(ranks) * ranks**2),
             "takes the ranks as sorted: find the rank within the relevant items first"),
        ],
    ),
)  # fmt: skip

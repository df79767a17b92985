"""What the exercises that build a chapter's core take for right is what the book says it is."""

import copy

import numpy as np
import pytest
import torch

from rankbook.kit.check import find
from rankedu import reference
from rankedu.losses import MAPLoss, OnProposals
from rankedu.rankers import BlackboxRanker


def cases(name):
    return find(name).cases()


@pytest.mark.parametrize("case", cases("least_lambda"))
def test_from_the_least_lambda_on_a_negative_has_a_gradient_by_algorithm_1(case):
    least = find("least_lambda").right(case)
    relevant = case["relevance"].tolist()
    y = reference.shift_by_margin(case["scores"].tolist(), relevant, case["margin"])
    within = reference.rank_among(y, relevant)
    # the derivative of 1 - AP with respect to a positive's rank, the rank among positives held fixed
    places = zip(within, reference.rank(y), relevant, strict=True)
    incoming = [place / (sum(relevant) * rank**2) if r else 0.0 for place, rank, r in places]

    def moved(lam):
        slopes = reference.rank_gradient(y, incoming, lam)
        return sum(slope != 0 for slope, r in zip(slopes, relevant, strict=True) if not r)

    assert moved(0.999 * least) == 0 < moved(1.001 * least)


@pytest.mark.parametrize("case", cases("proposal_loss"))
def test_the_loss_on_proposals_is_that_of_the_library(case):
    loss = OnProposals(MAPLoss(BlackboxRanker(1.0), margin=case["margin"]), scores="log-odds")
    value = loss(torch.tensor(case["logits"]), torch.tensor(case["labels"]))
    assert np.isclose(value.item(), find("proposal_loss").right(case))


@pytest.mark.parametrize("case", cases("pulls"))
def test_the_pulls_explain_the_step_and_do_not_depend_on_the_space(case):
    table, x = find("pulls").right(case), case["embeddings"]
    assert np.allclose(-case["gradient"](x), table @ x)
    assert np.allclose(table, table.T) and not np.diag(table).any() and np.abs(table).max() > 0.01
    turned = copy.deepcopy(case) | {"embeddings": np.hstack([0 * x, x])}
    assert np.allclose(find("pulls").right(turned), table)

"""OnProposals: from class logits of proposals to scores and relevance, against a loop over the classes."""

import pytest
import torch
from drawn import random, value_and_gradients

from rankedu.losses import APLoss, MAPLoss, NoPositivesWarning, OnProposals
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker, SigmoidRanker

SCORES = {
    "probability": lambda logits, c: logits[:, c].exp() / logits.exp().sum(1),
    "log-odds": lambda logits, c: logits[:, c] - logits[:, 0],
    "logit": lambda logits, c: logits[:, c],
}
LABELS = torch.tensor([0, 2, 0, 1, 3, 0, 1, 0, 0, 2])  # of four classes; the fourth has no proposal


def sigmoid_map(memory=None):
    return MAPLoss(SigmoidRanker(0.3), margin=0.1, memory=memory, class_agnostic_weight=0.0)


@pytest.mark.parametrize("scores", SCORES)
def test_it_is_the_loop_over_classes(scores):
    of_class = APLoss(SigmoidRanker(0.3), margin=0.1)

    def by_loop(logits):
        return torch.stack([of_class(SCORES[scores](logits, c), c == LABELS) for c in (1, 2, 3)]).mean()

    found = value_and_gradients(lambda x: OnProposals(sigmoid_map(), scores)(x, LABELS), random(10, 5))
    torch.testing.assert_close(found, value_and_gradients(by_loop, random(10, 5)))
    assert (found[1][:, 0].abs().max() == 0) == (scores == "logit")  # the background's logit


@pytest.mark.parametrize("scores", SCORES)
def test_what_is_left_out_might_as_well_be_absent(scores):
    left_out = LABELS.clone()
    left_out[[1, 5, 6]] = -1
    stays = left_out >= 0
    for memory in (False, True):
        with_them, without = (OnProposals(sigmoid_map(ScoreMemory(2) if memory else None), scores) for _ in range(2))
        for seed in range(3):
            logits = random(10, 5, seed=seed)
            value, found = value_and_gradients(lambda x: with_them(x, left_out), logits)  # noqa: B023
            expected = value_and_gradients(lambda x: without(x, left_out[stays]), logits[stays])  # noqa: B023
            torch.testing.assert_close((value, found[stays]), expected)
            assert not found[~stays].any()


def test_a_loss_with_a_memory():
    seen, again = (OnProposals(MAPLoss(BlackboxRanker(1e3), margin=0.15, memory=ScoreMemory(7))) for _ in range(2))
    for seed in range(9):
        logits = random(10, 5, seed=seed).requires_grad_()
        seen(logits, LABELS).backward()
        assert logits.grad.isfinite().all() and logits.grad.any()
    assert len(seen.loss.memory) == 7 * 10
    expected = seen.eval()(random(10, 5), LABELS)
    assert 0 < expected < 1 and len(seen.loss.memory) == 7 * 10
    assert again.eval()(random(10, 5), LABELS) != expected
    again.load_state_dict(seen.state_dict())
    assert again(random(10, 5), LABELS) == expected


@pytest.mark.parametrize("label", [0, -1])
def test_without_an_object_the_loss_is_zero(label):
    logits = random(10, 5).requires_grad_()
    with pytest.warns(NoPositivesWarning):
        loss = OnProposals(sigmoid_map())(logits, torch.full((10,), label))
    loss.backward()
    assert loss == 0 and not logits.grad.any()

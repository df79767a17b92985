"""OnProposals: from class logits of proposals to scores and relevance, against a loop over the classes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rankedu.losses import APLoss, MAPLoss, NoPositivesWarning, OnProposals
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker, SigmoidRanker

SCORES = {
    "probability": lambda logits, c: logits[:, c].exp() / logits.exp().sum(1),
    "log-odds": lambda logits, c: logits[:, c] - logits[:, 0],
    "logit": lambda logits, c: logits[:, c],
}
LABELS = torch.tensor([0, 2, 0, 1, 3, 0, 1, 0, 0, 2])  # of four classes; the fourth has no proposal


def logits(seed=0, dtype=torch.float64):
    return torch.randn(10, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def sigmoid_map(memory=None):
    return MAPLoss(SigmoidRanker(0.3), margin=0.1, memory=memory, class_agnostic_weight=0.0)


@pytest.mark.parametrize("scores", SCORES)
def test_it_is_the_loop_over_classes(scores):
    mine, other = (logits().requires_grad_() for _ in range(2))
    found = OnProposals(sigmoid_map(), scores)(mine, LABELS)
    of_class = APLoss(SigmoidRanker(0.3), margin=0.1)
    expected = torch.stack([of_class(SCORES[scores](other, c), c == LABELS) for c in (1, 2, 3)]).mean()
    torch.testing.assert_close(found, expected)
    found.backward()
    expected.backward()
    torch.testing.assert_close(mine.grad, other.grad)
    assert (mine.grad[:, 0].abs().max() == 0) == (scores == "logit")  # the background's logit


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("scores", SCORES)
def test_what_is_left_out_might_as_well_be_absent(scores, memory):
    left_out = LABELS.clone()
    left_out[[1, 5, 6]] = -1
    stays = left_out >= 0
    with_them, without = (OnProposals(sigmoid_map(ScoreMemory(2) if memory else None), scores) for _ in range(2))
    for seed in range(3):
        mine, other = (logits(seed).requires_grad_() for _ in range(2))
        found, expected = with_them(mine, left_out), without(other[stays], left_out[stays])
        torch.testing.assert_close(found, expected)
        found.backward()
        expected.backward()
        torch.testing.assert_close(mine.grad, other.grad)


def test_a_loss_with_a_memory():
    seen = OnProposals(MAPLoss(BlackboxRanker(1e3), margin=0.15, memory=ScoreMemory(7)))
    for seed in range(9):
        value = logits(seed).requires_grad_()
        seen(value, LABELS).backward()
        assert value.grad.isfinite().all() and value.grad.abs().max() > 0
    assert len(seen.loss.memory) == 7 * 10
    assert 0 < seen.eval()(logits(), LABELS) < 1 and len(seen.loss.memory) == 7 * 10
    again = OnProposals(MAPLoss(BlackboxRanker(1e3), margin=0.15, memory=ScoreMemory(7))).eval()
    assert again(logits(), LABELS) != seen(logits(), LABELS)
    again.load_state_dict(seen.state_dict())
    assert again(logits(), LABELS) == seen(logits(), LABELS)


@pytest.mark.parametrize(("scores", "moves"), [("probability", False), ("log-odds", True)])
def test_a_margin_on_nearly_equal_probabilities_keeps_objects_and_background_apart(scores, moves):
    random = torch.Generator().manual_seed(0)
    start = (0.1 * torch.randn(400, 5, generator=random)).requires_grad_()
    labels = torch.randint(0, 5, (400,), generator=random)
    OnProposals(MAPLoss(BlackboxRanker(1e3), margin=0.15), scores)(start, labels).backward()
    assert bool(start.grad[labels == 0].any()) == moves  # no background changes places with an object


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bits_are_ranked_in_single_precision(dtype):
    values = logits(dtype=dtype)
    found = OnProposals(sigmoid_map())(values, LABELS)
    assert found.dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(OnProposals(sigmoid_map())(values, LABELS), found)
    assert torch.equal(OnProposals(sigmoid_map())(values.float(), LABELS), found)


@pytest.mark.parametrize("labels", [[0] * 10, [-1] * 10])
def test_without_an_object_the_loss_is_zero(labels):
    values = logits().requires_grad_()
    with pytest.warns(NoPositivesWarning):
        loss = OnProposals(sigmoid_map())(values, torch.tensor(labels))
    loss.backward()
    assert loss == 0 and not values.grad.any()


@pytest.mark.parametrize(
    ("values", "labels", "error", "message"),
    [
        (logits()[0], LABELS, ValueError, r"class_logits must have shape \(P, C \+ 1\), got \(5,\)"),
        (logits()[:, :1], LABELS, ValueError, r"class_logits must have shape \(P, C \+ 1\), got \(10, 1\)"),
        (logits().long(), LABELS, TypeError, "class_logits must be floating point"),
        (logits().fill_(float("nan")), LABELS, ValueError, "class_logits must not contain NaN"),
        (logits(), LABELS[:9], ValueError, r"labels must have the shape of class_logits\[:, 0\], \(10,\), got \(9,\)"),
        (logits(), LABELS.double(), TypeError, "labels must be integers, got torch.float64"),
        (logits(), LABELS.bool(), TypeError, "labels must be integers, got torch.bool"),
        (logits(), LABELS + 2, ValueError, r"labels must be in -1 \.\.\. 4, got 5"),
        (logits(), LABELS - 2, ValueError, r"labels must be in -1 \.\.\. 4, got -2"),
    ],
)
def test_bad_input_is_refused(values, labels, error, message):
    with pytest.raises(error, match=message):
        OnProposals(sigmoid_map())(values, labels)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="scores must be one of 'log-odds', 'probability', 'logit', got 'margin'"):
        OnProposals(sigmoid_map(), "margin")
    with pytest.raises(TypeError, match="loss must be a loss of scores and relevance, got <class"):
        OnProposals(nn.CrossEntropyLoss)

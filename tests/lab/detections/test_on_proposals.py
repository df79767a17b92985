"""The loss of proposals against a loop over the classes, with its memory and without an object."""

import warnings

import pytest
import torch
from drawn import random, refused, seeded, value_and_gradients

from rankedu.losses import APLoss, MAPLoss, NoPositivesWarning
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from rankedu_lab.detections import OnProposals

close = torch.testing.assert_close
SCORES = {
    "probability": lambda logits, c: logits[:, c].exp() / logits.exp().sum(1),
    "log-odds": lambda logits, c: logits[:, c] - logits[:, 0],
    "logit": lambda logits, c: logits[:, c],
}
CLASS_OF = torch.tensor([0, 2, 0, 1, 3, 0, 1, 0, 0, 2])  # of four classes; the fourth has no proposal


def on_proposals(scores="log-odds", memory=None):
    of_classes = MAPLoss(SigmoidRanker(0.3), margin=0.1, memory=memory, class_agnostic_weight=0.0)
    return OnProposals(of_classes, scores, background="first")


@pytest.mark.parametrize("scores", SCORES)
def test_it_is_the_loop_over_classes(scores):
    """Who is left out might as well be absent, from the memory too."""
    of_class = APLoss(SigmoidRanker(0.3), margin=0.1)

    def by_loop(logits):
        return torch.stack([of_class(SCORES[scores](logits, c), c == CLASS_OF) for c in (1, 2, 3)]).mean()

    found = value_and_gradients(lambda x: on_proposals(scores)(x, CLASS_OF), random(10, 5))
    close(found, value_and_gradients(by_loop, random(10, 5)))
    assert (found[1][:, 0].abs().max() == 0) == (scores == "logit")  # the background's logit
    left_out = CLASS_OF.index_fill(0, torch.tensor([1, 5, 6]), -1)
    stays = left_out >= 0
    for memories in ((None, None), (ScoreMemory(2), ScoreMemory(2))):
        with_them, without = (on_proposals(scores, memory) for memory in memories)
        for seed in range(3):
            logits = random(10, 5, seed=seed)
            value, found = value_and_gradients(lambda x: with_them(x, left_out), logits)  # noqa: B023
            expected = value_and_gradients(lambda x: without(x, left_out[stays]), logits[stays])  # noqa: B023
            close((value, found[stays]), expected)
            assert not found[~stays].any()


def test_a_loss_of_proposals_has_its_memory_and_without_an_object_it_is_zero():
    seen, again = (on_proposals(memory=ScoreMemory(7)) for _ in range(2))
    for seed in range(9):
        seen(random(10, 5, seed=seed), CLASS_OF)
    expected = seen.eval()(random(10, 5), CLASS_OF)
    assert 0 < expected < 1 and len(seen.loss.memory) == 7 * 10
    again.eval().load_state_dict(seen.state_dict())
    assert again(random(10, 5), CLASS_OF) == expected
    for label in (0, -1):
        with pytest.warns(NoPositivesWarning, match="the loss and its gradient are 0"):
            value, slope = value_and_gradients(lambda x: on_proposals()(x, torch.full((10,), label)), random(10, 5))  # noqa: B023
        assert value == 0 and not slope.any()


@pytest.mark.parametrize("scores", SCORES)
def test_the_background_may_be_last_and_is_asked_about_where_another_label_is_more_frequent(scores):
    of_classes = MAPLoss(SigmoidRanker(0.3), margin=0.1)
    for seed in range(5):
        logits, labels = random(40, 4, seed=seed), torch.randint(-1, 4, (40,), generator=seeded(seed))
        turned = torch.where(labels < 0, -1, (labels + 1) % 4)
        found = OnProposals(of_classes, scores, background="last")(logits, labels)
        assert found == OnProposals(of_classes, scores, background="first")(logits.roll(1, 1), turned)
        loss, most = OnProposals(of_classes, scores), labels[labels >= 0].bincount(minlength=4).argmax()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert loss(logits, labels) == loss(logits, labels)
        assert len(caught) == (most > 0) and all("background='last' if it is label 3" in str(w.message) for w in caught)


def test_proposals():
    loss, logits, labels = (
        OnProposals(MAPLoss(SigmoidRanker(0.3)), background="first"),
        random(10, 5),
        torch.arange(10) % 4,
    )
    shape = r"class_logits must have shape \(P, C \+ 1\), got "
    refused(
        (lambda: loss(logits[:, :1], labels), ValueError, shape + r"\(10, 1\)"),
        (lambda: loss(logits.long(), labels), TypeError, "class_logits must be floating point"),
        (lambda: loss(logits / 0 * 0, labels), ValueError, "class_logits must not contain NaN"),
        (lambda: loss(logits, labels[:9]), ValueError, r"labels must have the shape .* \(10,\), got \(9,\)"),
        (lambda: loss(logits, labels.double()), TypeError, "labels must be integers, got torch.float64"),
        (lambda: loss(logits, labels + 2), ValueError, r"labels must be in -1 \.\.\. 4, got 5"),
        (lambda: OnProposals(MAPLoss(BlackboxRanker(1.0)), "margin"), ValueError, "'log-odds', .* got 'margin'"),
        (lambda: OnProposals(torch.nn.CrossEntropyLoss), TypeError, "loss must be a loss .* got <class"),
    )

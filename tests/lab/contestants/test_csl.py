"""CSL against its definition, written out, and against the clustering loss where both are zero."""

import pytest
import torch
from drawn import random, refused, value_and_gradients

from rankedu.losses import ClusterLoss
from rankedu_lab.contestants import CSLLoss

close = torch.testing.assert_close
#: The last class stands alone; a leaf id is used under two parents.
CLASSES = torch.tensor([[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 3], [1, 2, 0], [1, 2, 4], [2, 3, 5]])


def learnt(loss):
    """A loss as a function of the embeddings and its proxies."""
    return lambda e, p, labels: torch.func.functional_call(loss, {"proxies": p}, (e, labels))


def csl_definition(embeddings, proxies, labels, classes, margins, scale):
    """Item by item, level by level, pair by pair."""
    total = 0.0
    for v, path in zip(embeddings, labels.tolist(), strict=True):
        named = [(v @ p / (v.norm() * p.norm()), name) for p, name in zip(proxies, classes.tolist(), strict=True)]
        own = next(cosine for cosine, name in named if name == path)
        for level, margin in enumerate(margins, start=1):
            others = [cosine for cosine, name in named if name[:level] != path[:level]]
            total = total + torch.log1p(sum(torch.exp(scale * (other - own + margin)) for other in others))
    return total / len(embeddings)


@pytest.mark.parametrize(
    ("depth", "given", "margins"),
    [
        (3, None, (0.45, 0.35, 0.25)),  # those of the authors
        (2, None, (0.45, 0.25)),
        (1, None, (0.25,)),  # CosFace
        (3, [0.0, 0.1, 0.2], (0.0, 0.1, 0.2)),
    ],
)
def test_value_and_gradient_are_the_definition(depth, given, margins):
    classes = CLASSES[:, :depth].unique(dim=0)
    labels, proxies = classes[torch.tensor([0, 0, 1, 2, 1])], random(len(classes), 6, seed=1)
    for scale in (1.0, 32.0):
        loss = learnt(CSLLoss(classes, 6, margins=given, scale=scale))
        found, expected = (
            value_and_gradients(f, random(5, 6), proxies, weight=3.0)
            for f in (
                lambda e, p: loss(e, p, labels),  # noqa: B023
                lambda e, p: csl_definition(e, p, labels, classes, margins, scale),  # noqa: B023
            )
        )
        close(found, expected)


def test_a_level_without_negatives_adds_nothing_and_one_class_is_zero():
    both, fine = (learnt(CSLLoss(classes, 6)) for classes in (CLASSES[:2], torch.tensor([0, 1])))
    embeddings, proxies, labels = random(3, 6), random(2, 6, seed=1), torch.tensor([0, 1, 1])
    found = value_and_gradients(lambda e: both(e, proxies, CLASSES[labels]), embeddings)
    close(found, value_and_gradients(lambda e: fine(e, proxies, labels), embeddings))
    csl = (CSLLoss(CLASSES[:1], 6), CLASSES[:1].expand(3, 3))
    for alone, label in (csl, (ClusterLoss(1, 6), torch.zeros(3).long())):
        value, *slopes = value_and_gradients(lambda e, p: learnt(alone)(e, p, label), embeddings, proxies[:1])  # noqa: B023
        assert value.item() == 0 and not any(slope.any() for slope in slopes)


def test_far_scores_do_not_overflow():
    loss = CSLLoss(CLASSES, 6, scale=1e4)
    value = loss(random(4, 6, dtype=torch.float32).requires_grad_(), CLASSES[[0, 6, 3, 3]])
    value.backward()
    assert value.isfinite() and loss.proxies.grad.isfinite().all()


def test_bad_classes_labels_margins_and_scales_are_refused():
    e, classes = random(2, 6), torch.tensor([[0, 0, 0], [0, 0, 1], [1, 2, 0]])
    csl = CSLLoss(classes, 6).double()
    refused(
        (lambda: csl(e, classes[:2] + 9), ValueError, r"labels must be among class_labels, got \[9, 9, 9\]"),
        (lambda: csl(e, torch.tensor([[0, 0, 0], [0, 0, -1]])), ValueError, r"got \[0, 0, -1\] at index 1"),
        (lambda: csl(e, classes[:2, :2]), ValueError, r"shape \(batch, 3\) as class_labels, got \(2, 2\)"),
        (lambda: CSLLoss(classes[[0, 1, 0]], 6), ValueError, "name each class once, got 3 rows of 2 "),
        (lambda: CSLLoss(torch.tensor([[0, 1], [2, -1]]), 6), ValueError, r"a leaf in every row, got \[2, -1\]"),
        (lambda: CSLLoss(classes / 2, 6), TypeError, "class_labels must be integer"),
        (lambda: CSLLoss(classes, 6, [0.1]), ValueError, r"margins must be 3 .* >= 0, .* got \[0.1\]"),
        (lambda: CSLLoss(classes, 6, [0.1, 0.1, -0.5]), ValueError, r"margins .* got \[0.1, 0.1, -0.5\]"),
        (lambda: CSLLoss(classes, 6, scale=0.0), ValueError, "scale must be finite and > 0, got 0.0"),
    )

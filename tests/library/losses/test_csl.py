"""Cross-scale learning against its definition; with one level it is CosFace."""

import pytest
import torch
from drawn import random, value_and_gradients

from rankedu.losses import CSLLoss

#: The last class stands alone; a leaf id is used under two parents.
CLASSES = torch.tensor([[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 3], [1, 2, 0], [1, 2, 4], [2, 3, 5]])


def csl(classes=CLASSES, dim=6, dtype=torch.float64, **setting):
    loss = CSLLoss(classes, dim, **setting).to(dtype)
    loss.proxies.data = random(len(classes), dim, seed=1, dtype=dtype)
    return loss


def definition(embeddings, proxies, labels, classes, margins, scale):
    """Item by item, level by level, pair by pair."""
    total = 0.0
    for v, path in zip(embeddings, labels.tolist(), strict=True):
        cosines = [v @ p / (v.norm() * p.norm()) for p in proxies]
        named = list(zip(cosines, classes.tolist(), strict=True))
        own = next(cosine for cosine, name in named if name == path)
        for level, margin in enumerate(margins, start=1):
            others = [cosine for cosine, name in named if name[:level] != path[:level]]
            total = total + torch.log1p(sum(torch.exp(scale * (other - own + margin)) for other in others))
    return total / len(embeddings)


#: Classes, the margins that are given, and those that are meant: by default the published ones.
SETTINGS = {
    "three levels": (CLASSES, None, (0.45, 0.35, 0.25)),
    "two levels": (CLASSES[:, :2].unique(dim=0), None, (0.45, 0.25)),
    "one level": (CLASSES[:, :1].unique(dim=0), None, (0.25,)),
    "other margins": (CLASSES, [0.0, 0.1, 0.2], (0.0, 0.1, 0.2)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_value_and_gradient_are_the_definition(name):
    classes, given, margins = SETTINGS[name]
    labels = classes[torch.tensor([0, 0, 1, 2, 1])]
    for scale in (1.0, 32.0):
        loss = csl(classes, margins=given, scale=scale)

        def ours(e, p, loss=loss):
            return torch.func.functional_call(loss, {"proxies": p}, (e, labels))

        def by_hand(e, p, scale=scale):
            return definition(e, p, labels, classes, margins, scale)

        found, expected = (value_and_gradients(f, random(5, 6), loss.proxies, weight=3.0) for f in (ours, by_hand))
        torch.testing.assert_close(found, expected)


def test_a_level_without_negatives_adds_nothing():
    """All classes have one root: only the leaves are told apart."""
    both, fine = csl(CLASSES[:2]), csl(torch.tensor([0, 1]))
    embeddings, labels = random(3, 6).requires_grad_(), torch.tensor([0, 1, 1])
    torch.testing.assert_close(both(embeddings, CLASSES[labels]), fine(embeddings, labels))
    both(embeddings, CLASSES[labels]).backward()
    assert embeddings.grad.isfinite().all() and embeddings.grad.any()
    alone = csl(CLASSES[:1])
    value = alone(embeddings, CLASSES[:1].expand(3, 3))
    value.backward()
    assert value.item() == 0 and not alone.proxies.grad.any()


def test_far_scores_do_not_overflow():
    loss = csl(dtype=torch.float32, scale=1e4)
    value = loss(random(4, 6, dtype=torch.float32).requires_grad_(), CLASSES[[0, 6, 3, 3]])
    value.backward()
    assert value.isfinite() and loss.proxies.grad.isfinite().all()

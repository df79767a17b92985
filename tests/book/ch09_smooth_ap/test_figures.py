from itertools import combinations, product

import numpy as np
import pytest
import torch

from rankedu.losses import OnEmbeddings, SmoothAPLoss
from rankedu.rankers import SigmoidRanker
from rankedu_book.ch09_smooth_ap import study

POINTS = torch.nn.functional.normalize(torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), dim=1).double()


def test_at_the_edge_of_the_region_the_slope_is_the_threshold():
    for temperature in (0.001, 0.01, 0.1, 1.0):
        width = torch.tensor(study.operating_width(temperature), dtype=torch.float64)
        assert SigmoidRanker(temperature).slope(width).item() == pytest.approx(study.THRESHOLD)
    assert study.operating_width(100.0) == 0.0, "nowhere steep enough"


def test_near_a_point_the_loss_is_that_of_a_tie_and_the_gradient_of_the_embeddings_vanishes_with_the_distance():
    around, slopes = torch.randn(33, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64), []
    for distance in (1e-3, 1e-4):
        leaf = (around[:1] + distance * around[1:]).requires_grad_()
        loss = OnEmbeddings(SmoothAPLoss(0.01))(leaf, torch.arange(8).repeat_interleave(4))
        slopes.append(torch.autograd.grad(loss, leaf)[0].norm().item())
        assert loss.item() == pytest.approx(1 - 4 / 32, abs=1e-3)
    assert slopes[0] / slopes[1] == pytest.approx(10, rel=0.01)


def share(scores, label, temperature):
    """P± by counting, also where classes have unequal numbers of items."""
    found = []
    for query, row in enumerate(scores):
        relevant = (label == label[query]) & (torch.arange(len(label)) != query)
        apart = row[relevant][:, None] - row[label != label[query]]
        found.append((apart.abs() < study.operating_width(temperature)).double().mean())
    return torch.stack(found).mean().item()


def expected(classes, each, temperature, *, drawn=None, embed=lambda z: z, few=None):
    """The mean over all batches of so many of four classes of three, with so many items of each."""
    found = []
    for chosen in drawn or list(combinations(range(4), classes)):
        of = [combinations(range(3), few if few and c == 0 else each) for c in chosen]
        for items in product(*of):
            batch = [3 * c + i for c, some in zip(chosen, items, strict=True) for i in some]
            z, label = embed(POINTS[batch]), torch.tensor(batch) // 3
            found.append(share(z @ z.T, label, temperature))
    return np.mean(found)


@pytest.mark.parametrize("temperature", [0.01, 0.05, 0.3])
def test_the_expected_share_of_pairs_is_the_same_for_all_batches(temperature):
    every = [expected(classes, each, temperature) for classes in (2, 3, 4) for each in (2, 3)]
    assert every == pytest.approx([every[0]] * 6) and (temperature > 0.1 or 0.02 < every[0] < 0.98)


@pytest.mark.parametrize("without", ["an embedding of its own", "classes drawn alike", "as many items of each"])
def test_the_share_changes_with_the_batch_without_a_hypothesis(without):
    how = {
        "an embedding of its own": {"embed": lambda z: torch.nn.functional.normalize(z - z.mean(0), dim=1)},
        "classes drawn alike": {"drawn": [(0, 1), (2, 3)]},
        "as many items of each": {"few": 2},
    }[without]
    each = 3 if "few" in how else 2
    whole = expected(4, each, 0.05, **{k: v for k, v in how.items() if k != "drawn"})
    assert abs(expected(2, each, 0.05, **how) - whole) > 1e-3

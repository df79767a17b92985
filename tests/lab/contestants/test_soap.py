"""SOAP against its definition, and the shares of a batch against all batches."""

from itertools import combinations, product

import pytest
import torch
from torch.nn.functional import normalize

from rankedu import reference
from rankedu_lab.contestants import SOAPLoss
from rankedu_lab.experiments import retrieval

LABELS = torch.arange(4).repeat_interleave(4)


def places(seed):
    return torch.randn(16, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def both_ranks(embeddings, query, item, labels):
    """Soft ranks of an item among the relevant ones and among all, without the query."""
    unit = normalize(embeddings, dim=-1)
    cosines = unit @ unit[query]
    others = [j for j in range(len(labels)) if j not in (query, item)]
    above = [[j for j in others if labels[j] == labels[query]], others]
    return torch.stack([1 + ((cosines[of] - cosines[item]) / 0.3).sigmoid().sum() for of in above])


def test_the_gradient_is_that_of_the_definition_at_averages_over_the_steps():
    """On the whole set there is nothing to scale; the items come in another order each time."""
    loss, averages = SOAPLoss(LABELS, temperature=0.3, gamma=0.3), {}
    for step in range(3):
        items = torch.randperm(16, generator=torch.Generator().manual_seed(step))
        embeddings, total = places(step).requires_grad_(), 0.0
        (found,) = torch.autograd.grad(loss(embeddings, LABELS[items], items), embeddings)
        for query in range(16):
            same = [j for j in range(16) if j != query and LABELS[items[j]] == LABELS[items[query]]]
            ranks = torch.stack([both_ranks(embeddings, query, item, LABELS[items]) for item in same])
            now, pairs = [*map(tuple, ranks.tolist())], [(int(items[query]), int(items[item])) for item in same]
            old = [
                averages.get(pair, new) for pair, new in zip(pairs, now, strict=True)
            ]  # a new pair begins at its ranks
            moved, slopes = reference.soap(old, now, 0.3)
            averages |= dict(zip(pairs, moved, strict=True))
            total = total + (torch.tensor(slopes) * ranks).sum() / 16
        (expected,) = torch.autograd.grad(total, embeddings)
        assert torch.allclose(found, expected, atol=1e-6), step


def test_ranks_of_batches_are_on_average_those_of_the_whole_set():
    embeddings, kept = places(0), []
    whole = both_ranks(embeddings, 0, 1, LABELS).tolist()
    for third, other in product((2, 3), (1, 2, 3)):  # three of the first class, with the pair; three of another class
        for of_other in combinations(range(4), 3):
            items = torch.tensor([0, 1, third, *(4 * other + j for j in of_other)])
            loss = SOAPLoss(LABELS, temperature=0.3, gamma=1.0)
            loss(embeddings[items], LABELS[items], items)
            kept.append(loss.kept[0, 1])
    assert torch.stack(kept).mean(0).tolist() == pytest.approx(whole)
    lonely = embeddings[[0, 4]].requires_grad_()
    loss(lonely, LABELS[[0, 4]], torch.tensor([0, 4])).backward()
    assert not lonely.grad.any()
    with pytest.raises(ValueError, match=r"items must have the shape of labels, \(4,\), got \(8,\)"):
        SOAPLoss(LABELS)(embeddings[:4], LABELS[:4], torch.arange(8))  # those of two processes


def test_a_lab_trains_it_with_the_numbers_of_its_items(tmp_path):
    given = {"train_split": "fit", "test_split": "val", "salt": "claims", "letters": True, "loss": "soap"}
    given |= {"steps": 2, "batch_size": 16, "dim": 8, "pictures": False, "settings": "gamma=0.5"}
    outcome = retrieval.run(given, tmp_path, progress=False)
    assert outcome.loss.loss.kept.isfinite().all(-1).sum() > 16 * 3, "two batches of classes of four"
    outcome.close()

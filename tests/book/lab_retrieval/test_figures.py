import pytest
import torch

from rankedu.metrics import average_precision
from rankedu_book.kit import style
from rankedu_book.kit.pictures import IRRELEVANT, RELEVANT
from rankedu_book.lab_retrieval.figures import before_and_after
from rankedu_book.lab_retrieval.study import check, choose_queries, pr_curve, ranked, values, who_asks


def scene(n_classes=6, per_class=4, noise=0.3):
    """Pictures, embeddings without and with the classes in them, and labels."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(n_classes).repeat_interleave(per_class)
    noisy = torch.randn(len(labels), 5, generator=generator)
    centres = torch.randn(n_classes, 5, generator=generator)
    images = torch.randint(0, 256, (len(labels), 8, 8), generator=generator, dtype=torch.uint8)
    return images, noisy, centres[labels] + noise * noisy, labels


def test_the_area_under_the_curve_is_the_average_precision():
    relevance = torch.rand(60, generator=torch.Generator().manual_seed(3)) < 0.3
    recall, precision = pr_curve(relevance)
    area = (precision * torch.diff(recall, prepend=torch.zeros(1))).sum()
    assert area.item() == pytest.approx(average_precision(-torch.arange(60.0), relevance).item(), abs=1e-6)


def test_a_ranking_puts_ties_against_the_query_and_never_holds_it():
    labels = torch.tensor([0, 0, 1, 0])
    rows, paths = check(torch.ones(4, 2), labels)
    items, levels = ranked(rows, paths, 0)
    assert items.tolist() == [2, 1, 3] and levels.tolist() == [0, 1, 1]
    assert ranked(rows, paths, 0, torch.tensor([False, True, False, True]))[0].tolist() == [1, 3]


def test_the_values_are_those_of_the_rankings():
    _, _, embeddings, labels = scene(noise=1.0)
    rows, paths = check(embeddings, torch.cat([labels[:-1], torch.tensor([99])]))
    found = values(rows, paths, torch.arange(len(paths)))
    for query, value in enumerate(found[:-1].tolist()):
        _, levels = ranked(rows, paths, query)
        assert value == pytest.approx(pr_curve(levels == 1)[1].mean().item(), abs=1e-6)
    assert found[-1].isnan(), "no other item of its class"


def test_the_chosen_queries_span_the_gains():
    before, after = torch.full((5,), 0.5), torch.tensor([0.4, 0.9, 0.6, torch.nan, 0.5])
    assert choose_queries(before, after) == {"most improved": 1, "typical": 2, "worst": 0}
    assert choose_queries(before[:2], after[:2]) == {"most improved": 1, "worst": 0}
    assert choose_queries(before[:1], after[:1]) == {"most improved": 0}
    with pytest.raises(ValueError, match="before and after must have a query with a value in both, got none"):
        choose_queries(before[3:4], after[3:4])


def test_queries_ask_the_gallery_where_it_is_apart():
    gallery = torch.arange(10) >= 4
    paths = torch.zeros(10, 1, dtype=torch.int64)
    assert who_asks(paths, gallery).tolist() == [0, 1, 2, 3]
    assert who_asks(paths, None, limit=2).tolist() == [0, 9]


def test_before_and_after_marks_what_is_right():
    images, before, after, labels = scene()
    made = before_and_after(images, before, after, labels, {"mine": 5}, k=3, names=("old", "new"))
    told = style.description(made)
    right = int((ranked(*check(after, labels), 5)[1][:3] == 1).sum())
    assert right == 3 and f"new {right} of the first 3 are right, AP 1.00" in told and "mine, class 1: old" in told
    signs = [text.get_text() for text in made.axes[0].texts]
    assert signs.count(RELEVANT.sign) + signs.count(IRRELEVANT.sign) == 6 and signs.count(RELEVANT.sign) >= 3

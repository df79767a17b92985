import torch

from rankedu_book.kit import style
from rankedu_book.lab_hierarchical_retrieval import figures, study
from rankedu_book.lab_retrieval.study import check, ranked


def tree(noise=0.4, per_leaf=3):
    """Two groups of three classes each: labels (18, 2), and embeddings in which both levels show."""
    generator = torch.Generator().manual_seed(0)
    leaves = torch.arange(6).repeat_interleave(per_leaf)
    labels = torch.stack([leaves // 3, leaves], 1)
    groups, classes = torch.randn(2, 8, generator=generator), torch.randn(6, 8, generator=generator)
    jitter = torch.randn(len(leaves), 8, generator=generator)
    return 4 * groups[labels[:, 0]] + classes[leaves] + noise * jitter, labels


def test_levels_of_top_are_those_of_the_rankings_and_ties_go_against_the_query():
    embeddings, labels = tree(noise=2.0)
    rows, paths = check(embeddings, labels)
    for query, levels in enumerate(study.levels_of_top(embeddings, labels, k=4).tolist()):
        assert levels == [*ranked(rows, paths, query)[1][:2].tolist(), -1, -1], "there are but two positives"
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]])
    assert study.levels_of_top(torch.ones(4, 2), labels)[0].tolist() == [0]


def test_the_map_shows_every_class_and_says_what_is_near():
    embeddings, labels = tree(noise=0.1)
    means, paths = study.class_means(embeddings, labels)
    assert torch.equal(paths, torch.unique(labels, dim=0))
    made = figures.class_map(embeddings, labels, (("LATIN", "GREEK"), tuple("abcdef")))
    assert sum(len(dots.get_offsets()) for dots in made.axes[0].collections) == len(means)
    assert study.same_neighbours(means, paths[:, 0]) == 1.0
    assert "level 0 100% (groups: Latin, Greek)" in style.description(made)


def test_retrievals_are_signed_by_their_level():
    embeddings, labels = tree(noise=1.5)
    images, kept = torch.zeros(len(labels), 8, 8, dtype=torch.uint8), {"tree": embeddings}
    made = figures.hierarchical_retrievals(images, kept, labels, {"mine": 4}, k=5, levels=("group", "class"))
    shared = ranked(*check(embeddings, labels), 4)[1][:5].tolist()
    signs = [text.get_text() for text in made.axes[0].texts]
    assert [sign for sign in signs if sign in ("✓", "✗", "1")] == [{2: "✓", 1: "1", 0: "✗"}[level] for level in shared]
    assert f"levels {shared}" in style.description(made) and "a cross is another group" in style.description(made)

"""Baselines: against their definitions, in one calling convention; and their sums over levels."""

import math
import sys

import pytest
import pytorch_metric_learning
import torch
from drawn import DEVICES, random
from torch.nn.functional import normalize

from rankedu.losses import OnEmbeddings, SmoothAPLoss
from ranklab.contestants import SumOverLevels, baseline, baseline_names, describe_baseline

PROXIES = ("normalized_softmax", "proxy_nca_pp")
RANDOM = ("triplet_distance_weighted", "margin")  # draw their triplets
WITHOUT_REFERENCES = (*PROXIES, "n_pair")
LABELS = torch.arange(12) // 3


def make(name, **settings):
    """The same proxies every time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return baseline(name, n_classes=4, dim=8, **settings)


def gradient(loss, x, labels, *, scale=1.0, seed=3):
    leaf = x.detach().clone().requires_grad_()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        (scale * loss(leaf, labels)).backward()
    return leaf.grad


def nonzero_mean(values):
    values = values[values > 0]
    return values.mean() if len(values) else torch.tensor(0.0, dtype=torch.float64)


def pairs(labels):
    """Positive pairs (i ≠ j) and negative pairs."""
    same = labels[:, None] == labels
    return same & ~torch.eye(len(labels), dtype=torch.bool), ~same


def contrastive(x, labels):
    positive, negative = pairs(labels)
    distance = (normalize(x)[:, None] - normalize(x)).norm(dim=2)
    return nonzero_mean(distance[positive]) + nonzero_mean((1 - distance[negative]).clamp(min=0))


def triplet_semihard(x, labels):
    positive, negative = pairs(labels)
    d = (normalize(x)[:, None] - normalize(x)).norm(dim=2)
    terms = [
        0.2 + d[a, p] - d[a, n]
        for a in range(len(x))
        for p in positive[a].nonzero()[:, 0]
        for n in negative[a].nonzero()[:, 0]
        if 0 < d[a, n] - d[a, p] <= 0.2
    ]
    return nonzero_mean(torch.stack(terms))


def normalized_softmax(x, labels, proxies, temperature=0.05):
    logits = normalize(x) @ normalize(proxies).T / temperature
    return (logits.logsumexp(1) - logits[range(len(x)), labels]).mean()


def proxy_nca_pp(x, labels, proxies):
    """Softmax over −9‖x̂ − p̂‖², the positive proxy included."""
    logits = -9 * (normalize(x)[:, None] - normalize(proxies)).square().sum(2)
    return -logits.softmax(1)[range(len(x)), labels].log().mean()


def n_pair(x, labels):
    """The first item of each class is its anchor, the second its partner."""
    first = torch.tensor([(labels == c).nonzero()[0, 0] for c in labels.unique()])
    second = torch.tensor([(labels == c).nonzero()[1, 0] for c in labels.unique()])
    logits = x[first] @ x[second].T
    return (logits.logsumexp(1) - logits.diagonal()).mean()


def angular(x, labels):
    positive, negative = pairs(labels)
    tan2 = math.tan(math.radians(40)) ** 2
    x = normalize(x)
    terms = []
    for a, p in positive.nonzero():
        others = 4 * tan2 * x[negative[a]] @ (x[a] + x[p]) - 2 * (1 + tan2) * x[a] @ x[p]
        terms.append(torch.log1p(others.exp().sum()))
    return torch.stack(terms).mean()


def multi_similarity(x, labels):
    positive, negative = pairs(labels)
    s = normalize(x) @ normalize(x).T
    total = []
    for i in range(len(x)):
        p, n = s[i][positive[i]], s[i][negative[i]]
        p, n = p[p - 0.1 < n.max()], n[n + 0.1 > p.min()]
        total.append((-2 * (p - 0.5)).exp().sum().log1p() / 2 + (50 * (n - 0.5)).exp().sum().log1p() / 50)
    return torch.stack(total).mean()


def lifted_structure(x, labels):
    positive, negative = pairs(labels)
    d = (normalize(x)[:, None] - normalize(x)).norm(dim=2)
    terms = []
    for i, j in positive.nonzero():
        others = torch.cat([1 - d[i][negative[i]], 1 - d[j][negative[j]]])
        terms.append((others.logsumexp(0) + d[i, j]).clamp(min=0) ** 2 / 2)
    return torch.stack(terms).mean()


def histogram(x, labels, bins=100):
    """Triangles of half-width 2/bins around bins + 1 nodes."""
    positive, negative = pairs(labels)
    nodes = torch.linspace(-1, 1, bins + 1, dtype=torch.float64)
    s = normalize(x) @ normalize(x).T
    h = [(1 - (s[m][:, None] - nodes).abs() * bins / 2).clamp(min=0).mean(0) for m in (positive, negative)]
    return sum(h[1][r] * h[0][: r + 1].sum() for r in range(bins + 1))


DEFINITIONS = {f.__name__: f for f in (
    contrastive, triplet_semihard, n_pair, angular, multi_similarity, lifted_structure, histogram,
    normalized_softmax, proxy_nca_pp,
)}  # fmt: skip


def proxies_of(loss):
    (found,) = loss.parameters()
    return found if found.shape == (4, 8) else found.T


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_are_those_of_the_definition(name, seed):
    x, loss = 0.7 * random(12, 8, seed=seed) + random(4, 8, seed=9)[LABELS], make(name)
    assert loss(x, LABELS).item() > 0  # brings proxies to the dtype of the embeddings
    more = [proxies_of(loss).detach()] if name in PROXIES else []
    torch.testing.assert_close(loss(x, LABELS), DEFINITIONS[name](x, LABELS, *more), rtol=1e-6, atol=1e-8)
    leaf = x.clone().requires_grad_()
    DEFINITIONS[name](leaf, LABELS, *more).backward()
    torch.testing.assert_close(gradient(loss, x, LABELS), leaf.grad, rtol=1e-5, atol=1e-7)
    assert leaf.grad.any()


@pytest.mark.parametrize("name", ["triplet_distance_weighted", "margin"])
def test_drawn_triplets_are_what_the_seed_says(name):
    x, loss = random(12, 8), make(name)
    first, again, other = (gradient(loss, x, LABELS, seed=s) for s in (3, 3, 4))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize("name", baseline_names())
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_each_gives_a_finite_gradient(name, dtype):
    x = random(12, 8, dtype=dtype)
    found = gradient(make(name), x, LABELS)
    assert found.dtype == dtype and found.isfinite().all() and found.any()
    value = make(name)(x, LABELS)
    assert value.shape == () and value.dtype == torch.promote_types(dtype, torch.float32)


@pytest.mark.parametrize("name", sorted(set(baseline_names()) - set(RANDOM) - {"n_pair"}))
def test_order_of_the_rows_does_not_matter(name):
    x, order = random(12, 8), torch.randperm(12, generator=torch.Generator().manual_seed(1))
    found = gradient(make(name), x, LABELS)
    torch.testing.assert_close(gradient(make(name), x[order], LABELS[order]), found[order], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", sorted(set(baseline_names()) - {"n_pair"}))
def test_lengths_of_the_embeddings_do_not_matter(name):
    x, lengths = random(12, 8), torch.linspace(0.5, 4, 12, dtype=torch.float64)[:, None]
    loss = make(name)
    values = []
    for scaled in (x, lengths * x):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            values.append(loss(scaled, LABELS))
    torch.testing.assert_close(*values)


@pytest.mark.parametrize("name", baseline_names())
def test_a_batch_of_one_class(name):
    """Only the losses that have a term for positives alone, or proxies of other classes, have something to do."""
    x, labels = random(6, 8), torch.zeros(6, dtype=torch.long)
    found = gradient(make(name), x, labels)
    assert found.isfinite().all()
    assert found.any() == (name in PROXIES or name == "contrastive")


@pytest.mark.parametrize("name", baseline_names())
@pytest.mark.parametrize("batch", [1, 5])
def test_a_batch_without_positives(name, batch):
    x, labels = random(batch, 8), torch.arange(batch) % 4 if name in PROXIES else torch.arange(batch)
    assert gradient(make(name), x, labels).isfinite().all()
    assert make(name)(x, labels).isfinite()


@pytest.mark.parametrize("name", sorted(set(baseline_names()) - set(WITHOUT_REFERENCES)))
def test_references_are_compared_with(name):
    x, others, other_labels = random(12, 8), random(9, 8, seed=5).requires_grad_(), torch.arange(9) % 4
    value = make(name)(x, LABELS, None, others, other_labels)
    value.backward()
    assert value.isfinite() and others.grad.any()


@pytest.mark.parametrize("name", sorted(set(baseline_names()) - set(WITHOUT_REFERENCES) - set(RANDOM)))
def test_the_batch_as_its_own_references_is_the_batch(name):
    x, loss = random(12, 8), make(name)
    assert torch.equal(loss(x, LABELS, None, x, LABELS), loss(x, LABELS))


def test_histogram_of_equal_embeddings():
    x, labels = torch.tensor([[1.0, 2.0], [1.0, 2.0], [2.0, -1.0], [2.0, -1.0]]), torch.tensor([0, 0, 1, 1])
    assert baseline("histogram")(x, labels).item() == 0  # no negative pair is as similar as a positive one


def test_angular_normalises_the_negatives_too():
    x, loss = random(12, 8), baseline("angular")
    torch.testing.assert_close(loss(3 * x, LABELS), loss(x, LABELS))


@pytest.mark.skipif(not pytorch_metric_learning.__version__.startswith("2.9."), reason="other versions may be right")
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence:UserWarning")
def test_where_the_library_is_not_what_it_says():
    """Its histogram fails where a cosine is 1, and its angular loss normalises the ends of the positive pair alone."""
    from pytorch_metric_learning.losses import AngularLoss, HistogramLoss

    x, labels = torch.tensor([[1.0, 2.0], [1.0, 2.0], [2.0, -1.0], [2.0, -1.0]]), torch.tensor([0, 0, 1, 1])
    with pytest.raises((IndexError, RuntimeError)):
        HistogramLoss()(x, labels)
    assert AngularLoss()(3 * random(12, 8), LABELS) > 1.5 * AngularLoss()(random(12, 8), LABELS)


@pytest.mark.skipif(not pytorch_metric_learning.__version__.startswith("2.9."), reason="other versions may be right")
@pytest.mark.parametrize("name", ["multi_similarity", "contrastive", "lifted_structure"])
def test_one_pair_of_each_kind_is_nothing_to_the_library(name):
    """One query, its positive just behind a negative; a second near negative brings the gradient back."""
    query = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    cosines = torch.tensor([0.5, 0.55, 0.52], dtype=torch.float64)
    others, labels = torch.stack([cosines, (1 - cosines**2).sqrt()], 1), torch.tensor([0, 1, 2])
    for count in (2, 3):
        value = baseline(name)(query, labels[:1], None, others[:count], labels[:count])
        (found,) = torch.autograd.grad(value, query)
        assert bool(value == 0) == (not found.any()) == (count == 2)


def test_multi_similarity_is_0_where_its_miner_leaves_one_pair_of_each_kind():
    query = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    cosines = torch.tensor([0.5, 0.55, -0.3], dtype=torch.float64)
    others, labels = torch.stack([cosines, (1 - cosines**2).sqrt()], 1), torch.tensor([0, 1, 2])
    loss = baseline("multi_similarity")
    assert [len(part) for part in loss.miner(query, labels[:1], others, labels)] == [1, 1, 1, 1]
    assert loss(query, labels[:1], None, others, labels) == 0


def test_proxy_nca_pp_is_a_normalized_softmax():
    x = random(12, 8)
    nca, softmax = make("proxy_nca_pp"), make("normalized_softmax", temperature=1 / 18)
    with torch.no_grad():
        softmax.loss.W.copy_(nca.loss.proxies.T)
    torch.testing.assert_close(nca(x, LABELS), softmax(x, LABELS))


def test_settings_reach_the_loss_and_the_miner():
    assert baseline("margin", learn_beta=True, beta=0.9).loss.beta.requires_grad
    loss = baseline("triplet_semihard", margin=0.4)
    assert loss.loss.margin == loss.miner.margin == 0.4
    assert baseline("histogram", n_bins=7).loss.n_bins == 7


@pytest.mark.parametrize("name", baseline_names())
def test_each_is_described_in_one_line(name):
    said = describe_baseline(name)
    assert 30 < len(said) < 120 and said.endswith(".") and "\n" not in said
    assert name in repr(make(name))


def test_a_missing_library_is_named(monkeypatch):
    for module in ("", ".losses", ".miners", ".distances"):
        monkeypatch.setitem(sys.modules, f"pytorch_metric_learning{module}", None)
    with pytest.raises(ImportError, match=r"needs pytorch-metric-learning.*rankedu\[lab\]"):
        baseline("contrastive")
    assert baseline("histogram").n_classes is None  # our own


def test_under_autocast_nothing_is_computed_in_16_bits():
    x = random(12, 8, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = make("contrastive")(x, LABELS)
    assert torch.equal(found, make("contrastive")(x, LABELS))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", sorted(set(baseline_names()) - set(RANDOM)))
def test_every_device_gives_the_same(device, name):
    x = random(12, 8, dtype=torch.float32)
    found = gradient(make(name).to(device), x.to(device), LABELS.to(device))
    torch.testing.assert_close(found.cpu(), gradient(make(name), x, LABELS), rtol=1e-3, atol=1e-5)


PATHS = torch.tensor([[0, 0, 5], [0, 0, 6], [0, 1, 5], [1, 0, 5], [1, 0, 5], [0, 0, 5], [1, 0, 6], [1, 2, 9]])
BY_HAND = [
    torch.tensor([0, 0, 0, 1, 1, 0, 1, 1]),
    torch.tensor([0, 0, 1, 2, 2, 0, 2, 3]),
    torch.tensor([0, 1, 2, 3, 3, 0, 4, 5]),  # leaf 5 has three parents: three classes
]


def test_sum_over_levels_is_that_of_the_losses():
    x = random(8, 4)
    loss = SumOverLevels(lambda n: baseline("contrastive"), PATHS)
    expected = sum(contrastive(x, classes) for classes in BY_HAND)
    torch.testing.assert_close(loss(x, PATHS), expected, rtol=1e-6, atol=1e-8)


def test_sum_over_levels_numbers_classes_the_same_in_every_batch():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        loss = SumOverLevels(lambda n: baseline("normalized_softmax", n, dim=4), PATHS)
    assert [one.n_classes for one in loss.losses] == [2, 4, 6]
    assert len(list(loss.parameters())) == 3
    x, part = random(8, 4), torch.tensor([4, 6, 2])
    loss(x, PATHS)
    expected = sum(
        normalized_softmax(x[part], numbers[part], one.loss.W.T)
        for numbers, one in zip(BY_HAND, loss.losses, strict=True)
    )
    torch.testing.assert_close(loss(x[part], PATHS[part]), expected)


def test_sum_over_levels_leaves_out_paths_that_have_ended():
    x, paths = random(8, 4), PATHS.clone()
    paths[1, 2] = paths[6, 2] = paths[6, 1] = -1
    loss = SumOverLevels(lambda n: OnEmbeddings(SmoothAPLoss(0.1)), paths)
    assert [len(known) for known in loss.classes] == [2, 4, 4]
    flat = OnEmbeddings(SmoothAPLoss(0.1))
    expected = sum(flat(x[here], numbers[here]) for numbers, here in zip(BY_HAND, (paths >= 0).T, strict=True))
    torch.testing.assert_close(loss(x, paths), expected)


x = random(12, 8)
flat = lambda n: baseline("contrastive")  # noqa: E731
BAD = {
    "name": (lambda: baseline("contrastiv"), ValueError, r"'angular', .* \(did you mean 'contrastive'\?"),
    "spelling": (lambda: baseline("Proxy-NCA++"), ValueError, r"got 'Proxy-NCA\+\+' \(did you mean 'proxy_nca_pp'\?"),
    "nothing like it": (lambda: describe_baseline("zzz"), ValueError, "name must be one of .* got 'zzz'$"),
    "setting": (lambda: baseline("contrastive", temperature=1), TypeError, "pos_margin, neg_margin, got 'temperature'"),
    "no settings": (lambda: baseline("n_pair", margin=1), TypeError, "must be among none at all, got 'margin'"),
    "no classes": (lambda: baseline("proxy_nca_pp", dim=8), TypeError, "n_classes must be an int, got NoneType"),
    "no dim": (lambda: baseline("normalized_softmax", 4), TypeError, "dim must be an int, got NoneType .*learns"),
    "bins": (lambda: baseline("histogram", n_bins=0), ValueError, "n_bins must be >= 1, got 0"),
    "id": (lambda: make("proxy_nca_pp")(x, LABELS + 1), ValueError, "from 0 to n_classes - 1 = 3, got 4"),
    "float ids": (lambda: make("proxy_nca_pp")(x, LABELS / 2), TypeError, "labels must be integers, got torch.float32"),
    "references": (lambda: make("n_pair")(x, LABELS, None, x + 1, LABELS), ValueError, "ref_emb must be None"),
    "one of two": (lambda: make("contrastive")(x, LABELS, None, x), ValueError, "must be given together"),
    "dims": (lambda: make("contrastive")(x, LABELS, None, x[:, :3], LABELS), ValueError, r"\(batch, 8\), got"),
    "NaN": (lambda: make("contrastive")(x * torch.nan, LABELS), ValueError, "embeddings must be finite, .* got nan"),
    "make": (lambda: SumOverLevels(baseline("contrastive"), LABELS), TypeError, "make_loss must make the loss"),
    "path type": (lambda: SumOverLevels(flat, LABELS / 2), TypeError, "labels must be integers, got torch.float32"),
    "paths": (lambda: SumOverLevels(flat, LABELS[None, None]), ValueError, r"shape \(n,\) or \(n, L\) .* \(1, 1, 12\)"),
    "resumed path": (lambda: SumOverLevels(flat, torch.tensor([[0, -1, 3]])), ValueError, r"got \[0, -1, 3\]"),
    "no path": (lambda: SumOverLevels(flat, PATHS)(x[:8], PATHS - 2), ValueError, "must be >= 0, or -1 .* got -2"),
    "no items": (lambda: SumOverLevels(flat, PATHS[:0]), ValueError, r"with n, L >= 1, got \(0, 3\)"),
    "new class": (lambda: SumOverLevels(flat, PATHS)(x[:8], PATHS + 7), ValueError, r"of the training set, got \[7\]"),
    "levels": (lambda: SumOverLevels(flat, PATHS)(x[:8], PATHS[:, :2]), ValueError, r"\(batch, 3\), got \(8, 2\)"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()

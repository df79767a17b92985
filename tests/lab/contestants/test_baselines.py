"""Baselines against their definitions, their sums over levels, and what is wrong with the input of any contestant."""

import sys

import pytest
import torch
from drawn import DEVICES, random
from torch.nn.functional import cross_entropy, normalize

from rankedu.losses import OnEmbeddings, SmoothAPLoss
from rankedu_lab import contestants as lab
from rankedu_lab.contestants import LSTMRanker, ProjectionRanker, SumOverLevels, baseline, baseline_names
from rankedu_lab.contestants.baselines import WITHOUT_REFERENCES

PROXIES = ("normalized_softmax", "proxy_nca_pp")
RANDOM = ("triplet_distance_weighted", "margin")  # draw their triplets
LABELS = torch.arange(12) // 3


def make(name, **settings):
    """The same proxies every time."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return baseline(name, n_classes=4, dim=8, **settings)


def test_batches_with_little_to_compare_and_references():
    """Of one class, only the losses with a term for positives alone, or proxies of others, have something to do."""
    for name in baseline_names():
        found = gradient(make(name), random(6, 8), torch.zeros(6, dtype=torch.long))
        assert found.isfinite().all() and found.any() == (name in (*PROXIES, "contrastive")), name
        for batch in (1, 5):
            x, labels = random(batch, 8), torch.arange(batch) % 4 if name in PROXIES else torch.arange(batch)
            assert gradient(make(name), x, labels).isfinite().all() and make(name)(x, labels).isfinite(), name
        if name in WITHOUT_REFERENCES:
            continue
        x, others, loss = random(12, 8), random(9, 8, seed=5).requires_grad_(), make(name)
        value = loss(x, LABELS, None, others, torch.arange(9) % 4)
        value.backward()
        assert value.isfinite() and others.grad.any(), name
        assert name in RANDOM or torch.equal(loss(x, LABELS, None, x, LABELS), loss(x, LABELS)), name


def seeded(call, seed=3):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return call()


def gradient(loss, x, labels, seed=3):
    leaf = x.detach().clone().requires_grad_()
    seeded(lambda: loss(leaf, labels).backward(), seed)
    return leaf.grad


def parts(x, labels):
    """Distances and cosines of unit embeddings, and which pairs are positive (i ≠ j) and which negative."""
    x, same = normalize(x), labels[:, None] == labels
    return (x[:, None] - x).norm(dim=2), x @ x.T, same & ~torch.eye(len(x), dtype=torch.bool), ~same


def mean_above_0(values):
    return values.clamp(min=0).sum() / (values > 0).sum().clamp(min=1)


def contrastive(x, labels):
    d, _, positive, negative = parts(x, labels)
    return mean_above_0(d[positive]) + mean_above_0(1 - d[negative])


def histogram(x, labels, bins=100):
    """Triangles of half-width 2/bins around bins + 1 nodes."""
    _, s, *kinds = parts(x, labels)
    nodes = torch.linspace(-1, 1, bins + 1, dtype=torch.float64)
    positive, negative = ((1 - (s[kind][:, None] - nodes).abs() * bins / 2).clamp(min=0).mean(0) for kind in kinds)
    return sum(negative[r] * positive[: r + 1].sum() for r in range(bins + 1))


def normalized_softmax(x, labels, proxies):
    return cross_entropy(normalize(x) @ normalize(proxies).T / 0.05, labels)


def proxy_nca_pp(x, labels, proxies):
    """Softmax over −9‖x̂ − p̂‖², the positive proxy included."""
    return cross_entropy(-9 * (normalize(x)[:, None] - normalize(proxies)).square().sum(2), labels)


@pytest.mark.parametrize("definition", [contrastive, histogram, normalized_softmax, proxy_nca_pp])
def test_value_and_gradient_are_those_of_the_definition(definition):
    for seed in range(3):
        x, loss = 0.7 * random(12, 8, seed=seed) + random(4, 8, seed=9)[LABELS], make(definition.__name__)
        assert loss(x, LABELS).item() > 0  # brings proxies to the dtype of the embeddings
        proxies = [p.detach() if p.shape == (4, 8) else p.detach().T for p in loss.parameters()]
        torch.testing.assert_close(loss(x, LABELS), definition(x, LABELS, *proxies), rtol=1e-6, atol=1e-8)
        expected = gradient(lambda x, labels, proxies=proxies: definition(x, labels, *proxies), x, LABELS)
        torch.testing.assert_close(gradient(loss, x, LABELS), expected, rtol=1e-5, atol=1e-7)
        assert expected.any()


def test_proxy_nca_pp_is_a_normalized_softmax():
    x = random(12, 8)
    nca, softmax = make("proxy_nca_pp"), make("normalized_softmax", temperature=1 / 18)
    with torch.no_grad():
        softmax.loss.W.copy_(nca.loss.proxies.T)
    torch.testing.assert_close(nca(x, LABELS), softmax(x, LABELS))


@pytest.mark.parametrize("device", DEVICES)
def test_each_gives_a_finite_gradient(device):
    """The same on every device, but for draws."""
    for name in baseline_names():
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            x, loss = random(12, 8, dtype=dtype), make(name)
            here, value = gradient(loss, x, LABELS), loss(x, LABELS)
            assert value.shape == () and value.dtype == torch.promote_types(dtype, torch.float32), (name, dtype)
            found = gradient(make(name).to(device), x.to(device), LABELS.to(device)).cpu()
            assert found.dtype == dtype and found.isfinite().all() and found.any(), (name, dtype)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                assert name in RANDOM or torch.equal(make(name)(x, LABELS), value), (name, dtype)
            if name in RANDOM:
                assert not gradient(make(name), x, LABELS, seed=4).equal(here), "the seed draws triplets"
            elif dtype == torch.float32:
                torch.testing.assert_close(found, here, rtol=1e-3, atol=1e-5, msg=name)


def test_settings_reach_the_loss_and_the_miner_and_a_missing_library_is_named(monkeypatch):
    assert baseline("margin", learn_beta=True, beta=0.9).loss.beta.requires_grad
    loss = baseline("triplet_semihard", margin=0.4)
    assert loss.loss.margin == loss.miner.margin == 0.4
    assert baseline("histogram", n_bins=7).loss.n_bins == 7
    for module in ("", ".losses", ".miners", ".distances"):
        monkeypatch.setitem(sys.modules, f"pytorch_metric_learning{module}", None)
    with pytest.raises(ImportError, match=r"needs pytorch-metric-learning.*rankedu\[lab\]"):
        baseline("contrastive")


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
    loss, part = SumOverLevels(lambda n: baseline("normalized_softmax", n, dim=4), PATHS), torch.tensor([4, 6, 2])
    assert [one.n_classes for one in loss.losses] == [2, 4, 6] and len(list(loss.parameters())) == 3
    loss(x, PATHS)  # brings proxies to the dtype of the embeddings
    each = zip(BY_HAND, loss.losses, strict=True)
    expected = sum(normalized_softmax(x[part], numbers[part], one.loss.W.T) for numbers, one in each)
    torch.testing.assert_close(loss(x[part], PATHS[part]), expected)  # classes have one number in every batch
    x, paths = random(8, 4), PATHS.clone()
    paths[1, 2] = paths[6, 2] = paths[6, 1] = -1
    loss, flat = SumOverLevels(lambda n: OnEmbeddings(SmoothAPLoss(0.1)), paths), OnEmbeddings(SmoothAPLoss(0.1))
    assert [len(known) for known in loss.classes] == [2, 4, 4]
    expected = sum(flat(x[here], numbers[here]) for numbers, here in zip(BY_HAND, (paths >= 0).T, strict=True))
    torch.testing.assert_close(loss(x, paths), expected)


inf, nan = float("inf"), float("nan")
y, yes = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
x, labels, paths = random(12, 8), torch.arange(12) // 3, torch.tensor([[0, 0, 5], [0, 1, 5], [1, 2, 9]])
sorter = LSTMRanker(3).requires_grad_(False)


def proxies():
    return baseline("proxy_nca_pp", n_classes=4, dim=8)


def levels(known, made=None):
    loss = SumOverLevels(lambda n: baseline("contrastive"), known)
    return loss if made is None else loss(x[: len(made)], made)


BAD = [
    (lambda: lab.APSVMLoss()(y * inf, yes), ValueError, "scores must be finite, got 3 of 3 .*isfinite"),
    (lambda: lab.APSVMLoss("joachims"), ValueError, "'mohapatra', 'yue', got 'joachims'"),
    (lambda: ProjectionRanker()(-y * inf), ValueError, "must be finite, got 3 of 3 like -inf"),
    (lambda: sorter(x), ValueError, r"scores must have 3 items .* got \(12, 8\) .*train_sorter\(8\)"),
    (lambda: sorter(y + inf), ValueError, "scores must be finite, got .*infinity.*clamp"),
    (lambda: LSTMRanker(3).to("meta")(y), ValueError, "on the device of the ranker, meta, got cpu"),
    (lambda: sorter(y, where=yes), ValueError,
        r"where and members must be all True, .* exactly n=3 items, got 1 of 3 left out .*SpearmanLoss.*train_sorter"),
    (lambda: LSTMRanker(3, "rnn"), ValueError, "architecture must be one of 'lstm', .* got 'rnn'"),
    (lambda: baseline("contrastiv"), ValueError, r"'angular', .* \(did you mean 'contrastive'\?"),
    (lambda: baseline("contrastive", temperature=1), TypeError, "pos_margin, neg_margin, got 'temperature'"),
    (lambda: baseline("proxy_nca_pp", dim=8), TypeError, "n_classes must be an int, got NoneType"),
    (lambda: baseline("normalized_softmax", 4), TypeError, "dim must be an int, got NoneType .*learns"),
    (lambda: proxies()(x, labels + 1), ValueError, "from 0 to n_classes - 1 = 3, got 4"),
    (lambda: baseline("n_pair")(x, labels, None, x + 1, labels), ValueError, "ref_emb must be None"),
    (lambda: baseline("contrastive")(x, labels, None, x), ValueError, "ref_labels must be given with ref_emb"),
    (lambda: baseline("contrastive")(x, labels[:, None]), ValueError, "labels must have the shape"),
    (lambda: baseline("angular")(x, labels, None, x[:, 1:], labels), ValueError, r"\(refs, 8\), got"),
    (lambda: SumOverLevels(baseline("contrastive"), labels), TypeError, "make_loss must make the loss"),
    (lambda: levels(paths[:0]), ValueError, r"with n, L >= 1, got \(0, 3\)"),
    (lambda: levels(paths, paths + 7), ValueError, r"of the training set, got \[7\]"),
    (lambda: levels(paths, paths[:, :2]), ValueError, r"\(batch, 3\), got \(3, 2\)"),
]  # fmt: skip


def test_the_error_names_the_parameter(refused):
    refused(BAD)

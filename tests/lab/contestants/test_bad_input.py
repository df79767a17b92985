"""What is wrong with the input of a contestant, and what the error says of it."""

import torch
from drawn import random

from ranklab import contestants as lab
from ranklab.contestants import LSTMRanker, ProjectionRanker, SumOverLevels, baseline

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
    (lambda: lab.most_violated_ranking(y, yes[:1]), ValueError, r"relevance .* \(3,\), got \(1,\)"),
    (lambda: lab.most_violated_ranking(y, yes, where=y), TypeError, "where must be bool"),
    (lambda: lab.APSVMLoss("joachims"), ValueError, "'mohapatra', 'yue', got 'joachims'"),
    (lambda: lab.ErrorDrivenAPLoss(-1), ValueError, r"delta must be finite and >= 0, got -1.0"),
    (lambda: ProjectionRanker(0), ValueError, r"strength must be finite and > 0, got 0.0 \(in units of a"),
    (lambda: ProjectionRanker()(-y * inf), ValueError, "must be finite, got 3 of 3 like -inf"),
    (lambda: ProjectionRanker().among(y, yes, where=yes[:1]), ValueError, "where must have the shape"),
    (lambda: sorter(x), ValueError, r"scores must have 3 items .* got \(12, 8\) .*train_sorter\(8\)"),
    (lambda: sorter(y + inf), ValueError, "scores must be finite, got .*infinity.*clamp"),
    (lambda: LSTMRanker(3).to("meta")(y), ValueError, "on the device of the ranker, meta, got cpu"),
    (lambda: sorter(y, where=yes), ValueError,
        r"where and members must be all True, .* exactly n=3 items, got 1 of 3 left out .*SpearmanLoss.*train_sorter"),
    (lambda: LSTMRanker(3, "rnn"), ValueError, "architecture must be one of 'lstm', .* got 'rnn'"),
    (lambda: LSTMRanker(1), ValueError, "n must be >= 2, got 1"),
    (lambda: baseline("contrastiv"), ValueError, r"'angular', .* \(did you mean 'contrastive'\?"),
    (lambda: baseline("Proxy-NCA++"), ValueError, r"got 'Proxy-NCA\+\+' \(did you mean 'proxy_nca_pp'\?"),
    (lambda: baseline("contrastive", temperature=1), TypeError, "pos_margin, neg_margin, got 'temperature'"),
    (lambda: baseline("proxy_nca_pp", dim=8), TypeError, "n_classes must be an int, got NoneType"),
    (lambda: baseline("normalized_softmax", 4), TypeError, "dim must be an int, got NoneType .*learns"),
    (lambda: baseline("histogram", n_bins=0), ValueError, "n_bins must be >= 1, got 0"),
    (lambda: proxies()(x, labels + 1), ValueError, "from 0 to n_classes - 1 = 3, got 4"),
    (lambda: baseline("n_pair")(x, labels, None, x + 1, labels), ValueError, "ref_emb must be None"),
    (lambda: proxies()(x, labels, None, x + 1, labels), ValueError, "ref_emb must be None"),
    (lambda: baseline("contrastive")(x, labels, None, x), ValueError, "must be given together"),
    (lambda: baseline("angular")(x, labels, None, x[:, 1:], labels), ValueError, r"\(batch, 8\), got"),
    (lambda: SumOverLevels(baseline("contrastive"), labels), TypeError, "make_loss must make the loss"),
    (lambda: levels(labels[None, None]), ValueError, r"shape \(n,\) or \(n, L\) .* \(1, 1, 12\)"),
    (lambda: levels(torch.tensor([[0, -1, 3]])), ValueError, r"got \[0, -1, 3\]"),
    (lambda: levels(paths[:0]), ValueError, r"with n, L >= 1, got \(0, 3\)"),
    (lambda: levels(paths, paths - 2), ValueError, "must be >= 0, or -1 .* got -2"),
    (lambda: levels(paths, paths + 7), ValueError, r"of the training set, got \[7\]"),
    (lambda: levels(paths, paths[:, :2]), ValueError, r"\(batch, 3\), got \(3, 2\)"),
]  # fmt: skip


def test_the_error_names_the_parameter(refused):
    refused(BAD)

"""What is wrong with the input of a contestant, and what the error says of it."""

import pytest
import torch
from drawn import random

from rankedu.losses import APLoss, OnEmbeddings, RecallLoss
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


BAD = {
    "svm inf": (lambda: lab.APSVMLoss()(y * inf, yes), ValueError, "scores must be finite, got 3 of 3 .*isfinite"),
    "svm shapes": (lambda: lab.most_violated_ranking(y, yes[:1]), ValueError, r"relevance .* \(3,\), got \(1,\)"),
    "svm where": (lambda: lab.most_violated_ranking(y, yes, where=y), TypeError, "where must be bool"),
    "svm inference": (lambda: lab.APSVMLoss("joachims"), ValueError, "'mohapatra', 'yue', got 'joachims'"),
    "svm ranking": (lambda: lab.most_violated_ranking(y, yes, inference=""), ValueError, "inference must be one of"),
    "delta": (lambda: lab.ErrorDrivenAPLoss(-1), ValueError, r"delta must be finite and >= 0, got -1.0"),
    "strength": (lambda: ProjectionRanker(0), ValueError, r"strength must be finite and > 0, got 0.0 \(in units of a"),
    "NaN": (lambda: ProjectionRanker()(y * nan), ValueError, "scores must not contain NaN, got 3 of 3"),
    "-inf": (lambda: ProjectionRanker()(-y * inf), ValueError, "must be finite, got 3 of 3 like -inf"),
    "where shape": (lambda: ProjectionRanker().among(y, yes, where=yes[:1]), ValueError, "where must have the shape"),
    "length": (lambda: sorter(x), ValueError, r"scores must have 3 items .* got \(12, 8\) .*train_sorter\(8\)"),
    "sorter inf": (lambda: sorter(y + inf), ValueError, "scores must be finite, got .*infinity.*clamp"),
    "device": (lambda: LSTMRanker(3).to("meta")(y), ValueError, "on the device of the ranker, meta, got cpu"),
    "where": (lambda: sorter(y, where=yes), ValueError,
        r"where and members must be all True, .* exactly n=3 items, got 1 of 3 left out .*SpearmanLoss.*train_sorter"),
    "members": (lambda: sorter.among(y, yes), ValueError, "members must be all True, .* 1 of 3 left out"),
    "ap": (lambda: APLoss(sorter)(y, yes), ValueError, "members must be all True, .* SpearmanLoss"),
    "recall": (lambda: RecallLoss(sorter)(y, yes), ValueError, "members must be all True"),
    "exclude_self": (lambda: OnEmbeddings(APLoss(sorter))(x[:3].float(), labels[:3]), ValueError, "must be all True"),
    "architecture": (lambda: LSTMRanker(3, "rnn"), ValueError, "architecture must be one of 'lstm', .* got 'rnn'"),
    "n": (lambda: LSTMRanker(1), ValueError, "n must be >= 2, got 1"),
    "hidden": (lambda: LSTMRanker(3, hidden=0), ValueError, "hidden must be >= 1, got 0"),
    "layers": (lambda: LSTMRanker(3, layers=True), TypeError, "layers must be an int, got bool"),
    "draws": (lambda: lab.equivariance_error(sorter, y, draws=0), ValueError, "draws must be >= 1, got 0"),
    "name": (lambda: baseline("contrastiv"), ValueError, r"'angular', .* \(did you mean 'contrastive'\?"),
    "spelling": (lambda: baseline("Proxy-NCA++"), ValueError, r"got 'Proxy-NCA\+\+' \(did you mean 'proxy_nca_pp'\?"),
    "nothing like it": (lambda: lab.describe_baseline("zzz"), ValueError, "name must be one of .* got 'zzz'$"),
    "setting": (lambda: baseline("contrastive", temperature=1), TypeError, "pos_margin, neg_margin, got 'temperature'"),
    "no settings": (lambda: baseline("n_pair", margin=1), TypeError, "must be among none, got 'margin'"),
    "no classes": (lambda: baseline("proxy_nca_pp", dim=8), TypeError, "n_classes must be an int, got NoneType"),
    "no dim": (lambda: baseline("normalized_softmax", 4), TypeError, "dim must be an int, got NoneType .*learns"),
    "bins": (lambda: baseline("histogram", n_bins=0), ValueError, "n_bins must be >= 1, got 0"),
    "id": (lambda: proxies()(x, labels + 1), ValueError, "from 0 to n_classes - 1 = 3, got 4"),
    "float ids": (lambda: proxies()(x, labels / 2), TypeError, "labels must be integers, got torch.float32"),
    "references": (lambda: baseline("n_pair")(x, labels, None, x + 1, labels), ValueError, "ref_emb must be None"),
    "proxies": (lambda: proxies()(x, labels, None, x + 1, labels), ValueError, "ref_emb must be None"),
    "one of two": (lambda: baseline("contrastive")(x, labels, None, x), ValueError, "must be given together"),
    "dims": (lambda: baseline("angular")(x, labels, None, x[:, 1:], labels), ValueError, r"\(batch, 8\), got"),
    "embeddings": (lambda: baseline("angular")(x * nan, labels), ValueError, "embeddings must be finite, .* got nan"),
    "make": (lambda: SumOverLevels(baseline("contrastive"), labels), TypeError, "make_loss must make the loss"),
    "path type": (lambda: levels(labels / 2), TypeError, "labels must be integers, got torch.float32"),
    "paths": (lambda: levels(labels[None, None]), ValueError, r"shape \(n,\) or \(n, L\) .* \(1, 1, 12\)"),
    "resumed path": (lambda: levels(torch.tensor([[0, -1, 3]])), ValueError, r"got \[0, -1, 3\]"),
    "no items": (lambda: levels(paths[:0]), ValueError, r"with n, L >= 1, got \(0, 3\)"),
    "no path": (lambda: levels(paths, paths - 2), ValueError, "must be >= 0, or -1 .* got -2"),
    "new class": (lambda: levels(paths, paths + 7), ValueError, r"of the training set, got \[7\]"),
    "levels": (lambda: levels(paths, paths[:, :2]), ValueError, r"\(batch, 3\), got \(3, 2\)"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_the_error_names_the_parameter(call, error, message):
    with pytest.raises(error, match=message):
        call()

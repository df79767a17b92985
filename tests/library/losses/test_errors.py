"""What each loss refuses beyond what all of them do: which parameter, what was expected, what came, what to do."""

import numpy as np
import torch
from drawn import random, refused

from rankedu.losses import (
    APLoss,
    CalibrationLoss,
    ClusterLoss,
    CSLLoss,
    FastAPLoss,
    HAPLoss,
    HAPPIERLoss,
    MAPLoss,
    OnEmbeddings,
    OnProposals,
    RecallLoss,
    ROADMAPLoss,
    SmoothAPLoss,
    SpearmanLoss,
)
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker, InfimumStep, SigmoidRanker
from ranklab.contestants import baseline

nan, inf = float("nan"), float("inf")
blackbox, y, yes = BlackboxRanker(1.0), torch.tensor([0.3, 0.1]), torch.tensor([True, False])
e, ones, two = random(2, 6), torch.tensor([1, 1]), torch.tensor([[0, 1], [0, 1]])


def test_settings():
    refused(
        (lambda: APLoss(blackbox, -0.1), ValueError, r"margin must be finite and >= 0, got -0.1"),
        (lambda: APLoss(4.0), TypeError, r"ranker must be one of rankedu.rankers, got 4.0 .*lam=4.0"),
        (lambda: APLoss(BlackboxRanker), TypeError, "ranker must be one of"),
        (lambda: MAPLoss(blackbox, class_agnostic_weight=2), ValueError, r"in \[0, 1\], got 2"),
        (lambda: MAPLoss(blackbox, memory=7), TypeError, r"ScoreMemory, got 7"),
        (lambda: SmoothAPLoss(0), ValueError, r"temperature must be finite and > 0, got 0.0 .*rank\(\)"),
        (lambda: SpearmanLoss(4.0), TypeError, r"ranker must be one of .* got 4.0"),
        (lambda: FastAPLoss(0), ValueError, "bins must be >= 1, got 0"),
        (lambda: CalibrationLoss(nan), ValueError, "at_least must be finite, got nan .*cosine"),
        (lambda: CalibrationLoss(0.9, None), TypeError, "at_most must be a number, got None"),
        (lambda: ROADMAPLoss(1.5), ValueError, r"weight must be finite and in \[0, 1\], got 1.5"),
        (lambda: ROADMAPLoss(at_most=inf), ValueError, "at_most must be finite, got inf"),
        (lambda: ROADMAPLoss(slope=-1), ValueError, "slope must be finite and >= 0"),
        (lambda: HAPLoss(4.0), TypeError, "ranker must be one of .* got 4.0"),
        (lambda: HAPLoss(margin=-1.0), ValueError, "margin must be finite and >= 0, got -1.0"),
        (lambda: HAPLoss(within_grad=True), ValueError, r"within_grad must be False .*lower=InfimumStep\(\)"),
        (lambda: HAPLoss(SigmoidRanker(), lower=InfimumStep()), ValueError, "lower .* None .* within_grad=True"),
        (lambda: HAPLoss(lower=3), TypeError, "lower must be a step with a slope, got 3"),
        (lambda: HAPPIERLoss(2, 3, weight=1.5), ValueError, r"weight must be finite and in \[0, 1\], got 1.5"),
        (lambda: HAPPIERLoss(2, 3, alpha=0.0), ValueError, "alpha must be finite and > 0, got 0.0"),
        (lambda: HAPPIERLoss(0, 3), ValueError, "n_classes must be >= 1, got 0"),
        (lambda: ClusterLoss(5, 0), ValueError, "dim must be >= 1, got 0"),
        (lambda: ClusterLoss(5, 6, 0.0), ValueError, "temperature must be finite and > 0, got 0.0"),
        (lambda: OnEmbeddings(None), TypeError, "loss must be a loss .* got None"),
        (lambda: OnEmbeddings(APLoss(blackbox), memory=3), TypeError, r"EmbeddingMemory, got 3"),
        (lambda: OnEmbeddings(APLoss(blackbox), memory=ScoreMemory(1)), TypeError, r"EmbeddingMemory, got ScoreMem"),
        (lambda: OnEmbeddings(HAPLoss(), relevance=2), TypeError, "relevance must be a function .* got 2"),
    )
    weights = {
        "loglogs": (ValueError, r"weights must be one of 'log', 'loglog', got 'loglogs'"),
        2: (TypeError, r"weights must be 'log', 'loglog' or a callable W, got 2"),
        (lambda r: 1 + r): (ValueError, r"W\(0\) = 0, got 1"),
        (lambda r: -r): (ValueError, r"never falls, got W\(0\) = 0 and W\(1\) = -1"),
        (lambda r: r.sum()): (TypeError, r"Tensor of shape \(1001,\) .* got \(\)"),
        (lambda r: 0.0): (TypeError, "got float"),
    }
    refused(*((lambda w=w: RecallLoss(blackbox, weights=w), *told) for w, told in weights.items()))


def test_scores_and_relevance():
    hidden, far = torch.tensor([False, True, True]), torch.tensor([9.0, 2.0, 0.1])
    refused(
        (lambda: MAPLoss(blackbox)(torch.eye(2), torch.tensor([0, 1])), ValueError, "one_hot"),
        (lambda: MAPLoss(blackbox)(y, yes), ValueError, r"\(\.\.\., batch, classes\), got \(2,\)"),
        (lambda: SpearmanLoss(blackbox)(y, y * nan), ValueError, "target must not contain NaN, got 2 of 2"),
        (lambda: HAPLoss()(y, y / 0), ValueError, "relevance must be finite and >= 0, got inf"),
        (lambda: HAPLoss()(y, -y), ValueError, r"relevance must be finite and >= 0, got -0.3.*hierarchy"),
        (lambda: FastAPLoss()(torch.tensor([0.3, -7.5]), yes), ValueError, r"cosine .*\[-1, 1\], got -7.5 \(bring"),
        (lambda: FastAPLoss()(torch.tensor([inf, 0.1]), yes), ValueError, "cosine similarities, .* got inf"),
        (lambda: FastAPLoss()(torch.tensor([0.3, 1.02]), yes), ValueError, "cosine similarities, .* got 1.02"),
        (lambda: FastAPLoss()(far, torch.ones(3), where=hidden), ValueError, r"cosine similarities, .* got 2 \("),
        (lambda: OnEmbeddings(FastAPLoss(), similarity="dot")(4 * e, ones), ValueError, "cosine similarities"),
        (lambda: OnEmbeddings(FastAPLoss(), similarity="l2"), ValueError, r"similarity must be .*'cosine'.* got 'l2'"),
    )


def test_embeddings():
    on, memory, graded = OnEmbeddings(APLoss(blackbox)), EmbeddingMemory(2), OnEmbeddings(HAPLoss())
    remembering, of_paths = (OnEmbeddings(APLoss(blackbox), memory=m) for m in (EmbeddingMemory(1), memory))
    memory(e, two)
    refused(
        (lambda: on(e, ones[:1]), ValueError, r"labels must have the shape .* \(2,\), got \(1,\)"),
        (lambda: on(e[0], ones), ValueError, r"embeddings must have shape \(n, dim\) .* got \(6,\)"),
        (lambda: on(e / 0 * 0, ones), ValueError, "embeddings must be finite, .* got nan in row 0"),
        (lambda: on(e.masked_fill(e == e[1, 0], -inf), ones), ValueError, "must be finite, .* got -inf in row 1"),
        (lambda: on(e.long(), ones), TypeError, "embeddings must be floating point"),
        (lambda: on((e * 1e30).float(), ones), ValueError, r"from 1e-12 to 1.8e\+19, got .*e\+30 in row 0 \(find"),
        (lambda: on(e, ones, None, e * 1e-30, ones), ValueError, "ref_embeddings .* 1e-12 to .*e-30"),
        (lambda: on(e, ones, None, e + 1), ValueError, "ref_labels must be given with ref_emb"),
        (lambda: on(e, ones, None, None, ones), ValueError, "ref_emb must be given with ref_labels"),
        (lambda: on(e, ones, None, random(2, 4), ones), ValueError, r"ref_embeddings .* \(batch, 6\), got"),
        (lambda: remembering(e, ones, None, e + 1, ones), ValueError, "None where there is a memory"),
        (lambda: on(e, ones / torch.tensor([1, nan])), ValueError, r"labels .* NaN, got 1 .*number the"),
        (lambda: on(e, ones, None, e + 1, ones * 1j), TypeError, "ref_labels .* torch.complex64"),
        (lambda: on(e, torch.ones(2, 2)), TypeError, r"labels must be integers, .*all are whole: labels.long\(\)"),
        (lambda: on(e, ["cat", "dog"]), TypeError, r"got list \(number the words: .*unique\(labels"),
        (lambda: on(e, np.array(["cat", "dog"])), TypeError, r"got ndarray \(number the words"),
        (lambda: graded(e, two[:1]), ValueError, r"labels\[:, 0\] .* \(2,\), got \(1,\)"),
        (lambda: graded(e, two, None, e + 1, two[:, :1]), ValueError, r"ref_labels .* \(refs, 2\) .* \(2, 1\)"),
        (lambda: baseline("contrastive")(e, two), ValueError, r"labels must have the shape .* \(2,\), got \(2, 2\)"),
        (lambda: of_paths(e, two[:, 0]), ValueError, r"memory holds labels of shape \(2, 2\), got \(2,\)"),
        (lambda: on(e, ones, e, ones), TypeError, r"indices_tuple .* got Tensor \(.*ref_emb="),
    )


def test_proxies():
    cluster, paths = ClusterLoss(5, 6).double(), torch.tensor([[0, 1], [5, 1]])
    classes = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 2, 0]])
    csl = CSLLoss(classes, 6).double()
    ids = r"labels must be class ids .* n_classes - 1 = 4, got "
    refused(
        (lambda: cluster(e, paths[:, 0].bool()), TypeError, "labels must be integers, got torch.bool"),
        (lambda: cluster(e, paths[:, 0]), ValueError, ids + "5"),
        (lambda: cluster(e, -paths[:, 0]), ValueError, ids + "-5"),
        (lambda: cluster(e, torch.tensor([[0, 1], [2, -1]])), ValueError, ids + "-1"),
        (lambda: cluster(e, paths), ValueError, "each leaf under one parent, got leaf 1 under several .*unique"),
        (lambda: cluster(e[:, :4], ones), ValueError, r"shape \(batch, 6\), got \(2, 4\)"),
        (lambda: cluster(e * nan, ones), ValueError, "embeddings must be finite, .* got nan in row 0"),
        (lambda: csl(e, classes[:2] + 9), ValueError, r"labels must be among class_labels, got \[9, 9, 9\]"),
        (lambda: csl(e, torch.tensor([[0, 0, 0], [0, 0, -1]])), ValueError, r"got \[0, 0, -1\] at index 1"),
        (lambda: csl(e, classes[:2, :2]), ValueError, r"shape \(batch, 3\) as class_labels, got \(2, 2\)"),
        (lambda: csl(e, classes[:2, 0]), ValueError, r"shape \(batch, 3\) as class_labels, got \(2,\)"),
        (lambda: csl(e[:, :4], classes[:2]), ValueError, r"shape \(batch, 6\), got \(2, 4\)"),
        (lambda: csl(e * nan, classes[:2]), ValueError, "embeddings must be finite, .* got nan in row 0"),
        (lambda: CSLLoss(classes[[0, 1, 0]], 6), ValueError, "name each class once, got 3 rows of 2 classes"),
        (lambda: CSLLoss(torch.tensor([[0, 1], [2, -1]]), 6), ValueError, r"a leaf in every row, got \[2, -1\]"),
        (lambda: CSLLoss(classes / 2, 6), TypeError, "class_labels must be integer"),
        (lambda: CSLLoss(classes, 6, [0.1]), ValueError, r"margins must be 3 finite numbers >= 0, .* got \[0.1\]"),
        (lambda: CSLLoss(classes, 6, [0.1, 0.1, -1.0]), ValueError, "margins must be 3 finite numbers >= 0"),
        (lambda: CSLLoss(classes, 6, scale=0.0), ValueError, "scale must be finite and > 0, got 0.0"),
        (lambda: CSLLoss(classes, 0), ValueError, "dim must be >= 1, got 0"),
    )


def test_proposals():
    loss, logits, labels = OnProposals(MAPLoss(SigmoidRanker(0.3))), random(10, 5), torch.arange(10) % 4
    shape = r"class_logits must have shape \(P, C \+ 1\), got "
    refused(
        (lambda: loss(logits[0], labels), ValueError, shape + r"\(5,\)"),
        (lambda: loss(logits[:, :1], labels), ValueError, shape + r"\(10, 1\)"),
        (lambda: loss(logits.long(), labels), TypeError, "class_logits must be floating point"),
        (lambda: loss(logits / 0 * 0, labels), ValueError, "class_logits must not contain NaN"),
        (lambda: loss(logits, labels[:9]), ValueError, r"labels must have the shape .* \(10,\), got \(9,\)"),
        (lambda: loss(logits, labels.double()), TypeError, "labels must be integers, got torch.float64"),
        (lambda: loss(logits, labels.bool()), TypeError, "labels must be integers, got torch.bool"),
        (lambda: loss(logits, labels + 2), ValueError, r"labels must be in -1 \.\.\. 4, got 5"),
        (lambda: loss(logits, labels - 2), ValueError, r"labels must be in -1 \.\.\. 4, got -2"),
        (lambda: OnProposals(MAPLoss(blackbox), "margin"), ValueError, "one of 'log-odds', .* got 'margin'"),
        (lambda: OnProposals(torch.nn.CrossEntropyLoss), TypeError, "loss must be a loss .* got <class"),
    )

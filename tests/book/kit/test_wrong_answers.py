"""What readers are told of answers that they really give: refused, in words that fit, and without the answer."""

import math
import re
import sys
from functools import cache

import numpy as np
import pytest
import torch

from rankbook.kit.check import check, find, names
from rankbook.kit.check.compare import same
from rankbook.kit.check.running import outcomes, value_of
from rankbook.kit.check.wording import show_case, show_value
from rankedu import reference as plain

#: What is written as one would say it at a desk, for the exercise that it is compared with.
right = cache(lambda name: find(name).reference)


def sigmoid_rank(scores, temperature):
    return np.array(plain.sigmoid_rank(scores, temperature))


def margin_gradient(scores, relevance, lam, margin, best=-1):
    """Algorithm 1 in NumPy, with the largest score at rank 1 or, for best = 1, at the end."""
    shifted = scores + margin * (0.5 - relevance)
    before, after = (np.argsort(np.argsort(best * y)) for y in (shifted, shifted + lam * relevance))
    return (after - before) / lam


def twice_the_scores(memory):
    """A memory whose list has the right shape, and scores that no known mistake returns."""

    def remember(scores, relevance):
        listed, marks = memory(scores, relevance)
        return 2 * listed, marks

    return remember


def in_float32(y, rel):
    """Average precision whose ties are broken by noise."""
    return right("average_precision")(y + 1e-9 * np.random.default_rng(0).random(len(y)), rel)


def margin_of_calibration(y, rel, a, b):
    return np.maximum(a - y, 0)[rel].mean() - np.maximum(y - b, 0)[~rel].mean()


def blame_from_the_bottom(y, rel):
    each = zip(y, rel, strict=True)
    return [0 if r else sum(1 / (y <= b).sum() for b in y[rel] if b < s) / rel.sum() for s, r in each]


def aps_by_class(y, rel):
    return np.array([right("average_precision")(a, b) for a, b in zip(y.T, rel.T, strict=True)])


def hypergeometric(rank, n, batch):
    return n / (batch * rank) * (1 - math.comb(n - rank - 1, batch) / math.comb(n, batch))


#: Exercise, a wrong answer that no list of known mistakes was made from, and what the reader is told of it.
WRONG = [
    ("rank_min", lambda y: np.argsort(np.argsort(-y)), "where every entry is too small by exactly one"),
    ("rank_min", lambda y: [1 + sum(b > a for b in y[i:]) for i, a in enumerate(y)], "whose entry 1 is too small"),
    ("rank_min", lambda y: 1 + np.searchsorted(np.sort(-y), -y, side="right"), r"counts >= \(each item itself\)"),
    ("rank_min", lambda y: 1 + (y[None] > y[:, None]).sum(1, keepdims=True), "the right numbers in the shape"),
    ("average_precision", lambda y, r: right("average_precision")(np.delete(y, 0), np.delete(r, 0)), "too large"),
    ("average_precision", lambda y, r: np.mean([(r & (y > s)).sum() / (y >= s).sum() for s in y[r]]), "counts > in"),
    ("expected_ap", in_float32, "which is too large"),
    ("expected_ap", lambda y, rel: rel.mean(), "which is too small"),
    ("evaluate", lambda e, labels: right("evaluate")(e, labels)[0], "where shape"),
    ("evaluate", lambda e, labels: right("evaluate")(np.vstack([e, e]), np.tile(labels, 2)), "whose entry"),
    ("blackbox_layer", lambda solver, lam: lambda y: y + (solver(y) - y).detach(), "lets the incoming gradient pass"),
    ("blackbox_layer", lambda solver, lam: lambda y: solver(y).numpy(), "a torch tensor was expected, got ndarray"),
    ("blackbox_layer", lambda solver, lam: solver(torch.zeros(2)), "raised TypeError"),
    ("interpolated_value", lambda f, y, c, lam: (y + lam * c) @ f(y + lam * c) - y @ f(y), r"to divide by λ\."),
    ("interpolated_value", lambda f, y, c, lam: ((y + lam * c) @ f(y) - y @ f(y)) / lam, "evaluates the loss itself"),
    ("audit", lambda y, ranks, swaps: math.nan, "though these swaps are a proof"),
    ("audit", lambda y, ranks, swaps: "proved", "a str that can't be read as numbers"),
    ("audit", lambda y, ranks, swaps: len(swaps) > 0, "which is not so"),
    ("audit", lambda y, ranks, swaps: np.diff(y[np.argsort(ranks)]).clip(0).sum(), "which is too small"),
    ("audit", lambda y, ranks, swaps: swaps.pop() if swaps else 0.0, "which is too large"),
    ("minimisers", lambda y: [np.argsort(-y)], "too small by exactly one"),
    ("minimisers", lambda y: right("minimisers")(y)[1:], "where shape"),
    ("sort_by_swaps", lambda y, ranks: sorted(y), "which is not a list of whole numbers"),
    ("sort_by_swaps", lambda y, ranks: list(range(1, len(y))), "where swap 1"),
    ("blackbox_rank", lambda y, lam: 1 + y.argsort(descending=True).argsort(), "returns the ranks alone"),
    ("blackbox_rank", lambda y, lam: y + (y.argsort() - y).detach(), "whose entry"),
    ("blackbox_rank", lambda y, lam: y.tolist(), "a torch tensor was expected, got list"),
    ("lam_code", lambda lam, n: lam / (n - 1), "which is too large"),
    ("lam_code", lambda lam, n: lam // n, "the whole part of the right"),
    ("interpolated_loss", lambda y, c, lam: (np.sort(y + lam * c) - np.sort(y)).sum() / lam, "which is too small"),
    ("interpolated_loss", lambda y, c, lam: c @ right("rank_min")(y + lam / 2 * c), "which is too"),
    ("expected_batch_precision", lambda rank, n, batch: n / (batch * rank), "which is too large"),
    ("expected_batch_precision", hypergeometric, "raised ValueError"),
    ("Memory", lambda length: lambda y, rel: (torch.cat([y, y]), torch.cat([rel, rel])), "whose entry"),
    ("Memory", lambda length: twice_the_scores(find("Memory").mistakes[0][0](length)), "whose entry"),
    ("Memory", lambda length: lambda y, rel: None, "nothing returned yet"),
    ("Memory", lambda: None, "can't be called with the arguments length"),
    ("all_values_near_a_tie", lambda r: sorted(set(right("all_values_near_a_tie")(r)) - {1.0}), "where shape"),
    ("all_values_near_a_tie", lambda r: set(right("all_values_near_a_tie")(r)), "where 2 numbers were expected"),
    ("margin_gradient", lambda y, r, lam, m: 0 * y, "does not rank by the first feature"),
    ("margin_gradient", lambda y, r, lam, m: 1.0 - 2 * r, "too long: the margin"),
    ("margin_gradient", lambda y, r, lam, m: margin_gradient(y, r, lam, m, best=1), "or ranks from the bottom"),
    ("margin_gradient", lambda y, r, lam, m: y[r], "raised ValueError"),
    ("loss_from_weights", lambda y, rel, w: w(0), "raised ZeroDivisionError"),
    ("loss_from_weights", lambda y, rel, w: [w(1 + r) for r in np.flatnonzero(rel)], "where one number was expected"),
    ("weights_from_W", lambda W: W[1:] - W[0], r"returns W itself without W\(0\)\."),
    ("weights_from_W", lambda W: np.append(np.diff(W), 0), "where shape"),
    ("ap_loss", lambda ranker, y, rel: float(1 - (1 / ranker(y)[rel]).mean()), "a torch tensor was expected"),
    ("ap_loss", lambda ranker, y, rel: ranker(y)[rel].mean(), "whose entry 0 is too large"),
    ("ap_gradient_wrt_ranks", lambda ranks: 1 / ranks**2 / len(ranks), "leaves out the rank within"),
    ("ap_gradient_wrt_ranks", lambda ranks: -1 / ranks**2, "whose entry 0 is too small"),
    ("class_agnostic_ap", lambda y, rel: np.mean(rel), "which is too small"),
    ("class_agnostic_ap", aps_by_class, "where one number was expected"),
    ("smooth_ap", lambda y, r, t: np.mean(sigmoid_rank(y[r], t)) / np.mean(sigmoid_rank(y, t)[r]), "divides sums"),
    ("smooth_ap", lambda y, r, t: np.mean(sigmoid_rank(y, t)[r] / sigmoid_rank(y[r], t)), "which is too large"),
    ("smooth_ap_gradient", lambda y, rel, t: right("smooth_ap_gradient")(y, rel, 2 * t), "whose entry 0 is too"),
    ("smooth_ap_gradient", lambda y, rel, t: right("smooth_ap_gradient")(y, rel, t)[rel], "where shape"),
    ("operating_width", lambda t, s: tau * 2, "raised NameError: name 'tau'"),  # noqa: F821
    ("operating_width", lambda t, s: 2 * t * np.arccosh(np.sqrt(4 * t * s)), "which is not a number"),
    ("fast_ap", lambda y, rel, b: right("fast_ap")(y, rel, 2 * b), "which is too"),
    ("fast_ap", lambda y, rel, b: right("fast_ap")(y, ~rel, b), "which is too"),
    ("histogram_rank", lambda y, b: np.round(right("histogram_rank")(y, b)), "whose entry 0 is too small"),
    ("histogram_rank", lambda y, b: right("histogram_rank")(-y, b), "gives the largest score the"),
    ("teach_to_sort", lambda net, draw, steps: net(draw()), "raised TypeError"),
    ("teach_to_sort", lambda net, draw, steps: torch.nn.Identity(), "times what always answering the middle gives"),
    ("spearman_loss", lambda a, b: 1 - 6 * np.sum((a - b) ** 2) / len(a) / (len(a) ** 2 - 1), "one minus what was ask"),
    ("spearman_loss", lambda a, b: 6 * np.sum((a - b) ** 2) / (len(a) * len(a) ** 2 - 1), "which is too small"),
    ("soft_ranks", lambda y, s: np.sort(right("soft_ranks")(y, s)), "returns the ranks in sorted"),
    ("soft_ranks", lambda y, s: np.round(right("soft_ranks")(y, s)), "whose entry 0 is too small"),
    ("equal_distortion", lambda y, c, share: 2 * right("equal_distortion")(y, c, share), r"tanh\(x/2\)"),
    ("equal_distortion", lambda y, c, share: right("equal_distortion")(y, c, 2 * share), "which is too large"),
    ("projection_gradient", lambda y, c, s: right("projection_gradient")(y, c, 2 * s), "whose entry"),
    ("projection_gradient", lambda y, c, s: right("soft_ranks")(y, s) @ c, "where shape"),
    ("error_driven_update", lambda y, rel, d: right("error_driven_update")(y, rel, 2 * d), "whose entry 0 is too"),
    ("error_driven_update", lambda y, rel, d: right("error_driven_update")(y, rel, d) / 2, "small by the same factor"),
    ("levels_by_prefix", lambda q, p: 1 + right("levels_by_prefix")(q, p), "too large by exactly one"),
    ("levels_by_prefix", lambda q, p: np.argmin(p == q, axis=1), "whose entry 0 is too small"),
    ("relevance_eq4", lambda lab, a: (lab // lab.max()) ** a / np.bincount(lab)[lab], "whose entry 1 is too small"),
    ("relevance_eq4", lambda lab, a: (lab / lab.max()) ** a / np.bincount(lab)[lab].sum(), "whose entry 0 is too"),
    ("h_ap_from_rankings", lambda among, rel: sum(among(rel >= r).sum() for r in rel), "called too often"),
    ("h_ap_from_rankings", lambda among, rel: among(rel > 0), "where one number was expected"),
    ("supremum_step", lambda x, t, s, d, o, a: 1 / (1 + np.exp(-x / t)) + a * (x > 0), "whose entry 4 is too small"),
    ("supremum_step", lambda x, t, s, d, o, a: np.where(x > d, s * (x - d) + o, 1 / (1 + np.exp(-x / t))), "the start"),
    ("supremum_step", lambda x, t, s, d, o, a: 1 / (1 + math.exp(-x / t)), "raised TypeError"),
    ("hap_loss", lambda y, rel, step: right("hap_loss")(y, rel, lambda x: 2 * step(x)), "which is too large"),
    ("hap_loss", lambda y, rel, step: step(y), "where one number was expected"),
    ("broken_bound", lambda t, s, d: ([0.0, 0.0], [0.0, 1.0]), "where scores must differ"),
    ("broken_bound", lambda t, s, d: [1.0, 2.0, 3.0], "not two lists"),
    ("broken_bound", lambda t, s, d: ([3 * d, 0.0], [0.0, 1.0]), "is not below"),
    ("clustering_loss", lambda e, p, c, t: np.mean(-np.log(np.exp(e @ p.T / t))), "which is too small"),
    ("clustering_loss", lambda e, p, c, t: right("clustering_loss")(e, p, c, 1 / t), "multiplies by the temperature:"),
    ("contrastive_loss", lambda e, lab, m: right("contrastive_loss")(2 * e, lab, m), "which is too large"),
    ("contrastive_loss", lambda e, lab, m: right("contrastive_loss")(e, lab, 2 * m), "which is too large"),
    ("calibration_loss", margin_of_calibration, "which is too small"),
    ("calibration_loss", lambda y, r, a, b: (a - y)[r & (y < a)].mean() + (y - b)[~r & (y > b)].mean(), "not a number"),
    ("csl_loss", lambda s, lab, m, k: right("csl_loss")(s, lab, m, 1 / k), "which is too large"),
    ("csl_loss", lambda s, lab, m, k: right("csl_loss")(s, lab, -m, k), "which is too small"),
    ("pulls", lambda x, gradient: gradient(x) @ np.linalg.pinv(x), "whose entry"),
    ("pulls", lambda x, gradient: right("pulls")(x, gradient) + np.eye(len(x)), r"entry \(0, 0\) is too large"),
    ("no_threshold", lambda gap: [0.0, 1.0, 2.0], "not two lists"),
    ("no_threshold", lambda gap: ([0.0, 1.0, 90.0], [0, 0, 1]), "each with two items"),
    ("no_threshold", lambda gap: ([0.0, 100.0, 101.0, 102.0], [0, 0, 1, 1]), "where item 1 does not rank all of its"),
    ("no_threshold", lambda gap: ([0.0, 10.0, 100.0, 120.0], [0, 0, 1, 1]), "the most similar negative pair has"),
    ("blame", lambda y, rel: right("blame")(y, ~rel), "whose entry 0 is too large"),
    ("blame", blame_from_the_bottom, "counts ranks from the bottom"),
    ("proposal_loss", lambda z, labels, m: right("proposal_loss")(z, np.roll(labels, 1), m), "which is too"),
    ("proposal_loss", lambda z, labels, m: right("proposal_loss")(z, labels - 1, m), "which is too"),
    ("least_lambda", lambda y, rel, m: right("least_lambda")(y, rel, 2 * m), "which is too"),
    ("least_lambda", lambda y, rel, m: min(a - b for a in y[~rel] for b in y[rel] if a > b), "which is too small"),
    ("chance_of_absence", lambda s, p, length: 1 - s * p * (1 + length), "adds the chances of the"),
    ("chance_of_absence", lambda s, p, length: (1 - s) ^ p, "raised TypeError"),
    ("voc_ap", lambda h, o: right("average_precision")(-np.arange(len(h)), h), "which is too large"),
    ("voc_ap", lambda h, o: right("voc_ap")(h, o) * o, "adds the precisions up, without"),
]
#: What is wrong with any answer that is made of the right one so.
CHANGED = {
    "doubled": lambda value: 2 * value,
    "negated": lambda value: -value,
    "shifted": lambda value: value + 0.1,
    "reversed": lambda value: value[::-1] if np.ndim(value) else value,
    "twice": lambda value: [value, value],
}


@pytest.fixture
def tried(monkeypatch):
    """What came of the inputs that `check` tried last; one training serves all that compare with it."""
    seen, trained = [], {}

    def remember(exercise, function):
        seen[:] = outcomes(exercise, function)
        return seen

    def value_once(exercise, function, given):
        if exercise.name not in ("teach_to_sort", "margin_gradient"):
            return value_of(exercise, function, given)
        if (function, str(given)) not in trained:
            trained[function, str(given)] = value_of(exercise, function, given)
        return trained[function, str(given)]

    monkeypatch.setattr(sys.modules["rankbook.kit.check.check"], "outcomes", remember)
    for module in ("check", "running"):
        monkeypatch.setattr(sys.modules[f"rankbook.kit.check.{module}"], "value_of", value_once)
    return seen


@cache
def rights(name):
    """The right answers as they are shown, but for those of a sum without a term, and of yes or no."""
    return {show_value(find(name).right(case)) for case in find(name).cases()} - {"0", "True", "False"}


def gives_away(name, feedback, tried):
    """Whether `check` adds the right answer to one of the inputs to what it says of the inputs and of what came."""
    text = str(feedback)
    for shown in (*(show_case(one.case) for one in tried), *(f" {show_value(one.value)}" for one in tried)):
        text = text.replace(shown, "…")
    return any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", text) for value in rights(name))


def test_every_exercise_has_two_or_more_of_them():
    assert all(sum(name == row[0] for row in WRONG) >= 2 for name in names())


@pytest.mark.parametrize("name", names())
def test_wrong_answers_are_told_what_is_wrong_and_not_what_is_right(name, tried):
    mistakes = find(name).mistakes
    for function, hint in mistakes:
        feedback = check(name, function)
        assert not feedback and hint in feedback.hint
        assert sum(other in feedback.hint for _, other in mistakes) == 1, hint
        assert not gives_away(name, feedback, tried), hint
    for _, function, said in (row for row in WRONG if row[0] == name):
        feedback = check(name, function)
        assert not feedback and re.search(said, str(feedback)), (said, str(feedback))
        assert not gives_away(name, feedback, tried), str(feedback)


@pytest.mark.parametrize("name", [name for name in names() if not (find(name).use or find(name).judge)])
def test_what_every_function_can_get_wrong(name, tried):
    answer, case = right(name), find(name).cases()[0]
    first = next(iter(case))

    def in_place(*given):
        value = answer(*given)
        given[0][:] = 0
        return value

    for way, change in CHANGED.items():
        values = [np.asarray(find(name).right(case)) for case in find(name).cases()]
        feedback = check(name, lambda *given, change=change: change(np.asarray(answer(*given))))
        assert feedback.passed == all(same(np.asarray(change(value)), value) for value in values), way
        assert not gives_away(name, feedback, tried), (way, str(feedback))
    said = {
        "printed something and returned nothing": lambda *given: print(answer(*given)),
        "expected": lambda *given: [[answer(*given)] * 2],
        "raised ZeroDivisionError": lambda *given: answer(*given) + 1 / 0,
    }
    if isinstance(case[first], np.ndarray):
        said[f"changed its argument {first} in place"] = in_place
    for pattern, function in said.items():
        assert pattern in str(check(name, function)), pattern

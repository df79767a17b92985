"""What readers are told of answers that they really give: refused, in words that fit, and without the answer."""

import math
import re
from functools import cache

import numpy as np
import pytest
import torch

from rankbook.kit.check import Feedback, check, find, names
from rankbook.kit.check.patterns import relation, where_wrong
from rankbook.kit.check.running import outcomes
from rankbook.kit.check.wording import show_case, show_value
from rankedu import reference as plain


def reference(name):
    return find(name).reference


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


#: Exercise → wrong answers that no list of known mistakes was made from, and what the reader is told of each.
WRONG = {
    "rank_min": [
        (lambda y: np.argsort(np.argsort(-y)), "where every entry is too small by exactly one"),
        (lambda y: 1 + np.argsort(np.argsort(y)), "which holds the right numbers in another order"),
        (lambda y: [1 + sum(b > a for b in y[i:]) for i, a in enumerate(y)], "whose entry 1 is too small"),
        (lambda y: 1 + np.searchsorted(np.sort(-y), -y, side="right"), r"counts >= \(each item itself\)"),
        (lambda y: print(1 + (y[None] > y[:, None]).sum(1)), "printed something and returned nothing"),
        (lambda y: 1 + (y[None] > y[:, None]).sum(0), "counts smaller scores: the largest"),
        (lambda y: 1 + (y[None] > y[:, None]).sum(1, keepdims=True), "the right numbers in the shape"),
    ],
    "average_precision": [
        (lambda y, rel: reference("average_precision")(np.delete(y, 0), np.delete(rel, 0)), "which is too large"),
        (
            lambda y, rel: np.mean([(rel & (y > s)).sum() / (y >= s).sum() for s in y[rel]]),
            "counts > in the numerator:",
        ),
        (
            lambda y, rel: [(rel & (y >= s)).sum() / (1 + (y > s).sum()) for s in y[rel]],
            "where one number was expected",
        ),
    ],
    "expected_ap": [
        (
            lambda y, rel: reference("average_precision")(y + 1e-9 * np.random.default_rng(0).random(len(y)), rel),
            "which is too large",
        ),
        (lambda y, rel: rel.mean(), "which is too small"),
        (lambda y, rel: [reference("expected_ap")(y, rel)] * 2, "where one number was expected"),
    ],
    "evaluate": [
        (lambda e, labels: 100 * reference("evaluate")(e, labels), "too large by the same factor"),
        (lambda e, labels: reference("evaluate")(e, labels)[0], "where shape"),
        (lambda e, labels: reference("evaluate")(np.vstack([e, e]), np.tile(labels, 2)), "whose entry"),
    ],
    "blackbox_layer": [
        (lambda solver, lam: lambda y: y + (solver(y) - y).detach(), "lets the incoming gradient pass through"),
        (lambda solver, lam: lambda y: solver(y).numpy(), "a torch tensor was expected, got ndarray"),
        (lambda solver, lam: solver(torch.zeros(2)), "raised TypeError"),
        (lambda solver, lam: lambda y: solver(y + lam), "returns the solution alone"),
    ],
    "interpolated_value": [
        (lambda f, y, c, lam: (y + lam * c) @ f(y + lam * c) - y @ f(y), r"forgets to divide by λ\."),
        (lambda f, y, c, lam: ((y + lam * c) @ f(y) - y @ f(y)) / lam, r"evaluates the loss itself, c·s\(y\):"),
        (lambda f, y, c, lam: (y + lam * c) * f(y + lam * c) - y * f(y), "where one number was expected"),
    ],
    "audit": [
        (lambda y, ranks, swaps: math.nan, "though these swaps are a proof"),
        (lambda y, ranks, swaps: "proved", "a str that can't be read as numbers"),
        (lambda y, ranks, swaps: len(swaps) > 0, "which is"),
        (lambda y, ranks, swaps: np.diff(y[np.argsort(ranks)]).clip(0).sum(), "which is too small"),
        (lambda y, ranks, swaps: swaps.pop() if swaps else 0.0, "which is too large"),
        (lambda y, ranks, swaps: sum(y[r] - y[r - 1] for r in swaps), "which is too small"),
    ],
    "minimisers": [
        (lambda y: np.argsort(-y), "where shape"),
        (lambda y: [np.argsort(-y)], "too small by exactly one"),
        (lambda y: 2 * reference("minimisers")(y), "where shape"),
        (lambda y: reference("minimisers")(y)[1:], "where shape"),
        (lambda y: [[1 + i for i in range(len(y))]], "in another order"),
    ],
    "sort_by_swaps": [
        (lambda y, ranks: sorted(y), "which is not a list of whole numbers"),
        (lambda y, ranks: list(range(1, len(y))), "where swap 1"),
        (lambda y, ranks: [(1, 2)], "which is not a list of whole numbers"),
        (lambda y, ranks: np.argsort(-y), "where swap 2 is at rank 0: the upper rank of a swap is from 1 to 1 here"),
        (lambda y, ranks: ranks.sort(), "nothing returned yet"),
    ],
    "blackbox_rank": [
        (lambda y, lam: 1 + y.argsort(descending=True).argsort(), "returns the ranks alone"),
        (lambda y, lam: y + (y.argsort() - y).detach(), "whose entry"),
        (lambda y, lam: 1 + np.argsort(y), "raised RuntimeError"),
        (lambda y, lam: y.tolist(), "a torch tensor was expected, got list"),
    ],
    "lam_code": [
        (lambda lab, n: lab / (n - 1), "which is too large"),
        (lambda lab, n: lab // n, "the whole part of the right"),
        (lambda lab, n: lab / n + 1e-3, "too large by the same amount"),
    ],
    "interpolated_loss": [
        (lambda y, c, lam: (np.sort(y + lam * c) - np.sort(y)).sum() / lam, "which is too small"),
        (lambda y, c, lam: c @ reference("rank_min")(y + lam / 2 * c), "which is too"),
        (
            lambda y, c, lam: reference("interpolated_loss")(y, c, lam) / len(y),
            "divided once more by the number of items",
        ),
    ],
    "expected_batch_precision": [
        (lambda rank, n, batch: n / (batch * rank), "which is too large"),
        (
            lambda rank, n, batch: n / (batch * rank) * (1 - math.comb(n - rank - 1, batch) / math.comb(n, batch)),
            "raised ValueError",
        ),
    ],
    "Memory": [
        (lambda length: lambda y, rel: (torch.cat([y, y]), torch.cat([rel, rel])), "whose entry"),
        (lambda length: twice_the_scores(find("Memory").mistakes[0][0](length)), "whose entry"),
        (lambda length: lambda y, rel: y.tolist(), "raised"),
        (lambda length: lambda y, rel: None, "nothing returned yet"),
        (lambda: None, "can't be called with the arguments length"),
    ],
    "all_values_near_a_tie": [
        (lambda r: sorted(set(reference("all_values_near_a_tie")(r)) - {1.0}), "where shape"),
        (lambda r: set(reference("all_values_near_a_tie")(r)), "where 2 numbers were expected"),
    ],
    "margin_gradient": [
        (lambda y, r, lam, m: 0 * y, "does not rank by the first feature"),
        (lambda y, r, lam, m: 1.0 - 2 * r, "too long: the margin"),
        (lambda y, r, lam, m: margin_gradient(y, r, lam, m, best=1), "or ranks from the bottom: rank 1 is the largest"),
        (lambda y, r, lam, m: -margin_gradient(y, r, -lam, m), "moves the scores against the incoming gradient"),
        (lambda y, r, lam, m: lam * margin_gradient(y, r, lam, m), r"forgets to divide by λ\."),
        (lambda y, r, lam, m: y[r], "raised ValueError"),
    ],
    "loss_from_weights": [
        (lambda y, rel, w: w(0), "raised ZeroDivisionError"),
        (lambda y, rel, w: w[0], "raised TypeError"),
        (lambda y, rel, w: [w(1 + r) for r in np.flatnonzero(rel)], "where one number was expected"),
    ],
    "weights_from_W": [
        (lambda W: W[1:] - W[0], r"returns W itself without W\(0\)\."),
        (lambda W: np.diff(W)[::-1], "which holds the right numbers in reverse order"),
        (lambda W: np.append(np.diff(W), 0), "where shape"),
    ],
    "ap_loss": [
        (lambda ranker, y, rel: 1 - (ranker.among(y, rel) / ranker(y)).detach()[rel], "raised TypeError|where"),
        (lambda ranker, y, rel: float(1 - (1 / ranker(y)[rel]).mean()), "a torch tensor was expected, got float"),
        (lambda ranker, y, rel: ranker(y)[rel].mean(), "whose entry 0 is too large"),
        (lambda ranker, y, rel: 1 - (ranker(y[rel]).detach() / ranker(y)[rel]).mean() / 2, "whose entry 0"),
    ],
    "ap_gradient_wrt_ranks": [
        (
            lambda ranks: np.sort(reference("ap_gradient_wrt_ranks")(ranks)),
            "which holds the right numbers in reverse order",
        ),
        (lambda ranks: 1 / ranks**2 / len(ranks), "leaves out the rank within"),
        (lambda ranks: -1 / ranks**2, "whose entry 0 is too small"),
    ],
    "class_agnostic_ap": [
        (lambda y, rel: np.mean(rel), "which is too small"),
        (lambda y, rel: reference("average_precision")(y, rel), "raised ValueError"),
        (
            lambda y, rel: np.array([reference("average_precision")(a, b) for a, b in zip(y.T, rel.T, strict=True)]),
            "where one number was expected",
        ),
    ],
    "smooth_ap": [
        (
            lambda y, rel, t: np.mean(sigmoid_rank(y[rel], t)) / np.mean(sigmoid_rank(y, t)[rel]),
            "divides sums: the mean is",
        ),
        (
            lambda y, rel, t: np.mean(sigmoid_rank(y, t)[rel] / sigmoid_rank(y[rel], t)),
            "which is too large",
        ),
        (
            lambda y, rel, t: sigmoid_rank(y[rel], t) / sigmoid_rank(y, t)[rel],
            "where one number was expected",
        ),
    ],
    "smooth_ap_gradient": [
        (lambda y, rel, t: reference("smooth_ap_gradient")(y, rel, 2 * t), "whose entry 0 is too"),
        (lambda y, rel, t: reference("smooth_ap_gradient")(y, rel, t)[rel], "where shape"),
        (lambda y, rel, t: 2 * reference("smooth_ap_gradient")(y, rel, t), "too large by the same factor"),
    ],
    "operating_width": [
        (lambda t, s: tau * 2, "raised NameError: name 'tau'"),  # noqa: F821
        (lambda t, s: 2 * t * np.arccosh(np.sqrt(4 * t * s)), "which is not a number"),
        (lambda t, s: t * np.arccosh(np.sqrt(1 / (4 * t * s))), "too small by the same factor"),
        (lambda t, s: 2 * t * np.arccosh(1 / (4 * t * s)), "which is too large"),
    ],
    "fast_ap": [
        (lambda y, rel, b: rel.mean(), "which is too small"),
        (lambda y, rel, b: reference("fast_ap")(y, rel, 2 * b), "which is too"),
        (lambda y, rel, b: reference("average_precision")(y, rel), "which is too large"),
        (lambda y, rel, b: reference("fast_ap")(y, ~rel, b), "which is too"),
    ],
    "histogram_rank": [
        (lambda y, b: np.round(reference("histogram_rank")(y, b)), "whose entry 0 is too small"),
        (lambda y, b: reference("histogram_rank")(-y, b), "gives the largest score the"),
        (lambda y, b: np.sort(reference("histogram_rank")(y, b)), "which holds the right numbers in another order"),
    ],
    "teach_to_sort": [
        (lambda net, draw, steps: net(draw()), "raised TypeError"),
        (lambda net, draw, steps: torch.nn.Identity(), "times what always answering the middle gives"),
        (lambda net, draw, steps: [draw() for _ in range(steps)] and None, "nothing returned yet"),
    ],
    "spearman_loss": [
        (
            lambda a, b: 1 - 6 * np.sum((a - b) ** 2) / len(a) / (len(a) ** 2 - 1),
            r"one minus what was asked for\. \(Right on",
        ),
        (lambda a, b: 6 * np.sum((a - b) ** 2) / (len(a) * len(a) ** 2 - 1), "which is too small"),
    ],
    "soft_ranks": [
        (lambda y, s: reference("soft_ranks")(y, s)[::-1], "which holds the right numbers in reverse order"),
        (lambda y, s: np.sort(reference("soft_ranks")(y, s)), "returns the ranks in sorted"),
        (lambda y, s: np.round(reference("soft_ranks")(y, s)), "whose entry 0 is too small"),
    ],
    "equal_distortion": [
        (lambda y, c, share: 2 * reference("equal_distortion")(y, c, share), r"tanh\(x/2\)"),
        (lambda y, c, share: 3 * reference("equal_distortion")(y, c, share), "too large by the same factor"),
        (lambda y, c, share: reference("equal_distortion")(y, c, 2 * share), "which is too large"),
        (lambda y, c, share: 0.001, "which is too small"),
    ],
    "projection_gradient": [
        (lambda y, c, s: reference("projection_gradient")(y, c, s) / 2, "too small by the same factor"),
        (lambda y, c, s: reference("projection_gradient")(y, c, 2 * s), "whose entry"),
        (lambda y, c, s: reference("soft_ranks")(y, s) @ c, "where shape"),
    ],
    "error_driven_update": [
        (lambda y, rel, d: reference("error_driven_update")(y, rel, 2 * d), "whose entry 0 is too small"),
        (lambda y, rel, d: reference("error_driven_update")(y, rel, d) / 2, "too small by the same factor"),
    ],
    "levels_by_prefix": [
        (lambda q, p: 1 + reference("levels_by_prefix")(q, p), "too large by exactly one"),
        (lambda q, p: np.argmin(p == q, axis=1), "whose entry 0 is too small"),
    ],
    "relevance_eq4": [
        (lambda lab, a: (lab // lab.max()) ** a / np.bincount(lab)[lab], "whose entry 1 is too small"),
        (lambda lab, a: (lab / lab.max()) ** a / np.bincount(lab)[lab].sum(), "whose entry 0 is too small"),
    ],
    "h_ap_from_rankings": [
        (lambda among, rel: sum(among(rel >= r).sum() for r in rel), "called too often"),
        (lambda among, rel: rel.mean() / rel.max(), "which is too small"),
        (lambda among, rel: among(rel > 0), "where one number was expected"),
    ],
    "supremum_step": [
        (lambda x, t, s, d, o, st: 1 / (1 + np.exp(-x / t)) + st * (x > 0), "whose entry 4 is too small"),
        (
            lambda x, t, s, d, o, st: np.where(x > d, s * (x - d) + o, 1 / (1 + np.exp(-x / t))),
            "leaves the start out: between",
        ),
        (lambda x, t, s, d, o, st: 1 / (1 + math.exp(-x / t)), "raised TypeError"),
        (lambda x, t, s, d, o, st: float(x > 0), "raised TypeError"),
    ],
    "hap_loss": [
        (lambda y, rel, step: reference("hap_loss")(y, rel, lambda x: 2 * step(x)), "which is too large"),
        (lambda y, rel, step: reference("hap_loss")(-y, rel, step), "which is too large"),
        (lambda y, rel, step: step(y), "where one number was expected"),
    ],
    "broken_bound": [
        (lambda t, s, d: ([0.0, 0.0], [0.0, 1.0]), "where scores must differ"),
        (lambda t, s, d: [1.0, 2.0, 3.0], "not two lists"),
        (lambda t, s, d: ([3 * d, 0.0], [0.0, 1.0]), "is not below"),
    ],
    "clustering_loss": [
        (lambda e, p, c, t: np.mean(-np.log(np.exp(e @ p.T / t))), "which is too small"),
        (lambda e, p, c, t: reference("clustering_loss")(e, p, c, 1 / t), "multiplies by the temperature: cosines"),
        (lambda e, p, c, t: reference("clustering_loss")(e, p, c, t) / np.log(2), "too large by the same factor"),
    ],
    "contrastive_loss": [
        (lambda e, lab, m: reference("contrastive_loss")(2 * e, lab, m), "which is too large"),
        (lambda e, lab, m: reference("contrastive_loss")(e, lab, 2 * m), "which is too large"),
    ],
    "calibration_loss": [
        (
            lambda y, rel, a, b: np.maximum(a - y, 0)[rel].mean() - np.maximum(y - b, 0)[~rel].mean(),
            "which is too small",
        ),
        (lambda y, rel, a, b: (a - y)[rel & (y < a)].mean() + (y - b)[~rel & (y > b)].mean(), "which is not a number"),
        (lambda y, rel, a, b: reference("calibration_loss")(y, rel, a, b) / 2, "too small by the same factor"),
    ],
    "csl_loss": [
        (lambda s, lab, m, k: reference("csl_loss")(s, lab, m, 1 / k), "which is too large"),
        (lambda s, lab, m, k: reference("csl_loss")(s, lab, -m, k), "which is too small"),
    ],
    "pulls": [
        (lambda x, gradient: gradient(x) @ np.linalg.pinv(x), "whose entry"),
        (lambda x, gradient: gradient(x), "where shape"),
        (
            lambda x, gradient: reference("pulls")(x, gradient) + np.eye(len(x)),
            "whose entry \\(0, 0\\) is too large",
        ),
        (lambda x, gradient: -gradient(np.eye(len(x))), "whose entry"),
    ],
    "no_threshold": [
        (lambda gap: [0.0, 1.0, 2.0], "not two lists"),
        (lambda gap: ([0.0, 1.0, 90.0], [0, 0, 1]), "each with two items"),
        (lambda gap: ([0.0, 100.0, 101.0, 102.0], [0, 0, 1, 1]), "where item 1 does not rank all of its class"),
        (lambda gap: ([0.0, 10.0, 100.0, 120.0], [0, 0, 1, 1]), "the most similar negative pair has"),
    ],
    "blame": [
        (lambda y, rel: reference("blame")(y, ~rel), "whose entry 0 is too large"),
        (lambda y, rel: -reference("blame")(y, rel), "the right value with the sign"),
        (lambda y, rel: reference("blame")(y, rel)[::-1], "which holds the right numbers in reverse order"),
        (
            lambda y, rel: [
                0 if r else sum(1 / (y <= b).sum() for b in y[rel] if b < s) / rel.sum()
                for s, r in zip(y, rel, strict=True)
            ],
            "counts ranks from the bottom",
        ),
    ],
    "proposal_loss": [
        (lambda z, labels, m: reference("proposal_loss")(z, np.roll(labels, 1), m), "which is too"),
        (lambda z, labels, m: 3 * reference("proposal_loss")(z, labels, m), "too large by the same factor"),
        (lambda z, labels, m: z[:, 1:] - z[:, :1], "where one number was expected"),
        (lambda z, labels, m: reference("proposal_loss")(z, labels - 1, m), "which is too"),
    ],
    "least_lambda": [
        (lambda y, rel, m: reference("least_lambda")(y, rel, 2 * m), "which is too"),
        (lambda y, rel, m: reference("least_lambda")(y, rel, m) / 2, "too small by the same factor"),
        (lambda y, rel, m: min(a - b for a in y[~rel] for b in y[rel] if a > b), "which is too small"),
    ],
    "chance_of_absence": [
        (lambda s, p, lab: 1 - s * p * (1 + lab), "adds the chances of the"),
        (lambda s, p, lab: (1 - s) ** p * (1 + lab), "which is too large"),
        (lambda s, p, lab: (1 - s) ^ p, "raised TypeError"),
    ],
    "voc_ap": [
        (lambda h, o: reference("average_precision")(-np.arange(len(h)), h), "which is too large"),
        (lambda h, o: reference("voc_ap")(h, o) * o, "adds the precisions up, without"),
    ],
}
CASES = [(name, k) for name in WRONG for k in range(len(WRONG[name]))]


def told(name, function, feedback) -> str:
    """The feedback without the input and without what the function returned: what `check` adds of its own."""
    text, tried = str(feedback), outcomes(find(name), function)
    for outcome in tried:
        text = text.replace(show_case(outcome.case), "…")
    for outcome in tried:
        text = text.replace(f" {show_value(outcome.value)}", " …")
    return text


def gives_away(name, text) -> bool:
    """Whether a text holds the right answer to one of the inputs, as a number by itself."""
    return any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", text) for value in rights(name))


@cache
def rights(name) -> set[str]:
    """The right answers as they are shown, but for those of a sum without a term, and of yes or no."""
    return {show_value(find(name).right(case)) for case in find(name).cases()} - {"0", "True", "False"}


@pytest.mark.parametrize(("name", "k"), CASES)
def test_a_wrong_answer_is_told_what_is_wrong_and_not_what_is_right(name, k):
    function, said = WRONG[name][k]
    feedback = check(name, function)
    assert isinstance(feedback, Feedback) and not feedback
    assert re.search(said, str(feedback)), str(feedback)
    assert not gives_away(name, told(name, function, feedback)), str(feedback)


def test_every_exercise_has_two_or_more_of_them():
    assert set(WRONG) == set(names()) and all(len(answers) >= 2 for answers in WRONG.values())


@pytest.mark.parametrize("name", names())
def test_a_known_mistake_gets_its_own_hint_and_not_the_answer(name):
    for function, hint in find(name).mistakes:
        feedback = check(name, function)
        assert not feedback and hint in feedback.hint
        assert sum(other in feedback.hint for _, other in find(name).mistakes) == 1, hint
        assert not gives_away(name, told(name, function, feedback)), hint


@pytest.mark.parametrize("name", [name for name in names() if find(name).use is None])
def test_what_every_function_can_get_wrong(name):
    right = reference(name)
    first = next(iter(find(name).cases()[0]))

    def in_place(*args):
        result = right(*args)
        args[0][:] = 0
        return result

    said = {
        "printed something and returned nothing": lambda *args: print(right(*args)),
        "nothing returned yet": lambda *args: right(*args) and None if np.ndim(right(*args)) == 0 else None,
        "expected": lambda *args: [[right(*args)] * 2],
        "raised ZeroDivisionError": lambda *args: right(*args) + 1 / 0,
    }
    if isinstance(find(name).cases()[0][first], np.ndarray):
        said[f"changed its argument {first} in place"] = in_place
    for pattern, function in said.items():
        if "expected" in pattern and find(name).judge is not None:
            continue
        assert pattern in str(check(name, function)), pattern


def test_what_is_printed_is_seen_all_the_same(capsys):
    check("lam_code", lambda lam, n: print("here", n))
    assert "here 20" in capsys.readouterr().out


def test_the_line_that_raised_is_named():
    def ranks(scores):
        order = scores.argsort()
        return order["first"]

    assert (
        "IndexError" in check("rank_min", ranks).message
        and "(line 3 of your function)" in check("rank_min", ranks).message
    )


def test_a_function_in_torch_is_told_of_its_own_mistake():
    message = check("rank_min", lambda y: y.argsort(descending=True).foo).message
    assert re.search("raised TypeError.*With torch tensors: .* raised AttributeError", message)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda right: -right, "the sign turned round"),
        (lambda right: 1 - right, "one minus what was asked for"),
        (lambda right: np.floor(right), "the whole part"),
        (lambda right: 4 * right, "times the number of items"),
        (lambda right: right / 4, "divided once more by the number of items"),
        (lambda right: 3 * right, "times the number of relevant items"),
        (lambda right: 0.75 * right, "a mean over all items"),
        (lambda right: right / 3, "divided once more by the number of relevant items"),
        (lambda right: 7 * right, "too large by the same factor"),
        (lambda right: 0.1 * right, "too small by the same factor"),
        (lambda right: right + 0.1, "too large by the same amount"),
        (lambda right: right - 0.1, "too small by the same amount"),
    ],
)
def test_a_relation_that_holds_on_every_input_is_named(change, said):
    case = {"scores": np.zeros(4), "relevance": np.array([True, True, True, False])}
    rights = [np.array([0.3, 1.4, 2.2]) * k for k in (1.0, 1.1, 1.7)]
    assert said in relation([(case, right, change(right)) for right in rights])
    assert relation([(case, right, right * [1, 2, 1]) for right in rights]) == ""
    assert relation([(case, rights[0], change(rights[0]))]) == "", "one input shows no pattern"


def test_where_it_goes_wrong_is_named_if_it_goes_wrong_there_only():
    one, two = {"scores": np.array([0.5])}, {"scores": np.array([0.5, 0.1])}
    assert where_wrong([two, two], [one]) == "It goes wrong where there is one entry of scores only, and only there."
    assert where_wrong([two, one], [one]) == "" and where_wrong([two], [one]) == ""


def test_ties_alone_are_named():
    def by_position(scores):
        return 2 * reference("rank_min")(scores) - (1 + np.argsort(np.argsort(-scores, kind="stable"), kind="stable"))

    feedback = check("rank_min", by_position)
    assert "wrong where entries of scores are equal, and only there" in feedback.hint, feedback


def test_a_tensor_or_a_float_is_as_good_as_an_array():
    assert check("average_precision", lambda y, rel: float(reference("average_precision")(y, rel)))
    assert check("average_precision", lambda y, rel: torch.tensor(reference("average_precision")(y, rel)))
    assert check("rank_min", lambda y: tuple(reference("rank_min")(y).tolist()))
    assert math.isclose(reference("lam_code")(4.0, 20), 0.2)

"""What the figures, the study and the table of chapter 17 claim, in numbers."""

import math
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn import gradient, value_and_gradients

from rankbook.ch17_since_then import figures, study
from rankbook.ch17_since_then.live import whom
from rankbook.kit import linear_maps, style
from rankbook.kit.relief import view
from rankedu import losses, reference
from rankedu.losses import NDCGLoss, RecallAtKSurrogateLoss
from rankedu.rankers import BlackboxRanker, IdentityRanker, SigmoidRanker, SupremumRanker


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_printed_rule_for_the_pairs_is_the_gradient_of_the_library_on_random_lists():
    """Equation eq-17-pairs, word for word: who passes and who is passed."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, lam = int(rng.integers(2, 9)), 10 ** rng.uniform(-1.5, 1.5)
        y, g = rng.normal(size=(2, n))
        one, other = np.zeros(n), np.zeros(n)
        for i, j in product(range(n), repeat=2):
            one[i] += (g[i] - g[j]) / n
            if i != j and 0 < (y[j] - y[i]) / (g[i] - g[j]) < lam:
                other[i] += np.sign(g[i] - g[j]) / lam
        for step, ranker in ((one, IdentityRanker("mean")), (other, BlackboxRanker(lam))):
            _, slope = value_and_gradients(ranker, torch.tensor(y), weight=torch.tensor(g))
            assert np.allclose(step, -slope.numpy())


def test_the_steps_of_identity_go_down_what_is_drawn():
    seen = view(60)
    height, step = study.surface(seen), study.field(seen, "mean")
    side = seen.section.axes()[0]
    slope = np.stack(np.gradient(height, side, side)[::-1], -1)
    cosine = -(slope * step).sum(-1) / np.linalg.norm(slope, axis=-1) / np.linalg.norm(step, axis=-1)
    assert cosine.min() > 0.99 and np.allclose(step, step[0, 0])
    assert np.ptp(height[seen.inside]) == pytest.approx(np.ptp(seen.staircase[seen.inside]))
    assert "the same step everywhere" in style.description(figures.landscapes())


def test_on_the_section_the_foot_of_the_plane_is_not_the_least_loss():
    correlation, down = study.guide()
    assert 0 < correlation < 0.3 and 0.2 < down < 0.6
    assert study.guide(size=360) == pytest.approx((correlation, down), abs=0.03), "a grid's"


def test_a_wide_margin_lets_the_projection_spread_the_cosines_and_a_small_one_does_not():
    (wide, correlation), (wide_after, correlation_after) = study.of_a_margin(2.0)
    assert correlation < correlation_after < 0 and wide_after > 1.5 * wide
    (small, _), (small_after, correlation) = study.of_a_margin(0.5)
    assert small_after < 1.1 * small and correlation > 0


@pytest.mark.filterwarnings("ignore:lam=")
@pytest.mark.parametrize("name", study.ARMS)
def test_every_arm_is_a_loss_with_a_gradient(name):
    makes, strengths = study.ARMS[name]
    scores = torch.rand(12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    label, itself = torch.arange(12) // 4, torch.eye(12).bool()
    for make, strength in product(makes, strengths):
        make(strength)(scores, label[:, None] == label, where=~itself).backward()
        assert (scores.grad.any() or strength > 1) and not scores.grad[itself].any(), "a wide margin is out of reach"
        scores.grad = None


def test_the_halves_of_std_are_the_part_along_the_scores_and_the_division():
    scores, gradient = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    members = torch.arange(6) < torch.tensor([[6], [4], [5]])
    centred = (scores - scores.masked_fill(~members, 0).sum(-1, keepdim=True) / members.sum(-1, keepdim=True)) * members
    length = centred.norm(dim=-1, keepdim=True)
    mean, std = (IdentityRanker(kind).backward_of(scores, gradient, members) for kind in ("mean", "std"))
    divided, along = (study.OneHalf(kind).backward_of(scores, gradient, members) for kind in ("mean", "std"))
    assert torch.allclose(divided * length, mean) and torch.allclose(along, std * length)
    assert torch.allclose((along * centred).sum(-1), torch.zeros(3).double()) and not along[~members].any()
    assert torch.allclose(along - mean, -(mean * centred).sum(-1, keepdim=True) * centred / length**2)


def test_the_true_directions_are_those_of_the_baseline():
    found = linear_maps.recall_at_1(linear_maps.data()[2] @ study.directions())
    assert (found == linear_maps.baselines()["the true directions"]).all()


def test_counts_and_averages():
    """Of sigmoids as the library's; and what nothing is remembered of is the gradient of AP, with a scaled count."""
    scores = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    within, above = study.soft_counts(scores)
    label = torch.arange(8) // 4
    relevance, others = (label[:, None] == label).expand(3, -1, -1), ~torch.eye(8).bool().expand(3, -1, -1)
    ranks = SigmoidRanker(study.TEMPERATURE)(scores, where=others)[relevance & others]
    assert torch.allclose((within + above).flatten(), ranks)
    chosen = torch.tensor([[0, 1], [1, 2], [2, 0]])
    averages = study.Averages(1.0, (1, 3), classes=3)
    value = averages((within[None], above[None]), chosen)
    plain = study.average_precision_loss(within, 2 * above).mean()
    found, expected = (torch.autograd.grad(x, scores, retain_graph=True)[0] for x in (value, plain))
    assert torch.allclose(found, expected) and averages.kept.isnan().any()


def test_averages_are_those_of_the_reference():
    generator = torch.Generator().manual_seed(0)
    counts = [torch.rand(1, 1, 8, 3, generator=generator).requires_grad_() for _ in range(2)]
    averages, chosen = study.Averages(0.25, (1, 1), classes=3), torch.tensor([[2, 0]])
    averages.kept = 1 + torch.rand(averages.kept.shape, generator=generator)
    before = averages.kept.clone()
    by_within, by_above = torch.autograd.grad(averages(counts, chosen), counts)
    within, above = (count.detach()[0, 0] for count in counts)
    for query in range(8):
        place = 0, 0, (2, 0)[query // 4], query % 4
        here = torch.stack([within[query], within[query] + 2 * above[query]], -1)
        moved, slopes = reference.soap(before[place].tolist(), here.tolist(), 0.25)
        assert torch.allclose(averages.kept[place], torch.tensor(moved))
        own, among = torch.tensor(slopes).T / 8  # the mean of eight queries
        assert torch.allclose(by_within[0, 0, query], own + among, atol=1e-6)
        assert torch.allclose(by_above[0, 0, query], 2 * among, atol=1e-6)


def test_soft_ranks_are_the_reference_and_the_two_matrices_give_ranks_that_rise_with_the_score():
    y = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    plain = {
        "sigmoid": lambda y: reference.sigmoid_rank(y, 0.3),
        "NeuralSort": lambda y: reference.place_of(reference.neural_sort(y, 0.3)),
        "SoftSort": lambda y: reference.place_of(reference.soft_sort(y, 0.3)),
        "DiffSort": lambda y: reference.place_of(reference.diff_sort(y, 0.3)),
        "LapSum": lambda y: reference.lap_sum_rank(y, 0.3),
    }
    for name, ranks in study.SOFT.items():
        assert ranks(y, 0.3).tolist() == pytest.approx(plain[name](y.tolist())), name
        assert (study.largest_rise(name, 0.1) > 0.01) == (name in ("NeuralSort", "SoftSort"))
        assert (study.by_order(name, 0.1, points=3) > 0.1) == (name == "DiffSort")
        tied = ranks(torch.tensor([0.0, 1e-6], dtype=torch.float64), 0.1)[0].item()
        assert tied == pytest.approx(1.5, abs=1e-3), "no bound: its rank is 2"
    for matrix in (reference.neural_sort, reference.soft_sort):
        rows = [matrix([x, *study.STANDING], 0.1) for x in np.linspace(-1, 1.2, 201)]
        divided = np.array([reference.place_of(of)[0] / sum(row[0] for row in of) for of in rows])
        assert (np.diff(divided) < 1e-9).all(), "divided by the column's sum neither rises"
    far = torch.tensor([1e4, 0.0, -1e4], dtype=torch.float64)
    assert study.lap_sum(far, 0.1).tolist() == pytest.approx([1, 2, 3])


#: The table at the end, cell by cell.
TEXT = (Path(study.__file__).parents[2] / "chapters" / "17_since_then.md").read_text(encoding="utf-8")
ROWS = TEXT.partition("| value exact? |")[2].partition("\n\n")[0].splitlines()[2:]
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in ROWS]
#: For rows of the table: a loss, and whose true loss it shall bound.
HELD = {
    "interpolation": losses.APLoss(BlackboxRanker(1.0)),
    "identity with projection": losses.APLoss(IdentityRanker()),
    "SupAP": losses.SupAPLoss(),
    "recall at k": losses.RecallAtKSurrogateLoss(SupremumRanker(), k=1),
}


@pytest.mark.parametrize("name", HELD)
def test_the_table_says_what_is_exact_and_what_is_a_bound(name):
    [row] = [row for row in TABLE if row[0].startswith(name)]
    generator, exact, bound = torch.Generator().manual_seed(0), [], []
    for spread in (0.005, 0.1, 0.4):
        for _ in range(60):
            y = (spread * torch.randn(6, generator=generator, dtype=torch.float64)).clamp(-1, 1)
            relevant = torch.rand(6, generator=generator) < 0.4
            relevant[int(torch.randint(6, (1,), generator=generator))] = True
            labels = y.tolist(), relevant.tolist()
            best = min(reference.rank(labels[0])[i] for i in range(6) if relevant[i])
            true = float(best > 1) if name == "recall at k" else 1 - reference.average_precision(*labels)
            value = HELD[name](y, relevant).item()
            exact.append(abs(value - true) < 1e-9)
            bound.append(value >= true - 1e-9)
    assert row[1] == ("yes" if all(exact) else "no")
    assert row[3] == ("equal" if all(exact) else "yes" if all(bound) else "no")


def test_in_a_perfect_list_identity_pushes_until_two_values_are_left():
    state = {**whom.START, "guess": "identity", "scores": [0.5, 0.9, 0.3, 0.2, 0.8]}
    shown = whom.whom(state)
    assert shown["state"]["pushed"] == [False, True] and "Right" in shown["found"]
    two = whom.whom({**state, "scores": [0.2, 0.9, 0.2, 0.2, 0.9], "project": "std"})
    assert two["state"]["pushed"] == [False, False] and "neither" in two["found"]
    first = whom.whom(whom.START)["state"]
    assert first["steps"][1] == pytest.approx([-0.4, 0.6, -0.4, -0.4, 0.6]) and not first["perfect"]


# What the chapter proves, held against every list that is short enough to be tried, and against limits


GAINS = [gains for n in (2, 3, 4, 5) for gains in product((0, 1, 3), repeat=n) if len(set(gains)) > 1]


def discount(rank):
    return 1 / math.log2(1 + rank)


@pytest.mark.parametrize("spread", [1e-9, 0.2, 5.0])
def test_lambda_rank_loss_is_no_less_than_the_loss_of_ndcg(spread):
    """Proposition: the pairs in the wrong order alone cover it."""
    rng = np.random.default_rng(0)
    for gains in GAINS:
        y = (spread * rng.standard_normal(len(gains))).tolist()
        true, ranks = 1 - reference.ndcg(y, gains), reference.rank(y)
        ideal = sum(g * discount(r) for g, r in zip(gains, reference.rank(gains), strict=True))
        wrong = sum(
            (gains[i] - gains[j]) * (discount(ranks[j]) - discount(ranks[i]))
            for i, j in permutations(range(len(y)), 2)
            if gains[i] > gains[j] and ranks[i] > ranks[j]
        )
        assert true - 1e-12 <= wrong / ideal <= reference.lambda_rank_loss(y, gains) + 1e-12


def test_lambda_rank_loss_of_pairs_far_apart_is_theirs_in_the_wrong_order_and_ties_count_in_full():
    assert reference.lambda_rank_loss([3.0, 2.0, 1.0], [3, 1, 0], temperature=1e-3) == pytest.approx(0)
    tied = [1.0, 1.0]
    assert reference.lambda_rank_loss(tied, [0, 1]) >= 1 - reference.ndcg(tied, [0, 1])


def test_lambda_rank_s_gradient_with_the_weights_held_is_that_of_the_loss_at_distinct_scores():
    rng = np.random.default_rng(0)
    for gains in GAINS[::3]:
        y, n = rng.standard_normal(len(gains)), len(gains)
        ranks, best = reference.rank(y.tolist()), sorted(gains, reverse=True)
        ideal = sum(gain * discount(place) for place, gain in enumerate(best, 1))
        held = np.zeros(n)
        for i, j in permutations(range(n), 2):
            if gains[i] > gains[j]:
                weight = (gains[i] - gains[j]) * abs(discount(ranks[i]) - discount(ranks[j])) / ideal
                push = weight / (1 + math.exp(y[i] - y[j])) / math.log(2)
                held += push * (np.eye(n)[j] - np.eye(n)[i])
        moved = [[reference.lambda_rank_loss((y + h * e).tolist(), gains) for h in (1e-5, -1e-5)] for e in np.eye(n)]
        assert np.allclose(np.subtract(*np.transpose(moved)) / 2e-5, held, atol=1e-8)


@pytest.mark.filterwarnings("ignore:lam=")
def test_recall_at_k_of_a_small_t_pushes_only_what_stands_at_k():
    y = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5], dtype=torch.float64)
    relevant = torch.tensor([True, True, False, True, False])
    for k, room in ((1, 1), (2, 2), (4, 3)):
        slope = gradient(RecallAtKSurrogateLoss(IdentityRanker("none"), k, temperature=0.01), y, relevant)
        assert slope.tolist() == pytest.approx([-25 / room if rank == k else 0 for rank in (1, 2, 3, 4, 5)])
    of_blackbox = gradient(RecallAtKSurrogateLoss(BlackboxRanker(1.0), 1, temperature=0.01), y, relevant)
    assert not of_blackbox.any(), "rank 1 cannot fall"


def test_the_surrogate_of_recall_counts_one_half_at_k_and_is_no_bound_but_a_hinge_is():
    list_of_2 = [1.0, 0.0], [False, True]
    for temperature in (0.1, 1.0, 5.0):
        assert reference.recall_at_k_surrogate(*list_of_2, 1, temperature) > 0, "the true one is 0"
    for n in (2, 3, 4, 5):
        for relevant in product((False, True), repeat=n):
            if not any(relevant):
                continue
            y, p = list(range(n, 0, -1)), sum(relevant)
            for k in range(1, n + 1):
                within = [sum(relevant[: k - 1]) / min(k, p), sum(relevant[:k]) / min(k, p)]
                found = reference.recall_at_k_surrogate(y, relevant, k, 1e-3)
                assert found == pytest.approx(sum(within) / 2)
                for extra in (0.0, 0.4, 3.0):  # ranks from above
                    ranks = [r + extra for r in reference.rank(y)]
                    hinge = [min(1, max(0, k + 1 - r)) for r, own in zip(ranks, relevant, strict=True) if own]
                    assert sum(hinge) / min(k, p) <= within[1] + 1e-12


@pytest.mark.parametrize(
    ("setting", "holds"), [({}, True), ({"offset": 1.44}, True), ({"offset": 1, "start": 0}, False)]
)
def test_ndcg_of_ranks_from_above_is_a_bound_for_the_settings_of_chapter_14(setting, holds):
    loss, kept = NDCGLoss(SupremumRanker(**setting), gains="linear"), []
    rng = np.random.default_rng(0)
    for gains in GAINS:
        y = torch.from_numpy(0.005 * rng.standard_normal(len(gains)))
        true = 1 - reference.ndcg(y.tolist(), gains)
        kept.append(loss(y, torch.tensor(gains)).item() >= true - 1e-9)
    assert all(kept) == holds


def test_soft_permutations_and_soft_ranks_become_exact_and_keep_their_sums():
    y = [0.3, -0.4, 1.1, 0.6]
    exact = [[float(r == place) for r in reference.rank(y)] for place in (1, 2, 3, 4)]
    for method in (reference.neural_sort, reference.soft_sort, reference.diff_sort):
        assert np.allclose(method(y, 1e-3), exact) and np.allclose(np.sum(method(y, 0.5), 1), 1)
        assert np.allclose(reference.place_of(method(y, 1e-3)), reference.rank(y))
        columns = np.allclose(np.sum(method(y, 0.5), 0), 1)
        assert columns == (method is reference.diff_sort), "of softmax rows, columns need not have the sum 1"
    assert np.allclose(reference.lap_sum_rank(y, 1e-3), reference.rank(y))
    assert sum(reference.lap_sum_rank(y, 0.5)) == pytest.approx(10)


def test_soap_of_this_batch_alone_is_the_gradient_of_ap_and_of_many_batches_that_of_the_whole():
    within, ranks = [1.0, 2.0], [2.0, 5.0]
    _, slopes = reference.soap([(9.0, 9.0)] * 2, list(zip(within, ranks, strict=True)), gamma=1.0)
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (within, ranks)]
    gradients = torch.autograd.grad(1 - (leaves[0] / leaves[1]).mean(), leaves)
    assert np.allclose(np.transpose(slopes), [g.tolist() for g in gradients])
    # One item of rank 4 of seven, 2 relevant ones above it: the mean over all batches of three, scaled, is its rank.
    others, found = [True, True, True, False, False, False], []
    for batch in combinations(others, 2):
        found.append(1 + 6 / 2 * sum(batch))
    assert np.mean(found) == 4 and np.mean([1 / x for x in found]) > 1 / 4

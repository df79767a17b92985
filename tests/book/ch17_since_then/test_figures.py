"""What the figures, the study and the table of chapter 17 claim, in numbers."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from rankbook.ch17_since_then import figures, study
from rankbook.ch17_since_then.live import whom
from rankbook.kit import linear_maps, style
from rankbook.kit.relief import view
from rankedu import losses, reference
from rankedu.rankers import BlackboxRanker, IdentityRanker, SigmoidRanker, SupremumRanker


@pytest.mark.filterwarnings("ignore:lam must")
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
            leaf = torch.tensor(y, requires_grad=True)
            ranker(leaf).backward(torch.tensor(g))
            assert np.allclose(step, -leaf.grad.numpy())


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
    told = study.guide()
    assert 0 < told["correlation"] < 0.3 and told["least"] < told["foot"] - 3


def test_a_wide_margin_lets_the_projection_spread_the_cosines_and_a_small_one_does_not():
    (wide, correlation), (wide_after, correlation_after) = study.of_a_margin(2.0)
    assert correlation < correlation_after < 0 and wide_after > 1.5 * wide
    (small, _), (small_after, correlation) = study.of_a_margin(0.5)
    assert small_after < 1.1 * small and correlation > 0


@pytest.mark.filterwarnings("ignore:lam must")
@pytest.mark.parametrize("name", study.ARMS)
def test_every_arm_is_a_loss_with_a_gradient(name):
    makes, strengths = study.ARMS[name]
    scores = torch.rand(12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    label, itself = torch.arange(12) // 4, torch.eye(12).bool()
    for make, strength in product(makes, strengths):
        make(strength)(scores, label[:, None] == label, where=~itself).backward()
        assert (scores.grad.any() or strength > 1) and not scores.grad[itself].any(), "a wide margin is out of reach"
        scores.grad = None


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


def test_scale_and_average_repair_the_value_of_small_batches_and_neither_does_alone():
    found = study.estimates()
    off = {name: np.abs(value - found["whole set"]).mean() for name, value in found.items()}
    assert off["both"] < 0.03 < 0.1 < off["scaled"] < 0.3 < off["averaged"] < off["small batches"]
    assert all(len(value) == linear_maps.STARTS for value in found.values())


def test_soft_ranks_are_the_reference_and_the_two_matrices_give_ranks_that_rise_with_the_score():
    y = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    plain = {
        "sigmoid": lambda y: reference.sigmoid_rank(y, 0.3),
        "NeuralSort": lambda y: reference.place_of(reference.neural_sort(y, 0.3)),
        "SoftSort": lambda y: reference.place_of(reference.soft_sort(y, 0.3)),
        "LapSum": lambda y: reference.lap_sum_rank(y, 0.3),
    }
    for name, ranks in study.SOFT.items():
        assert ranks(y, 0.3).tolist() == pytest.approx(plain[name](y.tolist())), name
        assert (study.largest_rise(name, 0.1) > 0.01) == (name in ("NeuralSort", "SoftSort"))
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


def test_the_table_has_every_method_once_with_its_chapter():
    assert len(TABLE) == len({row[0] for row in TABLE}) > 7
    assert all(len(row) == 7 and re.fullmatch(r"\{ref\}`(\d+) <ch-0?\1>`", row[6]) for row in TABLE)


def test_in_a_perfect_list_identity_pushes_until_two_values_are_left():
    state = {**whom.START, "guess": "identity", "scores": [0.5, 0.9, 0.3, 0.2, 0.8]}
    shown = whom.whom(state)
    assert shown["state"]["pushed"] == [False, True] and "Right" in shown["found"]
    two = whom.whom({**state, "scores": [0.2, 0.9, 0.2, 0.2, 0.9], "project": "std"})
    assert two["state"]["pushed"] == [False, False] and "neither" in two["found"]
    first = whom.whom(whom.START)["state"]
    assert first["steps"][1] == pytest.approx([-0.4, 0.6, -0.4, -0.4, 0.6]) and not first["perfect"]

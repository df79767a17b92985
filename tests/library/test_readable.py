"""The definitions that `rankedu.readable` asks for: the same numbers, by the code that the book explains."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from drawn import coin, gradient, random

import rankedu
from rankedu import readable
from rankedu._fast.switch import READABLE
from rankedu._fast.tiles import cut
from rankedu.losses import APLoss, HAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker, SigmoidRanker, SupremumRanker

PACKAGE = Path(rankedu.__file__).parent


def entered(work):
    """The files of the package whose functions a piece of work calls, autograd's too."""
    files = set()

    def look(frame, event, argument):
        files.add(frame.f_code.co_filename)

    sys.setprofile(look)
    threading.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {Path(file).relative_to(PACKAGE).as_posix() for file in files if file.startswith(str(PACKAGE))}


def test_metrics_and_ranks_are_their_definitions():
    embeddings, labels = random(90, 5, dtype=torch.float32), torch.arange(90) // 6
    with readable():
        expected = evaluate_retrieval(embeddings, labels)["table"]
        files = entered(lambda: rankedu.rank(random(9000, dtype=torch.float32)))
    for found, row in zip(evaluate_retrieval(embeddings, labels)["table"], expected, strict=True):
        assert found == pytest.approx(row, abs=1e-12)
    assert "_fast/packed.py" not in files


def test_the_readme_s_loss_goes_through_algorithm_1_if_one_asks_for_it():
    loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam="auto"), margin=0.1))
    step = lambda: loss(random(64, 8, dtype=torch.float32).requires_grad_(), torch.arange(64) // 4).backward()  # noqa: E731
    slow = entered(readable()(step))
    assert {"blackbox.py", "rankers/blackbox.py", "ranks.py"} <= slow and "_fast/packed.py" not in slow
    fast = entered(step)
    assert "_fast/packed.py" in fast and "blackbox.py" not in fast
    assert len(fast) <= 8, "the way of a loss is short"


def test_it_may_be_nested_decorates_and_holds_for_one_thread():
    @readable()
    def asked():
        return READABLE.get()

    with readable():
        with readable():
            assert asked()
        assert READABLE.get()
        with ThreadPoolExecutor(1) as other:
            assert not other.submit(READABLE.get).result()
    assert not READABLE.get() and asked() and not READABLE.get()
    with pytest.raises(KeyError), readable():
        raise KeyError
    assert not READABLE.get()


class Reversed(BlackboxRanker):
    """A subclass that ranks otherwise."""

    def _ranks(self, scores, members, where):
        return super()._ranks(-scores, members, where)


class Steeper(SigmoidRanker):
    """Another step, of which no derivative is given."""

    def step(self, differences):
        return super().step(3 * differences)


class Doubled(SupremumRanker):
    """2 σ(x/τ), then the line."""

    def step(self, x):
        return 2 * (x.clamp(max=self.delta) / self.temperature).sigmoid() + self.rho * (x - self.delta).clamp(min=0)


@pytest.mark.parametrize(
    ("ours", "parent"),
    [
        (APLoss(Reversed(40.0)), APLoss(BlackboxRanker(40.0))),
        (APLoss(Steeper(0.1), within_grad=True), SmoothAPLoss(0.1)),
        (APLoss(Doubled(0.1)), SupAPLoss(0.1)),
        (HAPLoss(Doubled(0.1)), HAPLoss(SupremumRanker(0.1))),
        (HAPLoss(Steeper(0.1), within_grad=True), HAPLoss(SigmoidRanker(0.1), within_grad=True)),
    ],
)
def test_a_subclass_that_ranks_otherwise_has_no_closed_form_of_its_parent(ours, parent):
    scores, relevance = random(4, 12, dtype=torch.float32), coin(4, 12).float()
    slowly = readable()(ours)
    torch.testing.assert_close(ours(scores, relevance), slowly(scores, relevance))
    found, expected = gradient(ours, scores, relevance), gradient(slowly, scores, relevance)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(found, gradient(parent, scores, relevance))


def test_no_tile_has_more_pairs_than_allowed_unless_it_is_of_one_item():
    sizes, n = [0, 1, 1, 3, 3, 8, 8, 8], 20
    for most in (1, 60, 400, 10**6):
        seen = set()
        for queries, items in cut(sizes, n, most):
            count = queries.stop - queries.start
            assert count * len(items) * n <= most or count == len(items) == 1
            seen |= {(query, item) for query in range(queries.start, queries.stop) for item in items}
        assert seen >= {(query, item) for query, size in enumerate(sizes) for item in range(size)}

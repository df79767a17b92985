import pytest
import torch

from rankbook.ch09_smooth_ap import explorables, study
from rankedu.rankers import SigmoidRanker


def test_at_the_edge_of_the_region_the_slope_is_the_threshold():
    for temperature in (0.001, 0.01, 0.1, 1.0):
        width = torch.tensor(study.operating_width(temperature), dtype=torch.float64)
        assert SigmoidRanker(temperature).slope(width).item() == pytest.approx(study.THRESHOLD)
    assert study.operating_width(100.0) == 0.0, "nowhere steep enough"


def test_one_network_has_the_same_share_at_all_batch_sizes():
    found = study.shares_while_training((16, 64), images=128)
    assert found["same"][16] == pytest.approx(found["same"][64], abs=0.1)
    assert found["same"][16] > 1 / 16, "the diagonal is in the region"


def test_table_s2_has_printed_and_measured_numbers():
    rows = {row["name"]: row for row in study.table_s2(batch=16, rounds=1)}
    assert [row["printed_ms"] for row in rows.values()] == [3.7, 4.2, 6.6, None, 705.0]
    assert rows.pop("ResNet-50")["measured_ms"] is None, "never on a CPU"
    assert all(row["measured_ms"] > 0 for row in rows.values())


def test_a_larger_batch_has_the_same_share_and_more_items_that_move_and_the_descent_sums_to_zero():
    found = [explorables.measure(0.01, size) for size in explorables.SIZES]
    shares, moved = [share for _, _, share, _ in found], [int((push.abs() > 1e-3).sum()) for *_, push in found]
    assert max(shares) - min(shares) < 0.1 and moved == sorted(moved) and moved[-1] > 5 * moved[0]
    exact, smooth, _, push = explorables.measure(0.001, explorables.SIZES[0])
    assert smooth == pytest.approx(exact, abs=0.02) and push.sum().item() == pytest.approx(0, abs=1e-9)

"""The slider of chapter 5: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

import pytest

from rankbook.ch05_minibatch_bias.explorables import batch_size_and_bias
from rankbook.kit import style


def numbers(**values):
    told = style.description(batch_size_and_bias(**values))
    found = re.search(
        r"lists of (\d+): mean ([\d.]+), standard deviation ([\d.]+), where the data set has ([\d.]+)\. ", told
    )
    return [float(x) for x in found.groups()]


def test_the_mean_falls_to_the_truth():
    means = [numbers(batch_size=m, memory=0)[1] for m in (8, 32, 128, 512)]
    assert means == sorted(means, reverse=True) and means[-1] > numbers()[3]
    length, mean, _, truth = numbers(batch_size=512, memory=1)
    assert length == 1024 and mean == pytest.approx(truth, abs=0.01)


def test_memory_moves_the_mean_and_not_the_spread_as_far():
    small, longer, larger = (numbers(batch_size=m, memory=tau) for m, tau in ((8, 0), (8, 7), (64, 0)))
    assert longer[0] == larger[0] == 64
    assert abs(longer[1] - larger[1]) < 0.06 < small[1] - longer[1]
    assert larger[2] < longer[2] < small[2]

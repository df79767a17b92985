"""The slider of chapter 10: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import pytest
import torch

from rankbook.ch10_fastap_histograms import explorables as chapter
from rankbook.kit import style
from rankedu.losses import FastAPLoss


@pytest.mark.parametrize("bins", chapter.one_score.controls["bins"].values)
@pytest.mark.parametrize("score", [-0.487, 0.413, 0.893])
def test_loss_and_slope_are_those_of_the_package(bins, score):
    leaf = torch.cat([torch.tensor([score], dtype=torch.float64), chapter.FIXED]).requires_grad_()
    loss = FastAPLoss(bins)(leaf, chapter.RELEVANT)
    (slope,) = torch.autograd.grad(loss, leaf)
    _, fast, _, found = chapter.at(score, bins)
    assert fast == pytest.approx(loss.item()) and found == pytest.approx(slope[0].item())


@pytest.mark.parametrize("bins", [2, 10, 80])
def test_the_description_has_the_numbers(bins):
    exact, fast, soft, slope = chapter.at(0.413, bins)
    told = style.description(chapter.one_score(bins=bins, score=0.413))
    assert f"AP's loss is {exact:.3f}, FastAP's {fast:.3f} with a slope of {slope:.2f}" in told
    assert f"that of soft ranks {soft:.3f}" in told


def test_every_value_of_the_sliders_draws():
    for bins in chapter.one_score.controls["bins"].values:
        assert chapter.one_score(bins=bins, score=chapter.one_score.controls["score"].values[-1])
    for score in chapter.one_score.controls["score"].values[::8]:
        assert chapter.one_score(bins=80, score=score)

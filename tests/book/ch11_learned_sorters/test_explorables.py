"""The sliders of chapter 11: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import pytest
import torch

from rankbook.ch11_learned_sorters import explorables as chapter
from rankedu import rank

LINE = torch.linspace(-chapter.REACH, chapter.REACH, 121)


def test_training_brings_the_answers_nearer():
    inside = LINE[LINE.abs() <= 1]
    errors = [(torch.sub(*chapter.answers(stage, inside))).abs().mean().item() for stage in chapter.STAGES]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.3 * errors[0]


def test_beyond_the_training_the_curve_turns():
    ranks = chapter.answers(chapter.STAGES[-1], LINE)[0][:, -1]
    assert -chapter.REACH < LINE[ranks.argmax()] < -1, "the worst rank is not at the far left"
    assert ranks[0] < ranks.max() - 0.1


@pytest.mark.parametrize("stage", chapter.STAGES)
def test_the_true_ranks_are_those_of_all_five(stage):
    found, true = chapter.answers(stage, LINE)
    scores = torch.cat([torch.tensor(chapter.OTHERS).expand(len(LINE), -1), LINE[:, None]], 1)
    assert found.shape == (len(LINE), 5) and torch.equal(true, rank(scores))

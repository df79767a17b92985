"""Two processes are one with the double batch: the gradient of ranking losses of all embeddings."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch
import two_processes

from ranklab.training import distributed


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each of two processes has saved."""
    folder = tmp_path_factory.mktemp("two")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", two_processes.__file__, str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder, [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in (0, 1)]


@pytest.mark.parametrize("name", two_processes.LOSSES)
def test_the_gradient_is_that_of_the_double_batch(found, name):
    alone = two_processes.gradient(name)
    assert alone.abs().max() > 1e-2
    for process in found[1]:
        torch.testing.assert_close(process[name], alone, rtol=1e-12, atol=1e-12)


def test_unequal_shares_are_refused(found):
    for process in found[1]:
        assert process["unequal"].startswith("embeddings must be as many on every process, got [3, 4]")


def test_a_process_that_is_alone():
    embeddings, labels = torch.ones(3, 2, requires_grad=True), torch.arange(3)
    assert distributed.gather(embeddings, labels) == (embeddings, labels)
    assert (distributed.world_size(), distributed.rank()) == (1, 0)
    with distributed.joined():
        assert distributed.world_size() == 1
    assert torch.equal(distributed.own_part(labels), labels)

"""Two processes are one with the double batch: the gradient of ranking losses of all embeddings, and whole runs."""

from __future__ import annotations

import os
import sys

import fresh
import pytest
import torch
import two_processes

from ranklab.training import distributed
from ranklab.training.logs import read_log


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each of two processes has saved."""
    folder = tmp_path_factory.mktemp("two")
    torchrun = [sys.executable, "-c", "from torch.distributed.run import main; main()", "--standalone"]
    done = fresh.run(
        [*torchrun, "--nproc-per-node", "2", two_processes.__file__, str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
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


def test_a_run_is_that_of_the_double_batch(found):
    """Though it was stopped and taken up again, and embedded its shares in chunks."""
    folder, processes = found
    state, losses, evaluations = two_processes.trained(None)
    for process in processes:
        other, *history = process["trained"]
        assert history[0] == pytest.approx(losses, rel=1e-12)
        assert history[1][-1] == pytest.approx(evaluations[-1])
        for name, tensor in state.items():
            torch.testing.assert_close(other[name], tensor, rtol=1e-12, atol=1e-12)
    assert [row["step"] for row in read_log(folder / "run" / "log.csv")] == [1, 2, 3, 4, 5]
    assert sorted(path.name for path in (folder / "run").iterdir()) == ["checkpoint.pt", "log.csv"]


def test_unequal_shares_are_refused(found):
    for process in found[1]:
        assert process["unequal"].startswith("embeddings must be as many on every process, got [3, 4]")


def test_the_first_process_writes(found):
    assert [process["main"] for process in found[1]] == [True, False]


def test_a_process_that_is_alone():
    embeddings, labels = torch.ones(3, 2, requires_grad=True), torch.arange(3)
    assert distributed.gather(embeddings, labels) == (embeddings, labels)
    assert (distributed.world_size(), distributed.rank(), distributed.is_main()) == (1, 0, True)
    assert distributed.collect("x") == ["x"]
    with distributed.joined():
        assert distributed.world_size() == 1
    buffer = torch.ones(2)
    distributed.average([buffer])
    distributed.broadcast(torch.nn.Linear(1, 1))
    assert torch.equal(distributed.own_part(labels), labels)
    assert buffer.tolist() == [1, 1]

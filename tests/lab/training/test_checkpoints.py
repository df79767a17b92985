"""A run that was killed goes on as if it had not been; files are complete or not there."""

from itertools import islice

import pytest
import torch
from torch.nn.functional import dropout

from rankedu.losses import ClusterLoss, HAPPIERLoss, OnEmbeddings, RecallLoss
from rankedu.memory import EmbeddingMemory
from rankedu.rankers import BlackboxRanker
from rankedu_lab.models import ConvNet
from rankedu_lab.training import ClassBalancedSampler, Recipe, checkpoints, train

STEPS = 8


class Forgetful(ConvNet):
    """With dropout, which draws from the global generator."""

    def forward(self, images):
        return super().forward(dropout(images, 0.2, self.training))


def memory(data):
    loss = RecallLoss(BlackboxRanker(lam=0.2, normalized=True), margin=0.05)
    return OnEmbeddings(loss, memory=EmbeddingMemory(2))


def proxies(data, kind=ClusterLoss):
    return kind(int(data.labels[:, -1].max()) + 1, 16)


def happier(data):
    return proxies(data, HAPPIERLoss)


MANY = Recipe("adamw", 0.1, head_lr=10.0, loss_lr=5.0, schedule="one_cycle", clip=1.0, head_only=2, chunk=8)
CASES = {"memory": (memory, {}), "proxies": (happier, {"paths": True, "recipe": MANY})}


def run(data, make_loss, folder, *, cut=None, channels=(4, 8, 16), **settings):
    """Train from the start that the seed makes; the power fails after so many batches."""
    torch.manual_seed(0)
    net, loss = Forgetful(16, channels=channels), make_loss(data)
    sampler = ClassBalancedSampler(data.labels[:, -1], 16, 4, batches=STEPS)
    chosen = {"steps": STEPS, "lr": 1e-2, "test": data, "evaluate_every": 3, "checkpoint_every": 3, "progress": False}
    sampler = sampler if cut is None else failing(sampler, cut)
    return net, loss, train(net, data, loss, folder=folder, sampler=sampler, **{**chosen, **settings})


def failing(sampler, cut):
    yield from islice(sampler, cut)
    raise RuntimeError("power cut")


def same(first, second):
    """Equality of nested states, to the bit."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    return torch.equal(first, second) if isinstance(first, torch.Tensor) else first == second


TIMES = ("seconds", "waiting", "loss_seconds", "evaluating", "interrupted")


def state(folder):
    """All that a checkpoint holds, but for what is measured in seconds."""
    found = checkpoints.load(folder / "checkpoint.pt")
    found["history"] = {name: value for name, value in found["history"].items() if name not in TIMES}
    return found


@pytest.mark.parametrize(("make_loss", "settings"), CASES.values(), ids=CASES)
def test_a_killed_run_goes_on_bit_for_bit(tmp_path, glyphs, make_loss, settings):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    net, loss, history = run(glyphs, make_loss, whole, **settings)
    with pytest.raises(RuntimeError, match="power cut"):
        run(glyphs, make_loss, cut, cut=5, **settings)  # the last checkpoint is of step 3
    again, other, resumed = run(glyphs, make_loss, cut, **settings)
    assert same(again.state_dict(), net.state_dict())
    assert same(other.state_dict(), loss.state_dict())
    assert same(state(cut), state(whole))
    assert resumed.losses == history.losses and len(history.losses) == STEPS
    assert resumed.evaluations == history.evaluations and len(history.evaluations) == 2
    assert (history.interrupted, resumed.interrupted) == ([], [3])
    assert (whole / "log.csv").read_bytes() == (cut / "log.csv").read_bytes()
    lines = [line.split(",") for line in (whole / "log.csv").read_text().splitlines()]
    assert lines[0] == ["step", "loss", "lr", "R@1", "mAP"] and len(lines) == STEPS + 1
    assert [float(line[1]) for line in lines[1:]] == history.losses
    evaluated = {int(line[0]): float(line[3]) for line in lines[1:] if line[3]}
    assert evaluated == {row["step"]: row["R@1"] for row in history.evaluations}


def test_a_finished_run_is_not_repeated_but_made_longer_or_begun_anew(tmp_path, glyphs):
    net, _, short = run(glyphs, memory, tmp_path, steps=4)
    before = [(tmp_path / name).read_bytes() for name in ("checkpoint.pt", "log.csv")]
    again, _, found = run(glyphs, memory, tmp_path, steps=4, cut=0)
    assert same(again.state_dict(), net.state_dict())
    assert found == short and before == [(tmp_path / name).read_bytes() for name in ("checkpoint.pt", "log.csv")]
    _, _, longer = run(glyphs, memory, tmp_path, steps=6)
    assert longer.losses[:4] == short.losses and len(longer.losses) == 6
    with pytest.raises(ValueError, match=r"steps must be >= 6, which .* has done, got 4"):
        run(glyphs, memory, tmp_path, steps=4)
    _, _, anew = run(glyphs, memory, tmp_path, steps=4, resume=False)
    assert anew.losses == short.losses and anew.interrupted == []


def test_a_foreign_or_damaged_checkpoint_is_named_and_left_as_it_is(tmp_path, glyphs, refused):
    run(glyphs, proxies, tmp_path, steps=3, test=None)
    path = tmp_path / "checkpoint.pt"
    whole, others = path.read_bytes(), []
    for make_loss, changed, message in (
        (proxies, {"lr": 2e-2}, r"is of another run, with lr=0.01, got lr=0.02"),
        (proxies, {"recipe": Recipe(schedule="cosine")}, "with schedule='constant', got schedule='cosine'"),
        (happier, {"paths": False}, "does not fit the loss of this run"),
        (proxies, {"channels": (32, 64, 128)}, "does not fit the network of this run"),
    ):
        with pytest.raises(ValueError, match=message):
            run(glyphs, make_loss, tmp_path, **changed)
        assert path.read_bytes() == whole
    for content in ({"network": {}}, torch.ones(3)):
        torch.save(content, path)
        others.append(path.read_bytes())
    flipped = whole[:5000] + bytes(byte ^ 255 for byte in whole[5000:5100]) + whole[5100:]
    for content in (whole[: len(whole) // 2], b"", b"no checkpoint", flipped, *others):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"checkpoint .*checkpoint.pt cannot be read: it is damaged"):
            run(glyphs, proxies, tmp_path)


class Exploding(ClusterLoss):
    """The loss is NaN from some step on, or only its gradient is."""

    steps, gradient = 4, False

    def forward(self, embeddings, labels):
        self.steps -= 1
        value = super().forward(embeddings, labels)
        if self.steps > 0:
            return value
        bad = (embeddings * 0).sum().sqrt() if self.gradient else value * float("nan")
        return value + bad


def test_what_explodes_leaves_the_last_good_checkpoint(tmp_path, glyphs, monkeypatch):
    loss, weights = "loss must stay finite, got nan at step 4", "weights must stay finite, got others after step 4"
    for gradient, message in ((False, loss), (True, weights)):
        monkeypatch.setattr(Exploding, "gradient", gradient)
        each = {"checkpoint_every": 1, "evaluate_every": 4, "resume": False}  # such weights are not evaluated
        with pytest.raises(FloatingPointError, match=message):
            run(glyphs, lambda data: proxies(data, Exploding), tmp_path, **each)
        found = checkpoints.load(tmp_path / "checkpoint.pt")
        assert found["step"] == len(found["history"]["values"]["loss"]) == 3
        assert all(tensor.isfinite().all() for tensor in found["network"].values())

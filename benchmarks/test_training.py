"""The training loop on glyphs, as ratios to the bare lines that it is made of, in one interleaved run on one thread.

The goals: no slower than those lines; the loss at most 15 % of a step of the small net at batch 128; no waiting for
data; an evaluation, which may take 10 % of a run, in little more than its images need to be embedded.
"""

import pytest
import torch

from rankedu.lab.datasets import UnicodeGlyphs, augment
from rankedu.lab.models import ConvNet
from rankedu.lab.training import ClassBalancedSampler, Recipe, evaluate, train
from rankedu.lab.training.retrieval import embed
from rankedu.losses import OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker

STEPS = 15
LOSSES = {
    "recall": lambda: OnEmbeddings(RecallLoss(BlackboxRanker(lam=0.2, normalized=True), margin=0.05)),
    "smooth_ap": lambda: OnEmbeddings(SmoothAPLoss(0.01)),
}


@pytest.fixture(scope="module")
def glyphs():
    return UnicodeGlyphs("train")


def bare(data, loss):
    """The loop without anything that can be left out."""
    torch.manual_seed(0)
    net, generator = ConvNet(), torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    leaves = data.labels[:, -1]
    for batch in ClassBalancedSampler(leaves, 128, 4, batches=STEPS):
        value = loss(net(augment(data.images[batch], generator=generator)), leaves[batch])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return net


@pytest.mark.parametrize("name", LOSSES)
def test_the_loop(interleaved, glyphs, tmp_path, benchmark, name):
    loss, shares = LOSSES[name](), []

    def run(**settings):
        torch.manual_seed(0)
        net = ConvNet()
        history = train(net, glyphs, loss, steps=STEPS, progress=False, **settings)
        if not settings:
            shares.append(history.shares())
        return net

    for ours, theirs in zip(run().parameters(), bare(glyphs, loss).parameters(), strict=True):
        assert torch.equal(ours, theirs)
    others = {
        "the bare loop": lambda: bare(glyphs, loss),
        "the loop with log and ten checkpoints": lambda: run(folder=tmp_path, resume=False),
        "the loop in chunks of 32": lambda: run(recipe=Recipe(chunk=32)),
    }
    interleaved(run, others, 5)
    medians = {key: sorted(share[key] for share in shares)[len(shares) // 2] for key in ("loss share", "waiting share")}
    print("  " + ", ".join(f"{key} {100 * value:.1f} %" for key, value in medians.items()))
    benchmark.extra_info.update({key: round(value, 4) for key, value in medians.items()})


def test_evaluation(interleaved):
    test = UnicodeGlyphs("test")
    torch.manual_seed(0)
    net = ConvNet()
    others = {"embedding the images": lambda: embed(net, test, generator=torch.Generator().manual_seed(1))}
    interleaved(lambda: evaluate(net, test), others, 3)

"""What the losses hold at once beyond what they are given."""

import subprocess
import sys

import pytest

SCRIPT = """
import torch
from rankedu.losses import APLoss, HAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.rankers import BlackboxRanker, SigmoidRanker

def kib(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))

def grown(loss, few, *many):
    loss(*few).backward()
    open("/proc/self/clear_refs", "w").write("5")
    before = kib("VmRSS")
    loss(*many).backward()
    print((kib("VmHWM") - before) / 1024)

torch.set_num_threads(1)
classes, embeddings = torch.arange(464) // 4, torch.randn(464, 64).requires_grad_()
labels = torch.stack([classes // 58, classes // 8, classes], dim=1)
for loss in (HAPLoss(), HAPLoss(SigmoidRanker(0.01))):
    grown(OnEmbeddings(loss), (embeddings[:64], labels[:64]), embeddings, labels)
classes, embeddings = (torch.arange(1024) - 200).clamp(min=0) // 2, torch.randn(1024, 64).requires_grad_()
grown(OnEmbeddings(SmoothAPLoss()), (embeddings[:64], classes[:64]), embeddings, classes)
n = 4 * 10**6
y, relevance = torch.empty(n).normal_().requires_grad_(), torch.arange(n) % 100 == 0
few = torch.rand(90000, requires_grad=True), relevance[:90000]
grown(APLoss(BlackboxRanker(1e6), margin=0.02), few, y, relevance)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
def test_a_list_takes_20_bytes_a_score_and_a_batch_little_more_than_its_similarities():
    """In MB; one tensor of the definition of H-AP takes 400, the similarities of 1,024 items take 4."""
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    if "clear_refs" in run.stderr:
        pytest.skip("the peak of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    supremum, sigmoid, one_large_class, of_list = map(float, run.stdout.split())
    assert 30 < of_list < 77 and max(supremum, sigmoid) < 60 and one_large_class < 40, run.stdout

"""Smooth-AP, forward and backward, against the definition that lays out batch³ comparisons, and the matrix product.

The goals stand in `goals.py`; beside them, at batch 512, 4 a class and every query its own positive as in the released
code, the loss shall be 300 times faster than the definition. The memory is the largest sum of what torch's allocator
handed out and got back, by its own events (torch.profiler), less the same for the similarities with their gradient.
"""

import time

import pytest
import torch
from torch.nn.functional import normalize
from torch.profiler import ProfilerActivity, profile

from rankedu.lab.experiments._published import published_smooth_ap
from rankedu.losses import OnEmbeddings, SmoothAPLoss

ROUNDS = {512: 41, 1024: 15, 4096: 3}


def batch_of(size, a_class, dim=512):
    """Embeddings as of a trained network: classes apart, members about as far from their centre as centres are long."""
    generator, labels = torch.Generator().manual_seed(0), torch.arange(size) // a_class
    centres = torch.randn(size // a_class, dim, generator=generator)
    return normalize(centres[labels] + 0.9 * torch.randn(size, dim, generator=generator)), labels


def of_all_pairs(embeddings, labels):
    """The pseudo-code for all queries at once: batch³ comparisons. Every query is its own positive."""
    return published_smooth_ap(embeddings @ embeddings.T, labels[:, None] == labels)


def product_with_gradient(leaf, gradient):
    def run():
        leaf.grad = None
        (leaf @ leaf.T).backward(gradient)

    return run


def peak(work):
    """The most bytes that torch held at once for this piece of work."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        work()
    held, most = 0, 0
    for event in found.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


@pytest.mark.parametrize(("size", "a_class"), [(512, 4), (1024, 4), (1024, 32), (4096, 4)], ids=str)
def test_smooth_ap(interleaved, step, benchmark, size, a_class):
    embeddings, labels = batch_of(size, a_class)
    gradient = torch.randn(size, size, generator=torch.Generator().manual_seed(1))
    loss, leaf = OnEmbeddings(SmoothAPLoss()), embeddings.clone().requires_grad_()
    product = product_with_gradient(embeddings.clone().requires_grad_(), gradient)
    ours = step(lambda e: loss(e, labels), leaf)
    interleaved(ours, {"the matrix product with its gradient": product}, ROUNDS[size])
    leaf.grad = None
    extra = (peak(ours) - peak(product)) / (4 * size**2)
    benchmark.extra_info["further matrices in memory"] = round(extra, 2)
    print(f"memory for {extra:.2f} further matrices of {size} x {size}")


def test_against_the_definition(interleaved, step, benchmark):
    size, a_class = 512, 4
    embeddings, labels = batch_of(size, a_class)
    loss, leaf = OnEmbeddings(SmoothAPLoss(0.01), exclude_self=False), embeddings.clone().requires_grad_()
    product = product_with_gradient(embeddings.clone().requires_grad_(), torch.ones(size, size))
    other = embeddings.clone().requires_grad_()
    start = time.process_time()
    expected = of_all_pairs(other, labels)
    expected.backward()
    taken = time.process_time() - start  # once, for its tensors of 0.5 GB leave nothing of the others in the cache
    assert abs(loss(leaf, labels) - expected) < 1e-5
    ours = step(lambda e: loss(e, labels), leaf)
    mine = interleaved(ours, {"the matrix product with its gradient": product}, ROUNDS[size])
    benchmark.extra_info["ratio to the definition"] = round(mine / taken, 5)
    print(f"the definition takes {taken:.1f} s: {taken / mine:.0f} times as long")

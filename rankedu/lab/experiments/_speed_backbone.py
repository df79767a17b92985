"""Smooth-AP's Table S2: the time of a loss beside that of the network that makes the embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch

from rankedu.lab.experiments._speed_batches import make_batch, step, transcriptions
from rankedu.lab.experiments._stopwatch import Limits, Name, Row, Work, race
from rankedu.lab.models import EmbeddingNet, build
from rankedu.losses import APLoss, FastAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.rankers import BlackboxRanker

__all__ = ["PRINTED", "beside_backbone"]

#: Milliseconds that the paper prints for a batch of 112.
PRINTED = {"backbone": 705.0, "Blackbox AP": 3.7, "FastAP": 4.2, "Smooth-AP": 6.6}
#: What the losses of the table are called among the transcriptions.
TRANSCRIBED = {"Blackbox AP": "RaMBO AP", "FastAP": "FastAP", "Smooth-AP": "Smooth-AP"}
#: The settings that the paper gives: λ and margin of Blackbox AP, bins of FastAP.
LAM, MARGIN, BINS = 4.0, 0.02, 20


def network(name: str, dim: int) -> tuple[EmbeddingNet, str, str]:
    """The network, what it is, and a note: where a ResNet cannot be had, the wide net for glyphs stands in."""
    try:
        return build(name, dim=dim), name, ""
    except ImportError as error:
        reason = str(error).split(" (")[0]
        return build("convnet_wide", dim=dim), "convnet_wide", f"instead of {name}: {reason}"


def _pass(net: EmbeddingNet, name: str, parameters: Mapping[str, Any], device: str) -> Work:
    """Forward and backward through the network, a chunk of the batch at a time."""
    channels, side = (3, parameters["image_size"]) if name.startswith("resnet") else (1, 32)
    batch, chunk = parameters["batch"], parameters["chunk"] or parameters["batch"]
    generator = torch.Generator().manual_seed(parameters["seed"])
    pictures = torch.rand(min(batch, chunk), channels, side, side, generator=generator).to(device)
    sizes = [len(part) for part in torch.arange(batch).split(chunk)]

    def forward_and_backward() -> None:
        net.zero_grad()
        for size in sizes:
            embeddings = net(pictures[:size])
            embeddings.backward(torch.ones_like(embeddings))

    return forward_and_backward


def beside_backbone(parameters: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time a network on a batch of pictures, and each loss of the table on a batch of embeddings.

    Parameters
    ----------
    parameters : mapping
        Of the lab: ``model``, ``image_size``, ``chunk``, ``batch``, ``per_class``, ``dim`` and ``seed`` are used.
    limits : Limits
    device : {"cpu", "cuda"}

    Returns
    -------
    list of dict
        As of :func:`rankedu.lab.experiments._stopwatch.race`. The network's row has the contender's name of the
        network.
    """
    size, dim = parameters["batch"], parameters["dim"]
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not pretrained, and about operators of detection
        torch.manual_seed(parameters["seed"])
        net, name, note = network(parameters["model"], dim)
    embeddings, paths = make_batch(size, parameters["per_class"], dim, parameters["seed"], device)
    written = transcriptions(paths, size, BINS, LAM)
    losses = {
        "Blackbox AP": APLoss(BlackboxRanker(LAM, normalized=True), MARGIN),
        "FastAP": FastAPLoss(BINS),
        "Smooth-AP": SmoothAPLoss(0.01),
    }
    works: dict[Name, Work] = {("backbone", name): _pass(net.to(device), name, parameters, device)}
    for title, loss in losses.items():
        ours = OnEmbeddings(loss)
        works[title, "ours"] = step(lambda e, loss=ours: loss(e, paths[:, -1]), embeddings)  # type: ignore[misc]
        works[title, "transcription"] = step(written[TRANSCRIBED[title]], embeddings)
    rows = race([size], lambda _: works, limits, device=device)
    for row in rows:
        if row["work"] == "backbone":
            row["note"] = "; ".join(filter(None, (row["note"], note)))
    return rows

"""Similarities in tiles, the same to the last bit however the work is cut.

A matrix product may add up in another order when its shape changes, and a last bit decides who stands first. So the
tiles' shape depends on the numbers of queries and items alone, and few rows, and the last columns, are filled with 0.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from rankedu.checks import SHORTEST

TILE = 256  # queries; from here on the product is about as fast as it gets
LOWEST = 8  # fewer rows would be a product of another kind, and slow
COLUMNS = 48  # are taken at a time: a multiple of 16, 24 and whatever else is usual for 32 and 64 bits
ENTRIES = 1 << 24  # of a tile: 64 MB of float32


def tile_height(queries: int, items: int) -> int:
    """How many queries make a tile: a power of two that depends on the whole task alone."""
    height = TILE
    while height > LOWEST and (height // 2 >= queries or height * items > ENTRIES):
        height //= 2
    return height


def _wider(*dtypes: torch.dtype) -> torch.dtype:
    """At least float32: in 16 bits a test set has more items than there are similarities."""
    return functools.reduce(torch.promote_types, dtypes, torch.float32)


def _unit(embeddings: Tensor) -> Tensor:
    """Rows of length 1, in place; those of length 0 stay."""
    return embeddings.div_(torch.linalg.vector_norm(embeddings, dim=1, keepdim=True).clamp_min(SHORTEST))


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """No product in fewer bits than its operands have."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


class Similarities:
    """All queries, (q, dim), against all items, (g, dim), which are copied once; a tile of queries at a time.

    Euclidean: q·g − |g|²/2, which ranks as the distance does; in float64, since it is a small difference.
    """

    def __init__(self, embeddings: Tensor, gallery: Tensor, device: torch.device, kind: str = "cosine") -> None:
        self.embeddings, self.device, self.kind = embeddings.detach(), device, kind
        self.dtype = torch.float64 if kind == "euclidean" else _wider(embeddings.dtype, gallery.dtype)
        self.height = tile_height(len(embeddings), len(gallery))
        self.items = len(gallery)
        columns = -(-self.items // COLUMNS) * COLUMNS
        self.gallery = torch.empty(columns, gallery.shape[1], dtype=self.dtype, device=device)
        self.gallery[self.items :] = 0
        self.gallery[: self.items] = gallery.detach()
        if kind == "cosine":
            _unit(self.gallery)
        self.bias = self.gallery.square().sum(1) / -2 if kind == "euclidean" else None

    def buffer(self) -> Tensor:
        """Memory for a tile."""
        return torch.empty(self.height, len(self.gallery), dtype=self.dtype, device=self.device)

    def tile(self, start: int, *, out: Tensor) -> Tensor:
        """Similarities of the queries from ``start`` on, shape (at most height, g), in the first rows of ``out``."""
        rows = self.embeddings[start : start + self.height]
        queries = torch.zeros(self.height, rows.shape[1], dtype=self.dtype, device=self.device)
        queries[: len(rows)] = rows
        if self.kind == "cosine":
            _unit(queries)
        torch.mm(queries, self.gallery.T, out=out)
        if self.bias is not None:
            out += self.bias
        return out[: len(rows), : self.items]

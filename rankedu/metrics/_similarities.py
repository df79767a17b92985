"""Similarities in tiles, the same to the last bit however the work is cut.

A matrix product may add up in another order when its shape changes, and a last bit decides which item is first. So the
shape of a tile depends only on the numbers of queries and items, and missing rows and columns are filled with 0.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

import torch
from torch import Tensor

from rankedu.labels import SHORTEST

TILE = 256  # queries; with more the product is hardly faster
LOWEST = 8  # fewer rows would be a product of another kind, and slow
COLUMNS = 48  # the number of items is filled up to a multiple of this: of 16, 24 and what else is usual
ENTRIES = 1 << 24  # of a tile: 64 MB of float32


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Compute no product in fewer bits than its operands have."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(device.type, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


class Similarities:
    """All queries, (q, dim), against all items, (g, dim), which are copied once; a tile of queries at a time.

    At least float32: in 16 bits there are fewer similarities than items. Distances are those of differences, since a
    difference of squares would lose their digits far from the origin.
    """

    def __init__(self, embeddings: Tensor, gallery: Tensor, device: torch.device, kind: str = "cosine") -> None:
        self.embeddings, self.device, self.kind = embeddings.detach(), device, kind
        self.dtype = functools.reduce(torch.promote_types, (embeddings.dtype, gallery.dtype), torch.float32)
        self.room = local()
        self.items, self.height = len(gallery), TILE
        while self.height > LOWEST and (self.height // 2 >= len(embeddings) or self.height * self.items > ENTRIES):
            self.height //= 2
        self.gallery = self._filled(gallery.detach(), -(-self.items // COLUMNS) * COLUMNS)

    def _filled(self, rows: Tensor, height: int) -> Tensor:
        """Copy rows, of length 1 for cosines, and fill up with zeros."""
        filled = torch.zeros(height, rows.shape[1], dtype=self.dtype, device=self.device)
        filled[: len(rows)] = rows
        if self.kind == "cosine":
            filled.div_(torch.linalg.vector_norm(filled, dim=1, keepdim=True).clamp_min(SHORTEST))
        return filled

    def tile(self, start: int) -> Tensor:
        """Compute the similarities of the queries from ``start`` on, shape (at most height, g).

        A thread reuses its memory: the next tile overwrites this one.
        """
        rows = self.embeddings[start : start + self.height]
        queries = self._filled(rows, self.height)
        if self.kind == "euclidean":
            scores = -torch.cdist(queries, self.gallery, compute_mode="donot_use_mm_for_euclid_dist")
        else:
            if not hasattr(self.room, "tile"):
                self.room.tile = queries.new_empty(self.height, len(self.gallery))
            scores = torch.mm(queries, self.gallery.T, out=self.room.tile)
        return scores[: len(rows), : self.items]

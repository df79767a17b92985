"""What is measured, a row each: its name in the record, what is timed in turn, and how long ours may take beside it.

Contenders have the lab's names. A goal is at most so much of the ratio to a contender, or of what else is found.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from benchmarks import works
from benchmarks.works import Comparison
from rankedu.rankers import PRESETS
from ranklab.experiments.speed.contestants import ALONE, BY_QUERY, OURS, PML, PRODUCT, RELEASED, WRITTEN, Batch, List

SORTS, BYTES, MATRICES = "two np.argsort", "bytes a score", "further matrices"
TORCH, ONE_SORT = "import torch", "one np.sort"


STEP, TRAINED = "a step of the network", ("Smooth-AP", "RaMBO recall", "FastAP", "RaMBO AP", "H-AP")
#: Of the command for a GPU: title, part, work and size; whose seconds ours are divided by, if anybody's; at most.
GPU_GOALS = [
    ("AP loss, 10⁸ scores, on a GPU", "long lists", "AP", 10**8, "", 0.2),
    ("Smooth-AP, batch 4096, on a GPU", "batches", "Smooth-AP", 4096, PRODUCT, 3.0),
    *((f"{loss} in a step, batch 128, on a GPU", "step", loss, 128, STEP, 0.02) for loss in TRAINED),
]


class Row(NamedTuple):
    """One comparison."""

    name: str
    make: Callable[[], Comparison]
    goals: Mapping[str, float] = {}  # a contender, or what else is found → at most
    rounds: int = 7
    seconds: float = 30.0  # no more rounds after so many; who takes three times as long is timed once


def rows(shrink: int = 1) -> list[Row]:
    """All rows; with a larger number their sizes are smaller, for a trial."""

    def of_list(work: str, *whos: str, n: int, share: float = 0.01) -> Callable[[], Comparison]:
        return partial(works.compare, List, work, whos, OURS, {"size": n // shrink, "share": share})

    def of_batch(work: str, *whos: str, size: int, ours: str = OURS, **setting: object) -> Callable[[], Comparison]:
        return partial(works.compare, Batch, work, whos, ours, {"size": size // shrink, **setting})

    def of(work: Callable[..., Comparison], *arguments: object, **setting: object) -> Callable[[], Comparison]:
        return partial(work, *(max(2, x // shrink) if isinstance(x, int) else x for x in arguments), **setting)

    ap, fast_ap = partial(of_list, "AP", SORTS), partial(of_batch, "FastAP", noise=100.0)
    recall = partial(of_batch, "RaMBO recall", PRODUCT, WRITTEN, size=1024, noise=100.0)  # as before any training
    h_ap = partial(of_batch, "H-AP", PRODUCT, BY_QUERY, ours=ALONE, halves=True)
    return [
        Row("losses; average precision: 1e5-1%", ap(RELEASED, n=10**5), rounds=15),
        Row("losses; average precision: 1e6-1%", ap(RELEASED, n=10**6), {SORTS: 0.45, RELEASED: 0.04}),
        Row("losses; average precision: 1e6-50%", ap(RELEASED, n=10**6, share=0.5), {SORTS: 1.1}, 5),
        Row("losses; average precision: 1e7-1%", ap(n=10**7), {SORTS: 0.3}, 3),
        Row("losses; rank layer", of_list("rank layer", SORTS, RELEASED, n=10**6), {SORTS: 1.0}),
        *(
            Row(
                f"losses; λ from the data: {what}-{size}",
                of(works.lam_from_data, what, size),
                {works.FIXED: goal},
                41,
                8.0,
            )
            for size in (128, 1024)
            for what, goal in (("check", 1.05), ("auto", 2.0), ("suggestion", 10.0))
        ),
        Row("losses; mean average precision with memory", of(works.map_with_memory, 512), rounds=15),
        Row("long lists; memory: ap", of(works.list_memory, "AP", 10**7), {BYTES: 20}),
        Row("long lists; memory: recall", of(works.list_memory, "recall", 10**7)),
        Row("long lists; memory: hap", of(works.list_memory, "H-AP", 10**7), {BYTES: 40}),
        Row("fast ap; fast ap of a batch: 1024-10", fast_ap(PRODUCT, PML, size=1024), {PRODUCT: 2.0}),
        Row("fast ap; fast ap of a batch: 1024-40", fast_ap(PRODUCT, PML, size=1024, bins=40)),
        Row("fast ap; fast ap of a batch: 4096-10", fast_ap(PRODUCT, size=4096), rounds=3),
        Row("smooth ap; smooth ap: 512-4", of(works.with_matrices, 512), {PRODUCT: 1.5, MATRICES: 3}, 41),
        Row("smooth ap; smooth ap: 1024-4", of(works.with_matrices, 1024), {PRODUCT: 1.6, MATRICES: 3}, 15),
        Row("smooth ap; smooth ap: 1024-32", of(works.with_matrices, 1024, per_class=32), {PRODUCT: 2.0}, 15),
        Row("smooth ap; smooth ap: 4096-4", of(works.with_matrices, 4096), {PRODUCT: 1.5, MATRICES: 3}, 3),
        Row("smooth ap; against the definition", of_batch("Smooth-AP", PRODUCT, WRITTEN, size=512), {}, 41, 0.8),
        Row("losses; recall of a batch: 4", recall(), {PRODUCT: 1.8}),
        Row("losses; recall of a batch: 32", recall(per_class=32), {PRODUCT: 2.0}),
        Row("hierarchical; happier: 256", h_ap(WRITTEN, size=256), {PRODUCT: 45, WRITTEN: 0.04}, 5),
        Row("hierarchical; happier: 512", h_ap(size=512), {PRODUCT: 10}, 3),
        Row("hierarchical; other rankers: blackbox", of(works.other_ranker, "blackbox", 256)),
        Row("hierarchical; other rankers: sigmoid", of(works.other_ranker, "sigmoid", 256)),
        *(
            Row(
                f"supremum ap; supremum ap: {name.replace('_', ' ')}-{size}",
                of_batch("SupAP", PRODUCT, ALONE, *definition, size=size, noise=4.0, step=PRESETS[name]),
                {PRODUCT: 4} if (name, size) == ("joined", 256) else {},
                rounds,
                0.2 if definition else 5.0,
            )
            for name in ("joined", "happier_inat")
            for size, rounds, definition in ((256, 41, [WRITTEN]), (512, 15, []), (1024, 9, []))
        ),
        *(
            Row(f"retrieval; retrieval: {name}", of(works.evaluation, 20_000, metrics), {works.MATMUL: goal}, 3)
            for name, metrics, goal in (("fine", works.FINE, 1.25), ("with the graded ones", works.GRADED, 2))
        ),
        Row("retrieval; beside pytorch-metric-learning", of(works.beside_pml, 50_000), {PML: 0.5}, 1),
        Row("retrieval; memory", of(works.evaluation_memory, 60_000), {"extra megabytes": 300}),
        Row("detection; detection: coco", of(works.detection, "coco", 500), {"pycocotools": 0.1}, 5),
        Row("detection; detection: voc", of(works.detection, "voc", 500), {"pycocotools": 0.1}, 5),
        *(
            Row(f"landscapes; slider move: {name.replace('_', ' ')}", of(works.slider, name), {ONE_SORT: 4}, 60)
            for name in ("interpolated_landscape", "section_gradient")
        ),
        Row("start; import: package", of(works.starting, "import rankedu", TORCH), {TORCH: 1.3}),
        Row("start; import: core", of(works.starting, works.CORE, TORCH), {TORCH: 1.3}),
        Row("start; help", of(works.starting, works.HELP), {"seconds": 0.5}),
    ]

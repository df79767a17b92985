"""Certificates of `rankedu.proofs`, written out for readers: a line for each step."""

from collections.abc import Sequence
from fractions import Fraction

from rankedu.proofs import hierarchical, rearrangement


def explain_swaps(proof: rearrangement.Certificate, names: Sequence[str]) -> str:
    """Tabulate the ranking and the objective after each swap; items are called by names.

    >>> print(explain_swaps(rearrangement.certificate([0.5, 0.25, 1], [3, 2, 1]), names="abc"))
    step | ranking, best first | swap     | gain | y·π
    -----|---------------------|----------|------|-----
    0    | c b a               |          |      | 3
    1    | c a b               | a over b | 1/4  | 11/4
    total gain 1/4 = 3 − 11/4, so rk(y) costs no more than this permutation
    """
    order = sorted(range(len(names)), key=proof.permutation.__getitem__)
    value = proof.start_value
    rows = [("step", "ranking, best first", "swap", "gain", "y·π")]
    rows.append(("0", " ".join(names[i] for i in order), "", "", str(value)))
    for step, swap in enumerate(proof.swaps, 1):
        order[swap.rank - 1], order[swap.rank] = swap.up, swap.down
        value -= swap.gain
        move = f"{names[swap.up]} over {names[swap.down]}"
        rows.append((str(step), " ".join(names[i] for i in order), move, str(swap.gain), str(value)))
    end = f"total gain {proof.total_gain} = {proof.start_value} − {proof.end_value}, "
    return _table(rows) + f"\n{end}so rk(y) costs no more than this permutation"


def explain_h_ap(proof: hierarchical.Certificate, names: Sequence[str]) -> str:
    """Tabulate the H-rank of each item, best rank first, as ranks within nested sets.

    >>> print(explain_h_ap(hierarchical.certificate([1, 2, 0], [1, 2, 3]), names="abc"))
    item | rank | rel | 1 x rk{rel >= 1} | 1 x rk{rel >= 2} | H-rank | H-rank/rank
    -----|------|-----|------------------|------------------|--------|------------
    a    | 1    | 1   | 1 x 1            |                  | 1      | 1
    b    | 2    | 2   | 1 x 2            | 1 x 1            | 3      | 3/2
    c    | 3    | 0   |                  |                  | 0      | 0
    H-AP = 5/2 / 3 = 5/6
    """
    steps = [f"{step} x rk{{rel >= {t}}}" for step, t in zip(proof.steps, proof.thresholds, strict=True)]
    rows: list[tuple[str, ...]] = [("item", "rank", "rel", *steps, "H-rank", "H-rank/rank")]
    for k in sorted(range(len(names)), key=proof.permutation.__getitem__):
        ranks = (f"{s} x {r}" if r else "" for s, r in zip(proof.steps, proof.within[k], strict=True))
        rank, value = proof.permutation[k], proof.h_ranks[k]
        rows.append((names[k], str(rank), str(proof.relevance[k]), *ranks, str(value), str(value / rank)))
    total = sum(proof.relevance, Fraction(0))
    return _table(rows) + f"\nH-AP = {proof.h_ap * total} / {total} = {proof.h_ap}"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns of equal width, with a line below the first row."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(lines)

"""Write certificates of `rankedu.proofs` as tables, one line per step."""

from collections.abc import Sequence

from rankedu.proofs import rearrangement


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


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Align columns, and draw a line below the first row."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(lines)

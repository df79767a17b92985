"""A certificate in which anything is changed does not verify, whatever is put there."""

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction as F

from rankedu.proofs import hierarchical, rearrangement, recall_weights
from rankedu.proofs.rearrangement import Swap

H_AP = hierarchical.certificate([F(1, 3), 1, 0, F(1, 3), F(2, 3)], [1, 3, 2, 5, 4])
SORTED = rearrangement.certificate([F(1, 2), F(1, 4), 1, F(3, 4)], [1, 2, 4, 3])
TIED = rearrangement.certificate([0.5, 0.5, 0.25], [2, 1, 3])
SUM = recall_weights.proposition_2([1, 3], [True, False, False, True])


def variations(value):
    """What is like a value, but not it: in one place there is another number, no number, one entry less, or a text."""
    if is_dataclass(value):
        for field in fields(value):
            yield from (replace(value, **{field.name: other}) for other in variations(getattr(value, field.name)))
    elif isinstance(value, tuple):
        yield from (value[:-1], (), "abcd")
        for i, entry in enumerate(value):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in variations(entry))
    else:
        yield from (value + 1, value - 1, -1 - value, value + F(1, 10**9), float("nan"), None, "a")


def test_any_change_is_noticed():
    for proof in (H_AP, SORTED, TIED, SUM):
        assert proof.verify()
        for other in variations(proof):
            assert other == proof or not other.verify(), other


def swap(proof, **changes):
    return {"swaps": (replace(proof.swaps[0], **changes), *proof.swaps[1:])}


def test_changes_that_fit_each_other_are_noticed():
    even, more = SORTED.total_gain / len(SORTED.swaps), SORTED.total_gain + 1
    for proof, changes in [
        (H_AP, {"relevance": list(H_AP.relevance)}),
        (H_AP, {"permutation": (2, 1, 3, 4, 5)}),
        (H_AP, {"h_ranks": tuple(2 * h for h in H_AP.h_ranks), "h_ap": 2 * H_AP.h_ap}),
        (SORTED, {"swaps": tuple(replace(s, gain=even) for s in SORTED.swaps)}),
        (SORTED, swap(SORTED, gain=float(SORTED.swaps[0].gain))),
        (SORTED, {"swaps": (*SORTED.swaps, Swap(1, 2, 3, F(-1, 4)), Swap(1, 3, 2, F(1, 4)))}),  # there and back
        (SORTED, {"start_value": SORTED.start_value + 1, "total_gain": more}),
        (SORTED, {"end_value": SORTED.end_value - 1, "total_gain": more}),
        (SORTED, {"target": (4, 3, 2, 1)}),
        (SORTED, {"permutation": (2, 1, 4, 3)}),
        (SORTED, {"permutation": (True, 2, 4, 3)}),
        (TIED, {"swaps": (), "target": (2, 1, 3)}),  # sorted by value, but not rk(y)
        (TIED, {"swaps": (*TIED.swaps, Swap(1, 0, 1, F(0)))}),  # a tie turned back
        (TIED, {"swaps": TIED.swaps * 3}),
        (SUM, {"by_level": F(1), "by_item": F(1)}),
        (SUM, {"weights": (F(1), F(2))}),
    ]:
        assert not replace(proof, **changes).verify(), changes
    # the swaps at ranks 1 and 3 do not touch each other: their order does not matter
    apart = rearrangement.certificate([1, 2, -2, -1], [1, 2, 3, 4])
    assert [s.rank for s in apart.swaps] == [1, 3] and replace(apart, swaps=apart.swaps[::-1]).verify()


def test_counts_that_are_off_do_not_hold():
    found = hierarchical.exhaustive(3, [0, 1, 2])
    off = [{"certified": 25}, {"perfect": 10}, {"binary_equal": 0}, {"least": F(0)}, {"rankings": 0, "certified": 0}]
    assert not any(replace(found, **changes).holds for changes in off)

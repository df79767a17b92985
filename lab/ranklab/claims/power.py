"""What the second round can find: a simulation by the spreads of the first round, made before the second began.

``python -m ranklab.claims.power`` prints it.
"""

import math
from collections.abc import Callable

import numpy as np

from ranklab.claims.protocol import read_protocol, read_searches
from ranklab.claims.spread import Mean, mean_of_deals
from ranklab.runs.folders import find_records
from ranklab.runs.judging import ALPHA, Array, of_letters
from ranklab.runs.records import collect_runs

DRAWS, LETTERS, FAMILY = 1000, 28, 5
#: Pairs of the first round by which the spreads are taken, with the metric and the difference that matters.
PAIRS = (
    ("rambo_log", "fast_ap", "mAP@R", 0.5),
    ("rambo_log", "contrastive", "mAP@R", 0.5),
    ("smooth_ap", "normalized_softmax", "mAP@R", 0.5),
    ("hap", "hap_sigmoid", "H-AP", 1.0),
    ("happier", "letters roadmap", "H-AP", 1.0),
)


def spreads(plus: str, minus: str, metric: str) -> dict[str, float]:
    """Standard deviations of the difference of two arms, in points: of a redrawn search and seed, and by letters.

    A search of fifteen trials is redrawn from the recorded twenty, with replacement. The spread by letters is of a mean
    over the letters held out.
    """
    protocol, folder = read_protocol(), find_records()
    chosen = read_searches(protocol, folder)["arms"]
    table = {record.run: record for record in collect_runs(folder / protocol.records)[0]}
    sides = [[of_letters(table[f"{arm}-{seed}"], metric) for seed in range(protocol.seeds)] for arm in (plus, minus)]
    sums = np.stack([[letters for letters, _ in side] for side in sides])
    counts = sides[0][0][1]
    seed = (100 * np.subtract(*sums.sum(2)) / counts.sum()).std(ddof=1)
    letter = 100 * np.subtract(*sums).mean(0) / counts
    weights = counts / counts.sum()
    searches = [_of_search([trial["value"] for trial in chosen[arm]["trials"]]) for arm in (plus, minus)]
    by_letters = math.sqrt((weights**2 * (letter - weights @ letter) ** 2).sum())
    return {"search": math.hypot(*searches), "seed": float(seed), "letters": by_letters}


def _of_search(values: list[float]) -> float:
    return float(100 * np.random.default_rng(0).choice(values, (DRAWS, 15)).max(1).std())


def forecast(of: dict[str, float], delta: float, *, quarters: bool) -> list[float]:
    """Shares of simulated rounds that find equality at a true 0 and at δ, then a difference at 0, δ and 2δ.

    Sixteen searches: four in each of four deals whose quarters are disjoint, by Student's t over the deals; or one in
    each of sixteen independent deals. The letters that a deal holds out move its difference, and those that it trains
    on move it as much. The level is that of the clearest of a family of five, the hardest to reach.
    """
    rng, share = np.random.default_rng(1), ALPHA / FAMILY
    draw: Callable[..., Mean] = _quarters if quarters else _independent
    at = {factor: [draw(of, factor * delta, rng) for _ in range(DRAWS)] for factor in (0, 1, 2)}
    equal = [float(np.mean([m.p_equal(delta) <= share for m in at[f]])) for f in (0, 1)]
    return equal + [float(np.mean([m.p_different() <= share for m in at[f]])) for f in at]


def _effects(of: dict[str, float], rng: np.random.Generator) -> Array:
    """Effects of letters, (held out or trained on, letters): as large as give a mean over a quarter its spread."""
    return rng.normal(0, of["letters"] * math.sqrt(LETTERS / 4), (2, LETTERS))


def _noise(of: dict[str, float], rng: np.random.Generator, *shape: int) -> Array:
    return rng.normal(0, math.hypot(of["search"], of["seed"]), shape)


def _quarters(of: dict[str, float], truth: float, rng: np.random.Generator) -> Mean:
    held, fit = _effects(of, rng).reshape(2, 4, -1).mean(2)
    return mean_of_deals(truth + held + np.roll(fit, 1) + _noise(of, rng, 4, 4).mean(1))


def _independent(of: dict[str, float], truth: float, rng: np.random.Generator) -> Mean:
    held, fit = _effects(of, rng)
    values, sums, counts = [], np.zeros(LETTERS), np.zeros(LETTERS)
    for noise in _noise(of, rng, 16):
        order = rng.permutation(LETTERS)
        out, trained = np.split(order, 4)[:2]
        found = truth + held[out] + fit[trained].mean() + noise
        values.append(found.mean())
        sums[out] += found
        counts[out] += 1
    return mean_of_deals(values, sums, counts)


def main() -> None:
    """Print two lines for each pair: its names, then its metric, δ and spreads, both in points."""
    print(f"{'':62}equal   different\n{'':54}{'deals':>6}    0   δ   0   δ  2δ")
    for plus, minus, metric, delta in PAIRS:
        of = spreads(plus, minus, metric)
        about = f"  {metric}, δ {delta:g}: " + ", ".join(f"{name} {value:.2f}" for name, value in of.items())
        for quarters, text in ((True, f"{plus} less {minus}"), (False, about)):
            told = "".join(f"{share:4.2f} ".lstrip("0") for share in forecast(of, delta, quarters=quarters))
            print(f"{text:<54}{'4 × 4 ' if quarters else '16 × 1':>6}  {told}".rstrip())


if __name__ == "__main__":
    main()

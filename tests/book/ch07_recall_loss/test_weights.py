"""The bounds of the weights of Eq. 20."""

import numpy as np

from rankedu_book.ch07_recall_loss.weights import asymptotics


def test_bounds_hold_up_to_a_million():
    wrong = {
        "log": [lambda k: 1 / k, lambda k: 1 / k**2, lambda k: np.log1p(1 / k) * (1 + 1e-6)],
        "loglog": [lambda k: np.log1p(np.log1p(1 / k)), lambda k: np.log1p(1 / k)],
    }
    for name, others in wrong.items():
        found = asymptotics(name, 10**6)
        assert found.holds and found.up_to == 10**6 and found.last < 1
        assert not any(asymptotics(name, 10**6, closed_form=other).holds for other in others)

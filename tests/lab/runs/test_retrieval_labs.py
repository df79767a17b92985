"""The labs of the retrieval experiments: what is measured and noted, and what they leave for their judges."""

import pytest
import torch

from rankedu.metrics import evaluate_retrieval
from rankedu_lab.datasets import UnicodeGlyphs
from rankedu_lab.experiments import hierarchical_retrieval, minibatch_statistics, retrieval
from rankedu_lab.experiments._experiment import chosen_settings
from rankedu_lab.experiments.minibatch_statistics import batch_metrics
from rankedu_lab.experiments.retrieval_data import Data
from rankedu_lab.methods import METHODS, make_loss, parse_settings

PATHS = torch.tensor([[i // 8, 10 + i // 4, 100 + 2 * (i // 2)] for i in range(16)])  # ids with gaps
SMALL = {"steps": 6, "batch_size": 16, "dim": 8}


@pytest.mark.usefixtures("few")
def test_metrics_are_those_of_the_whole_test_split(tmp_path):
    given = SMALL | {"pictures": False, "recall_at": [1, 5], "evaluate_every": 3}
    outcome = retrieval.run(given, tmp_path, progress=False)
    leaves = outcome.data.test.labels[:, -1]
    expected = evaluate_retrieval(outcome.embeddings, leaves, metrics=("recall_at_5", "map_at_r"))
    assert outcome.metrics["R@5"] == expected["recall_at_5"] and outcome.metrics["mAP@R"] == expected["map_at_r"]
    assert [row["step"] for row in outcome.rows if "R@1 of a part" in row] == [3, 6] and len(outcome.rows) == 6
    assert {"seconds", "loss share", "waiting share", "evaluation share"} < set(outcome.metrics)
    assert retrieval.chance(outcome.data) == pytest.approx(11 / (11 * 12 - 1))


@pytest.mark.usefixtures("few")
def test_levels_agree_with_the_flat_lab(tmp_path):
    given = SMALL | {"pictures": False, "loss": "rambo_log"}
    flat = retrieval.run(given, tmp_path, progress=False).metrics
    found = hierarchical_retrieval.run(given, tmp_path, progress=False).metrics
    assert found["R@1 of characters"] == flat["R@1"] and found["AP of characters"] == flat["mAP"]
    levels = [found[f"AP of {name}"] for name in ("scripts", "base letters", "characters")]
    assert found["AP, mean of levels"] == pytest.approx(sum(levels) / 3)
    given = SMALL | {"batch_sizes": [16], "images": 0, "memories": [], "batches": 2}
    for ages in ([1], [1, 4]):
        found = minibatch_statistics.run(given | {"ages": ages}, tmp_path, progress=False)
        assert [*found.staleness] == ages


def test_what_a_method_has_not_is_noted_and_so_are_classes_of_one_image_and_a_gallery_apart(few, tmp_path, monkeypatch):
    settings, notes = chosen_settings(retrieval.DEFAULTS | {"loss": "fast_ap", "margin": 0.05, "settings": "bins=7"})
    assert settings == {"bins": 7} and notes == ["FastAP has no margin: 0.05 is not used"]
    settings, notes = chosen_settings(retrieval.DEFAULTS | {"loss": "smooth_ap", "margin": 0.0, "memory": 3})
    assert settings == {"margin": 0.0, "memory": 3} and notes == []
    for data in (few.train, few.test):  # one is left of the first class
        data.images, data.labels = (torch.cat([x[:1], x[12:]]) for x in (data.images, data.labels))
    outcome = retrieval.run(SMALL | {"pictures": False}, tmp_path, progress=False)
    assert outcome.notes[0] == "1 of 13 classes have fewer than 4 images and train nothing"
    assert "1 at level 1 of 121 queries have no relevant item" in outcome.notes[1]
    train, query, gallery = (UnicodeGlyphs("all", characters=c) for c in ("AB", "CD", "CDE"))
    apart = Data(train, query, gallery, "", ("script", "base letter", "character"))
    assert len(apart.labels) == 60 and apart.candidates.sum() == 36
    assert len(Data(train, query, query, "", ("character",)).part(12).test) == 24, "two classes at least"


def test_metrics_of_a_batch_are_those_of_the_definition(refused):
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.nn.functional.normalize(torch.randn(40, 6, generator=generator), dim=1)
    labels = torch.arange(40) // 4
    whole = batch_metrics(embeddings, labels, 40, 1)[0]
    expected = evaluate_retrieval(embeddings, labels, metrics=("average_precision", "recall_at_1"))
    assert whole.tolist() == pytest.approx([expected["average_precision"], expected["recall_at_1"]])
    longer = batch_metrics(embeddings, labels, 10, 3, memory=[embeddings] * 2)
    assert (longer[:, 0] < batch_metrics(embeddings, labels, 10, 3)[:, 0]).all()
    message = "at most the 40 test images, got 20 with 2 remembered"
    refused([(lambda: batch_metrics(embeddings, labels, 20, memory=[embeddings] * 2), ValueError, message)])


def test_every_method_gives_a_gradient_whatever_the_class_ids(refused):
    def value_of(name, paths, embeddings):
        torch.manual_seed(1)
        loss = make_loss(name, dim=5, labels=paths)
        torch.manual_seed(2)  # some miners draw
        items = (torch.arange(len(paths)),) if loss.takes_items else ()
        return loss, loss(embeddings, paths if loss.takes_paths else paths[:, -1], *items)

    for name in METHODS:
        torch.manual_seed(0)
        embeddings = torch.nn.functional.normalize(torch.randn(16, 5), dim=1).requires_grad_()
        loss, value = value_of(name, PATHS, embeddings)
        value.backward()
        assert value.ndim == 0 and value.isfinite(), name
        assert embeddings.grad.isfinite().all() and embeddings.grad.any(), name
        assert METHODS[name].proxies == bool(list(loss.parameters())), name
        assert METHODS[name].takes_items == getattr(loss.loss, "takes_items", False), name
        assert torch.equal(value_of(name, PATHS + torch.tensor([0, 0, 1000]), embeddings)[1], value), name
    assert parse_settings("a=1 b=x, c=false") == {"a": 1, "b": "x", "c": False}
    known, paths = make_loss("normalized_softmax", dim=5, labels=PATHS), r"the paths .* for 'sum_smooth_ap', got None"
    strange = "of the 8 classes of the training set, got 7"
    refused([(lambda: make_loss("sum_smooth_ap", dim=4), ValueError, paths)])
    refused([(lambda: make_loss("happier", dim=4), ValueError, "n_classes must be given")])
    refused([(lambda: known(torch.randn(2, 5), torch.tensor([100, 7])), ValueError, strange)])

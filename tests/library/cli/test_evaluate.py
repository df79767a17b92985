"""`rankedu evaluate`: the numbers are those of `evaluate_retrieval`, and what cannot be meant is refused."""

from __future__ import annotations

import importlib
import json
import os
import re

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu.cli._saved import read_embeddings
from rankedu.metrics import UndefinedMetricWarning, evaluate_retrieval

WORDS = [["Lada", "red"], ["Lada", "red"], ["Lada", "2"], ["Lada", "2"], ["Fiat", "2"], ["Fiat", "2"], ["Fiat", ""]]
IDS = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 2], [1, 2], [1, -1]])
METRICS = ("average_precision", "recall_at_1", "h_ap")


@pytest.fixture
def embeddings():
    return np.random.default_rng(0).normal(size=(7, 5)).astype("float32")


@pytest.fixture
def folder(tmp_path, monkeypatch, embeddings):
    """The dump as `x.npy` and `y.csv`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", embeddings)
    write("y.csv", WORDS)
    return tmp_path


@pytest.fixture
def expected(embeddings):
    with pytest.warns(UndefinedMetricWarning):  # the last item has no model
        result = evaluate_retrieval(torch.from_numpy(embeddings), torch.from_numpy(IDS), metrics=METRICS)
    return {name: result[name] for name in METRICS}


def write(path: str, rows: list[list[str]], comma: str = ",") -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(comma.join(row) + "\n" for row in rows)


def one_column(*labels: object) -> None:
    write("y.csv", [[str(label)] for label in labels])


def run(*arguments: str):
    return CliRunner().invoke(app, ["evaluate", *arguments])


def metrics(*arguments: str) -> dict[str, float]:
    done = run(*arguments, "--metrics", "ap,recall@1,h-ap", "--json", "-")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["metrics"]
    return {name: found[name] for name in METRICS}


def test_the_table_has_a_row_a_level_and_one_for_all(folder):
    done = run("x.npy", "y.csv", "--metrics", "AP,r@1,H-AP")
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head == ["level", "queries", "left", "out", "AP", "r@1", "H-AP"]
    assert [row[:3] for row in rows] == [["1", "7", "0"], ["2", "6", "1"], ["all", "7", "0"]]
    assert [[cell == "—" for cell in row[3:]] for row in rows] == [[False, False, True]] * 2 + [[True, True, False]]
    assert "note: 1 at level 2 of 7 queries have no relevant item" in done.stderr


@pytest.mark.parametrize(
    "save",
    [
        lambda x: np.save("x.npy", np.asfortranarray(x).astype(">f4")),
        lambda x: np.save("x.npy", x.astype("float64")),
    ],
    ids=["big-endian", "float64"],
)
def test_embeddings_may_be_saved_in_any_floating_form(save, folder, embeddings, expected):
    save(embeddings)
    assert metrics("x.npy", "y.csv") == expected


def faiss_index(x):
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatIP(5)
    index.add(x)
    faiss.write_index(index, "x.index")


@pytest.mark.parametrize(
    ("save", "given", "converted"),
    [
        (lambda x: np.savez("x.npz", embeddings=x), ["x.npz", "y.csv"], "x.npy"),
        (lambda x: np.savez("y.npz", labels=IDS), ["x.npy", "y.npz"], "y.npy"),
        (lambda x: torch.save(torch.from_numpy(x), "x.pt"), ["x.pt", "y.csv"], "x.npy"),
        (faiss_index, ["x.index", "y.csv"], "x.npy"),
        (lambda x: write("y.tsv", [["make", "model"], *WORDS], comma="\t"), ["x.npy", "y.tsv"], "y.csv"),
    ],
    ids=["npz", "npz of labels", "pt", "faiss", "tsv"],
)
def test_another_file_is_answered_by_a_line_that_converts_it(save, given, converted, folder, embeddings, expected):
    save(embeddings)
    (folder / converted).unlink(missing_ok=True)
    done = run(*given)
    assert done.exit_code == 2 and "npy, got '." in done.stderr
    [line] = re.findall(r" \(convert it: (.*)\)$", done.stderr, re.MULTILINE)
    exec(line, {name: importlib.import_module(name) for name in re.findall(r"\b(numpy|torch|faiss|csv)\.", line)})
    assert metrics(*(converted if name[0] == converted[0] else name for name in given)) == expected


@pytest.mark.parametrize(
    "save",
    [
        lambda: write("y.csv", [["make", "model"], *WORDS]),
        lambda: write("y.csv", [["file", "model", "make"], *([f"{i}.png", b, a] for i, (a, b) in enumerate(WORDS))]),
        lambda: write("y.csv", [[f" {a} ", f'"{b}"'] for a, b in [*WORDS, ["", ""]]][:7]),
        lambda: write("y.csv", IDS.astype(str).tolist()),
        lambda: np.save("y.npy", IDS),
        lambda: np.save("y.npy", np.array(WORDS)),
        lambda: np.save("y.npy", IDS.astype("int8")),
    ],
    ids=["head", "chosen columns", "spaces and quotes", "numbers", "npy", "npy of words", "npy of int8"],
)
def test_every_format_of_labels_gives_the_same_numbers(save, folder, expected):
    save()
    [file] = {path.name for path in folder.iterdir() if path.stem == "y"} - {"y.csv"} or {"y.csv"}
    chosen = ["--columns", "make,2"] if "file" in (folder / "y.csv").read_text() else []
    assert metrics("x.npy", file, *chosen) == expected


def test_levels_are_named_by_the_head(folder):
    write("y.csv", [["make", "model"], *WORDS])
    assert [line.split()[0] for line in run("x.npy", "y.csv").stdout.splitlines()] == ["level", "make", "model"]


def test_what_was_assumed_is_told(folder, embeddings):
    assert "y.csv: the 2 columns were taken for levels from root to leaf" in run("x.npy", "y.csv").stderr
    write("y.csv", [["make", "model"], *WORDS])
    assert "note: y.csv: the first row, 'make, model', was taken for the head" in run("x.npy", "y.csv").stderr
    one_column("2", *IDS[:, 0])
    found = run("x.npy", "y.csv", "--header", "--json", "-")
    assert json.loads(found.stdout)["table"][0]["level"] == "2" and "'2', was taken for the head" in found.stderr
    np.save("y.npy", IDS[:, 0])
    assert run("x.npy", "y.npy").stderr == ""


def test_all_is_well_if_levels_are_asked_for_together_alone(folder):
    assert "no query has a relevant item" not in run("x.npy", "y.csv", "--metrics", "h-ap").stderr


def test_a_gallery_shares_the_numbers_of_the_classes(folder, embeddings):
    """The same words in another order, and as numbers in one file and words in the other."""
    np.save("g.npy", embeddings[::-1])
    write("g.csv", [["2"], ["1"], ["10"]] * 2 + [["1"]])
    np.save("y.npy", np.array([1, 2, 10, 2, 1, 10, 2]))
    result = evaluate_retrieval(
        torch.from_numpy(embeddings),
        torch.tensor([1, 2, 10, 2, 1, 10, 2]),
        gallery=torch.from_numpy(embeddings[::-1].copy()),
        gallery_labels=torch.tensor([2, 1, 10, 2, 1, 10, 1]),
        metrics=METRICS,
    )
    found = metrics("x.npy", "y.npy", "--gallery", "g.npy", "--gallery-labels", "g.csv")
    assert found == {name: result[name] for name in METRICS}


def test_json_goes_to_a_file_and_has_null_for_what_is_undefined(folder):
    write("y.csv", [[str(i)] for i in range(7)])
    done = run("x.npy", "y.csv", "--json", "new/result.json")
    found = json.loads((folder / "new" / "result.json").read_text(), parse_constant=pytest.fail)
    assert "nan" in done.stdout and found["metrics"] == {
        "queries": 0,
        "left_out": 7,
        "average_precision": None,
        "recall_at_1": None,
        "map_at_r": None,
    }
    assert (
        found["embeddings"] == {"file": "x.npy", "shape": [7, 5]} and "7 queries have no relevant" in found["notes"][0]
    )
    assert [path.name for path in (folder / "new").iterdir()] == ["result.json"]


def test_settings_reach_the_metric(folder):
    one, five = (metrics("x.npy", "y.csv", "--alpha", alpha)["h_ap"] for alpha in ("1", "5"))
    monotone = metrics("x.npy", "y.csv", "--alpha", "1", "--monotone")["h_ap"]
    assert len({one, five, monotone}) == 3


def test_another_similarity_ranks_otherwise(folder, embeddings):
    embeddings[0] *= 100
    np.save("x.npy", embeddings)
    np.save("y.npy", IDS[:, 0])
    for kind in ("cosine", "dot", "euclidean"):
        expected = evaluate_retrieval(*map(torch.from_numpy, (embeddings, IDS[:, 0])), similarity=kind, progress=False)
        found = json.loads(run("x.npy", "y.npy", "--similarity", kind, "--json", "-").stdout)
        assert found["similarity"] == kind
        assert found["metrics"]["average_precision"] == pytest.approx(expected["average_precision"])
    assert "one of 'cosine', 'dot', 'euclidean', got 'l2'" in run("x.npy", "y.csv", "--similarity", "l2").stderr


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("mAP", "average_precision"),
        ("mAP@R", "map_at_r"),
        ("map_at_r", "map_at_r"),
        ("Recall@10", "recall_at_10"),
        ("recall_at_10", "recall_at_10"),
        ("R@10", "recall_at_10"),
        ("p@5", "precision_at_5"),
        ("h_ap", "h_ap"),
        ("NDCG", "ndcg"),
        ("ASI", "asi"),
        ("average precision", "average_precision"),
        ("AP@10", "average_precision_at_10"),
        ("hit-rate@1", "recall_at_1"),
        ("recall_share@10", "recall_share_at_10"),
        ("R-precision", "r_precision"),
        ("MRR", "mrr"),
        ("nDCG@5", "ndcg_at_5"),
    ],
)
def test_metrics_have_the_names_that_people_use(name, full, folder):
    found = json.loads(run("x.npy", "y.csv", "--metrics", f"asi, {name}", "--json", "-").stdout)["metrics"]
    assert found.keys() == {"queries", "left_out", "asi", full}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("mpa", "'map@r'"),
        ("recal@1", "'recall@1'"),
        ("recall@0", "'recall@10'"),
        ("hapier", "'h_ap'"),
        ("ndgc@5", "'ndcg@5'"),
        ("r-precison", "'r_precision'"),
    ],
)
def test_a_wrong_name_is_answered_by_the_nearest(name, near, folder):
    assert f"did you mean {near}" in run("x.npy", "y.csv", "--metrics", name).stderr


def objects():
    np.save("x.npy", np.array([{"a": 1}], dtype=object))


def nan():
    np.save("x.npy", np.where(np.arange(7)[:, None] == 3, np.nan, np.ones((7, 5))))


WRONG = [
    (lambda: None, ["z.npy", "y.csv"], "z.npy: embeddings must be a file, there is none"),
    (lambda: None, ["x.npy", "z.csv"], "z.csv: labels must be a file, there is none"),
    (lambda: write("x.txt", WORDS), ["x.txt", "y.csv"], "x.txt: embeddings must be a file ending in .npy"),
    (lambda: None, ["x.npy", "y.xlsx"], "y.xlsx: labels must be a file ending in .csv"),
    (objects, ["x.npy", "y.csv"], "x.npy: embeddings must be an array saved by numpy.save, and no objects"),
    (lambda: write("x.npy", WORDS), ["x.npy", "y.csv"], "x.npy: embeddings must be an array saved by numpy.save"),
    (
        lambda: np.save("x.npy", IDS),
        ["x.npy", "y.csv"],
        "float16, float32 or float64, got int64 (are these the labels?)",
    ),
    (lambda: np.save("x.npy", np.ones(7)), ["x.npy", "y.csv"], "x.npy: embeddings must have shape (n, dim)"),
    (
        nan,
        ["x.npy", "y.csv"],
        "x.npy: embeddings must be finite, with rows of length 0 or from 1e-12 to",
    ),
    (
        lambda: write("y.csv", WORDS[:5]),
        ["x.npy", "y.csv"],
        "y.csv: labels must have 7 rows, one for each",
    ),
    (
        lambda: write("y.csv", [["id"]] + [["1"]] * 6),
        ["x.npy", "y.csv"],
        "7 rows below the head, one for each item, got",
    ),
    (
        lambda: write("y.csv", [*WORDS[:6], ["a"]]),
        ["x.npy", "y.csv"],
        "as many columns in each row: the number of columns changed from 2 to 1 at row 7\n",
    ),
    (lambda: write("y.csv", [["", "a"], *WORDS]), ["x.npy", "y.csv"], None),  # a head may be empty
    (lambda: write("y.csv", [*WORDS[:6], ["", "a"]]), ["x.npy", "y.csv"], "y.csv, row 7: labels must run from root"),
    (
        lambda: write("y.csv", WORDS, comma=";"),
        ["x.npy", "y.csv"],
        "y.csv, row 1: columns of labels must be",
    ),
    (
        lambda: np.save("y.npy", IDS) or os.replace("y.npy", "y.csv"),
        ["x.npy", "y.csv"],
        "y.csv: labels must be text in UTF-8",
    ),
    (lambda: write("y.csv", []), ["x.npy", "y.csv"], "y.csv: labels must have 7 rows, one for each"),
    (
        lambda: None,
        ["x.npy", "y.csv", "--columns", "make"],
        "y.csv: columns must be among (without a head) 1 to 2",
    ),
    (lambda: np.save("y.npy", np.ones(7)), ["x.npy", "y.npy"], "y.npy: labels must be integer or text, got float64"),
    (lambda: np.save("y.npy", IDS[:4]), ["x.npy", "y.npy"], "y.npy: labels must have shape (7,) or (7, L)"),
    (lambda: np.save("y.npy", IDS - 2), ["x.npy", "y.npy"], "y.npy: labels must be >= 0, or -1 below"),
    (lambda: None, ["x.npy", "y.csv", "--gallery", "x.npy"], "gallery_labels must be given with gallery"),
    (
        lambda: np.save("y.npy", IDS[:, 0]),
        ["x.npy", "y.csv", "--gallery", "x.npy", "--gallery-labels", "y.npy"],
        "y.npy: labels must have as many columns as y.csv, 2, got 1",
    ),
    (
        lambda: np.save("g.npy", np.ones((7, 4))),
        ["x.npy", "y.csv", "--gallery", "g.npy", "--gallery-labels", "y.csv"],
        "g.npy: gallery must have the 5 dimensions of embeddings, got 4",
    ),
    (lambda: one_column(1, 1, 2, 2, 3, 3, 4, 4), ["x.npy", "y.csv"], "the first, '1', looks like a label"),
    (lambda: one_column("2.0", *range(7)), ["x.npy", "y.csv"], "the first, '2.0', looks like a label"),
    (lambda: one_column(*"abcabcab"), ["x.npy", "y.csv"], "got 8, and the first, 'a', looks like a label"),
    (lambda: one_column(*"abcabca"), ["x.npy", "y.csv", "--header"], "7 rows below the head, one for each item, got 6"),
    (
        lambda: write("g.csv", [[f"{item:05}"] for item in range(7)]) or one_column(*range(7)),
        ["x.npy", "y.csv", "--gallery", "x.npy", "--gallery-labels", "g.csv"],
        "g.csv: labels must be written as in y.csv, got '00000' here and '0' there, which are two classes",
    ),
    (
        lambda: write("g.csv", [["0"], *([f"{item}.0"] for item in range(1, 7))]) or np.save("y.npy", np.arange(7)),
        ["x.npy", "y.npy", "--gallery", "x.npy", "--gallery-labels", "g.csv"],
        "g.csv: labels must be written as in y.npy, got '1.0' here and '1' there",
    ),
    (
        lambda: write("g.csv", [["cat"]] * 7),
        ["x.npy", "y.csv", "--columns", "1", "--gallery", "x.npy", "--gallery-labels", "g.csv"],
        "g.csv: labels must have a class in common with y.csv, got none: 'cat' here, 'Fiat' there",
    ),
    (lambda: np.save("y.npy", np.eye(7, dtype=int)), ["x.npy", "y.npy"], "7 columns of 0 and 1, one-hot rows (save"),
    (lambda: np.save("y.npy", np.tri(7) > 0), ["x.npy", "y.npy"], "0 and 1, rows with several classes (an item must"),
    (lambda: write("y.csv", np.tri(7, dtype=int).astype(str)), ["x.npy", "y.csv"], "y.csv: labels must be a class for"),
    (lambda: None, ["x.npy", "y.csv", "--alpha", "0"], "alpha must be"),
    (lambda: None, ["x.npy", "y.csv", "--chunk-size", "0"], "chunk_size must be"),
    (lambda: None, ["x.npy", "y.csv", "--device", "tpu"], "device must be"),
    (lambda: None, ["x.npy", "y.csv", "--device", "cuda:99"], "device must be one of 'auto', 'cpu'"),
]


@pytest.mark.parametrize(("make", "arguments", "message"), WRONG, ids=lambda value: None)
def test_an_error_names_the_file_the_row_and_what_was_expected(make, arguments, message, folder):
    make()
    done = run(*arguments, "--json", "result.json")
    if message is None:
        assert done.exit_code == 0
        return
    assert done.exit_code == 2 and message in done.stderr, done.output
    assert "Traceback" not in done.output and not (folder / "result.json").exists()


def test_a_dump_may_be_larger_than_the_memory(folder):
    """A file with a hole in it: nothing of it is read before it is used."""
    rows, dim = 1 << 24, 1024
    with open("large.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})
        file.truncate(file.tell() + rows * dim * 4)
    found = read_embeddings(folder / "large.npy")
    assert found.shape == (rows, dim) and found[rows - 1, 0] == 0


def test_labels_that_are_ids_are_told(folder, embeddings):
    (folder / "ids.csv").write_text("\n".join(f"image_{row}" for row in range(len(embeddings))), encoding="utf-8")
    done = run("x.npy", "ids.csv", "--metrics", "ap")
    assert done.exit_code == 0
    assert "ids.csv: no query has a relevant item" in done.stderr and "result[" not in done.stderr

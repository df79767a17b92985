"""The command line, run as a reader runs it; `evaluate` gives the numbers of `evaluate_retrieval`."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import rankedu
from rankedu.cli import app
from rankedu.files import read_embeddings
from rankedu.metrics import UndefinedMetricWarning, evaluate_retrieval

run = CliRunner().invoke


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)


def test_doctor_names_what_is_missing_and_its_fix(monkeypatch):
    assert run(app, ["--version"]).stdout.strip() == rankedu.__version__
    done = run(app, ["doctor"])
    assert done.exit_code == 0 and all(subject in done.stdout for subject in ("Python", "torch", "numpy", "GPU"))
    installed = metadata.version
    for missing, code in (("torch", 1), ("nbval", 0)):

        def version(name, missing=missing):
            if name == missing:
                raise metadata.PackageNotFoundError(name)
            return installed(name)

        monkeypatch.setattr(metadata, "version", version)
        done = run(app, ["doctor"])
        assert done.exit_code == code, "only the core is essential"
        assert f"✗ {missing}" in done.stdout and "pip install 'rankedu" in done.stdout


def test_without_typer_the_command_says_what_to_install():
    done = python("import sys; sys.modules['typer'] = None; from rankedu.__main__ import main; main()")
    assert done.returncode == 1 and "pip install 'rankedu[cli]'" in done.stderr and "Traceback" not in done.stderr


def test_what_is_heavy_is_imported_where_it_is_needed():
    """Help and the package without torch; the core with torch and NumPy alone."""
    heavy = ["scipy", "matplotlib", "sympy", "ipywidgets", "tqdm", "PIL", "IPython", "sphinx", "docutils"]
    code = f"""if True:
        import sys
        sys.modules.update(dict.fromkeys({heavy}))
        import rankedu, rankedu.cli
        assert "torch" not in sys.modules
        sys.modules["typer"] = None
        import rankedu.losses.on_embeddings, rankedu.metrics.retrieval, rankedu.memory, rankedu.reference
        from rankedu.proofs import hierarchical, rearrangement, recall_weights
        import rankedu_book.kit.check, torch
        rankedu.losses.SmoothAPLoss()(torch.rand(4), torch.tensor([True, False, False, True]))
        assert "torch._dynamo" not in sys.modules, "the compiler"
    """
    done = python(code)
    assert done.returncode == 0, done.stderr


ASKED = ["--help", "doctor --json", "evaluate x.npy y.npy", "run sodeep -p steps=1 --force", "data --help", "nun"]
OTHERS = ["scipy", "matplotlib", "sympy", "tqdm", "PIL", "papermill", "dask", "filelock", "nbclient", "yaml"]
OTHERS += ["jupyter_client", "torchvision", "platformdirs", "psutil", "pytorch_metric_learning"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What commands say in a plain install: there is the library, and beside it torch, NumPy and Typer."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copytree(Path(rankedu.__file__).parent, folder / "rankedu", ignore=shutil.ignore_patterns("__pycache__"))
    np.save(folder / "x.npy", np.eye(4, 3))
    np.save(folder / "y.npy", np.array([0, 0, 1, 1]))
    code = f"""if True:
        import json, sys
        sys.modules.update(dict.fromkeys({OTHERS}))
        from rankedu.cli import app
        from typer.testing import CliRunner
        done = [CliRunner().invoke(app, command.split()) for command in {ASKED}]
        print(json.dumps([[d.exit_code, d.stdout, d.stderr] for d in done]))
    """
    libraries = os.pathsep.join(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    environment = os.environ | {"PYTHONPATH": libraries}
    command = [sys.executable, "-S", "-c", code]  # -S: no file there puts the checkout on the path
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(ASKED, json.loads(done.stdout), strict=True))


def test_commands_in_a_plain_install(plain):
    """Those of a checkout say so; doctor asks for no more than the library needs."""
    where = "in a checkout of the repository (install it there: pip install -e '.[lab]')"
    for command in ("run sodeep -p steps=1 --force", "data --help"):
        assert plain[command] == [2, "", f"rankedu {command.split()[0]}: this command works {where}\n"]
    assert "No such command 'nun'" in plain["nun"][2]
    findings = json.loads(plain["doctor --json"][1])
    assert {"subject", "found", "ok", "fix", "essential"} == set(findings[0])
    assert {finding["subject"] for finding in findings} == {"Python", "torch", "numpy", "processor", "GPU"}
    code, said, _ = plain["evaluate x.npy y.npy"]
    assert code == 0 and "map@r" in said


# `rankedu evaluate`

WORDS = [["Lada", "red"], ["Lada", "red"], ["Lada", "2"], ["Lada", "2"], ["Fiat", "2"], ["Fiat", "2"], ["Fiat", ""]]
IDS = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 2], [1, 2], [1, -1]])
MAKES = IDS[:, 0]
METRICS = ("average_precision", "recall_at_1", "h_ap")
X = np.random.default_rng(0).normal(size=(7, 5)).astype("float32")


def save(name, content, comma=","):
    """An array, or rows of words, or of one word each."""
    if isinstance(content, np.ndarray) and name.endswith(".npy"):
        return np.save(name, content)
    rows = [row if isinstance(row, (list, np.ndarray)) else [row] for row in content]
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(comma.join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The dump as `x.npy` and `y.csv`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    save("x.npy", X)
    save("y.csv", WORDS)
    return tmp_path


@pytest.fixture(scope="module")
def expected():
    with pytest.warns(UndefinedMetricWarning):  # the last item has no model
        result = evaluate_retrieval(torch.from_numpy(X), torch.from_numpy(IDS), metrics=METRICS)
    return {name: result[name] for name in METRICS}


def evaluate(arguments="x.npy y.csv", *more):
    return run(app, ["evaluate", *arguments.split(), *more])


def report(arguments="x.npy y.csv", *more):
    done = evaluate(arguments, *more, "--json", "-")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def metrics(arguments="x.npy y.csv", *more):
    found = report(arguments, *more, "--metrics", "ap,recall@1,h-ap")["metrics"]
    return {name: found[name] for name in METRICS}


def test_the_table_has_a_row_a_level_and_one_for_all(folder):
    done = evaluate("x.npy y.csv --metrics AP,r@1,H-AP")
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    assert head == ["level", "queries", "left", "out", "AP", "r@1", "H-AP"]
    assert [row[:3] for row in rows] == [["1", "7", "0"], ["2", "6", "1"], ["all", "7", "0"]]
    assert [[cell == "—" for cell in row[3:]] for row in rows] == [[False, False, True]] * 2 + [[True, True, False]]
    assert "note: 1 at level 2 of 7 queries have no relevant item" in done.stderr
    assert "y.csv: the 2 columns were taken for levels from root to leaf" in done.stderr
    assert "no query has a relevant item" not in evaluate("x.npy y.csv --metrics h-ap").stderr
    save("named.csv", [["manufacturer", "model"], *WORDS])
    assert len({len(line) for line in evaluate("x.npy named.csv").stdout.splitlines()}) == 1  # the columns are aligned


def test_auto_is_a_gpu_if_there_is_one(folder):
    first = "cuda:0" if torch.cuda.is_available() else "cpu"
    assert [report(f"x.npy y.csv --device {name}")["device"] for name in ("auto", "cpu")] == [first, "cpu"]


def faiss_index(x):
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatIP(5)
    index.add(x)
    faiss.write_index(index, "x.index")


@pytest.mark.parametrize(
    ("make", "given", "converted"),
    [
        (lambda: np.savez("x.npz", embeddings=X), "x.npz y.csv", "x.npy"),
        (lambda: np.savez("y.npz", labels=IDS), "x.npy y.npz", "y.npy"),
        (lambda: torch.save(torch.from_numpy(X), "x.pt"), "x.pt y.csv", "x.npy"),
        (lambda: faiss_index(X), "x.index y.csv", "x.npy"),
        (lambda: save("y.tsv", [["make", "model"], *WORDS], comma="\t"), "x.npy y.tsv", "y.csv"),
    ],
    ids=["npz", "npz of labels", "pt", "faiss", "tsv"],
)
def test_another_file_is_answered_by_a_line_that_converts_it(make, given, converted, folder, expected):
    make()
    (folder / converted).unlink(missing_ok=True)
    done = evaluate(given)
    assert done.exit_code == 2 and "npy, got '." in done.stderr
    [line] = re.findall(r" \(convert it: (.*)\)$", done.stderr, re.MULTILINE)
    exec(line, {name: importlib.import_module(name) for name in re.findall(r"\b(numpy|torch|faiss|csv)\.", line)})
    assert metrics(re.sub(rf"{converted[0]}\.\w+", converted, given)) == expected


def test_every_format_gives_the_same_numbers(folder, expected):
    numbered = [["file", "model", "make"], *([f"{i}.png", model, make] for i, (make, model) in enumerate(WORDS))]
    for name, content, *more in (
        ("y.csv", [["make", "model"], *WORDS]),
        ("y.csv", numbered, "--columns", "make,2"),
        ("y.csv", [[f" {make} ", f'"{model}"'] for make, model in WORDS]),
        ("y.csv", [f"{make};{model}" for make, model in WORDS]),
        ("y.CSV", [["make", "model"], *WORDS]),
        ("y.csv", [["", "a"], *WORDS]),  # a head may be empty
        ("y.csv", IDS),
        ("y.npy", IDS),
        ("y.npy", np.array(WORDS)),
        ("y.npy", IDS.astype("int8")),
        ("x.npy", np.asfortranarray(X).astype(">f4")),
        ("x.npy", X.astype("float64")),
    ):
        save(name, content)
        assert metrics(f"x.npy {'y.csv' if name == 'x.npy' else name}", *more) == expected, (name, content)


def test_levels_are_named_by_the_head_and_what_was_assumed_is_told(folder):
    save("y.csv", [["make", "model"], *WORDS])
    done = evaluate()
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["level", "make", "model"]
    assert "note: y.csv: the first row, 'make, model', was taken for the head" in done.stderr
    save("y.csv", ["2", *MAKES])
    found = evaluate("x.npy y.csv --header --json -")
    assert json.loads(found.stdout)["table"][0]["level"] == "2" and "'2', was taken for the head" in found.stderr
    save("y.npy", MAKES)
    assert evaluate("x.npy y.npy").stderr == ""


def test_a_gallery_shares_the_numbers_of_the_classes(folder):
    """The same words in another order, and as numbers in one file and words in the other."""
    ours, theirs = np.array([1, 2, 10, 2, 1, 10, 2]), np.array([2, 1, 10, 2, 1, 10, 1])
    for name, content in {"g.npy": X[::-1], "g.csv": theirs, "y.npy": ours}.items():
        save(name, content)
    x, g, ours, theirs = map(torch.from_numpy, (X, X[::-1].copy(), ours, theirs))
    result = evaluate_retrieval(x, ours, gallery=g, gallery_labels=theirs, metrics=METRICS)
    found = metrics("x.npy y.npy --gallery g.npy --gallery-labels g.csv")
    assert found == {name: result[name] for name in METRICS}


def test_json_goes_to_a_file_and_has_null_for_what_is_undefined(folder):
    save("y.csv", range(7))
    done = evaluate("x.npy y.csv --json new/result.json")
    assert "y.csv: no query has a relevant item" in done.stderr and "result[" not in done.stderr
    found = json.loads((folder / "new" / "result.json").read_text(), parse_constant=pytest.fail)
    undefined = dict.fromkeys(["average_precision", "recall_at_1", "map_at_r"])
    assert "nan" in done.stdout and found["metrics"] == {"queries": 0, "left_out": 7, **undefined}
    assert found["embeddings"] == {"file": "x.npy", "shape": [7, 5]}
    assert "7 queries have no relevant" in found["notes"][0]
    assert [path.name for path in (folder / "new").iterdir()] == ["result.json"]


def test_settings_reach_the_metric(folder):
    given = ("--alpha 1", "--alpha 5", "--alpha 1 --monotone")
    assert len({metrics(f"x.npy y.csv {settings}")["h_ap"] for settings in given}) == 3
    x = X * np.array([100, 1, 1, 1, 1, 1, 1], dtype="float32")[:, None]
    save("x.npy", x)
    save("y.npy", MAKES)
    for kind in ("cosine", "dot", "euclidean"):
        expected = evaluate_retrieval(*map(torch.from_numpy, (x, MAKES)), similarity=kind)
        found = report(f"x.npy y.npy --similarity {kind}")
        assert found["similarity"] == kind
        assert found["metrics"]["average_precision"] == pytest.approx(expected["average_precision"])


def test_ids_ties_and_intervals(folder):
    """An item that is there twice, in the file or in the gallery, is no partner of itself."""
    names = [f"{i}.png" for i in range(7)]
    for name, content in {"i.csv": names, "y.npy": MAKES, "g.npy": X[::-1], "gy.npy": MAKES[::-1]}.items():
        save(name, content)
    save("gi.csv", ["file", *names[::-1]])
    gallery = "--gallery g.npy --gallery-labels gy.npy"
    for more in ("", " --ties pessimistic"):
        once = metrics(f"x.npy y.npy{more}")
        assert metrics(f"x.npy y.npy {gallery} --ids i.csv --gallery-ids gi.csv{more}") == pytest.approx(once)
    assert "7 of 7 queries have an exact copy" in evaluate(f"x.npy y.npy {gallery}").stderr
    twice = [*range(7), 0]
    for name, content in {"x.npy": X[twice], "y.npy": MAKES[twice], "i.npy": np.array(twice)}.items():
        save(name, content)
    assert metrics("x.npy y.npy --ids i.npy --ties pessimistic") == once
    found = report("x.npy y.npy --ids i.npy --interval 0.9")
    low, high = found["metrics"]["interval"]["recall_at_1"]
    assert low < found["metrics"]["recall_at_1"] < high
    assert f"({low:.3f} to {high:.3f})" in evaluate("x.npy y.npy --ids i.npy --interval 0.9").stdout
    done = evaluate("x.npy y.npy --ids i.csv")
    assert done.exit_code == 2 and "i.csv: " in done.stderr


NAN = np.where(np.arange(7)[:, None] == 3, np.nan, np.ones((7, 5)))
TWICE = "x.npy y.csv --gallery x.npy --gallery-labels g.csv"
#: Files, arguments, and what the error names: one row for each kind of mistake.
WRONG = [
    ({}, "z.npy y.csv", "z.npy: embeddings must be a file"),
    ({"x.npy": np.array([{"a": 1}])}, "", "x.npy: embeddings must be an array saved by numpy.save, and no objects"),
    ({"x.npy": IDS}, "", "float16, float32 or float64, got int64"),
    ({"x.npy": np.ones(7)}, "", "x.npy: embeddings must have shape (n, dim)"),
    ({"x.npy": NAN}, "", "x.npy: embeddings must be finite"),
    ({"y.csv": WORDS[:5]}, "", "y.csv: labels must have 7 rows"),
    ({"y.csv": [*WORDS[:6], ["a"]]}, "", "y.csv, line 7: lines must have 2 cells"),
    ({"y.csv": [*WORDS[:6], ["", "a"]]}, "", "y.csv, row 7: labels must run from root"),
    ({}, "x.npy y.csv --columns make", "y.csv: columns must be among"),
    ({"y.npy": MAKES}, TWICE.replace("g.csv", "y.npy"), "y.npy: labels must have as many columns"),
    ({"y.csv": "11223344"}, "", "the first, '1', looks like a label"),
    ({"g.csv": ["00000"] * 7, "y.csv": range(7)}, TWICE, "as in y.csv, got '00000' here and '0' there"),
    ({"g.csv": ["cat"] * 7}, f"{TWICE} --columns 1", "g.csv: labels must have a class in common"),
    ({"y.npy": np.eye(7, dtype=int)}, "x.npy y.npy", "7 columns of 0 and 1, one-hot rows"),
    ({"y.npy": np.tri(7) > 0}, "x.npy y.npy", "0 and 1, rows with several classes"),
    ({}, "x.npy y.csv --device cuda:99", "device must be one of 'auto', 'cpu'"),
]


def test_an_error_names_the_file_the_row_and_what_was_expected(folder):
    for files, arguments, message in WRONG:
        for name, content in {"x.npy": X, "y.csv": WORDS, **files}.items():
            save(name, content)
        done = evaluate(arguments or "x.npy y.csv", "--json", "result.json")
        assert done.exit_code == 2 and message in done.stderr, (message, done.output)
        assert "Traceback" not in done.output and not (folder / "result.json").exists()
    (folder / "y.csv").write_bytes(b"\x93NUMPY")
    assert "y.csv: a table must be text in UTF-8" in evaluate().stderr


def test_a_dump_may_be_larger_than_the_memory(folder):
    """A file with a hole in it: nothing of it is read before it is used."""
    rows, dim = 1 << 24, 1024
    with open("large.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})
        file.truncate(file.tell() + rows * dim * 4)
    found = read_embeddings(folder / "large.npy")
    assert found.shape == (rows, dim) and found[rows - 1, 0] == 0

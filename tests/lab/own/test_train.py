"""`rankedu train`: from pictures of your own to a network that is evaluated, an interrupted run, and bad input."""

import csv
import re

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu.metrics import evaluate_retrieval
from rankedu.metrics.intervals import mean_interval
from rankedu_lab.experiments import own
from rankedu_lab.experiments.own import evaluation, training
from rankedu_lab.training import loop

QUICK = ["--steps", "20", "--batch-size", "16", "--size", "16"]
FILES = {"run.json", "card.md", "log.csv", "queries.png", "embeddings.npy", "labels.csv", "queries.csv", "model.pt"}


def picture(path, colour, seed):
    """Noise of a colour, so that something can be learnt."""
    noise = np.random.default_rng(seed).normal(0, 40, (20, 16, 3))
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray((np.array(colour) + noise).clip(0, 255).astype(np.uint8)).save(path)


COLOURS = [(40 + 170 * (i % 2), 40 + 170 * (i // 2 % 2), 40 + 50 * (i // 4)) for i in range(8)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Eight classes of five pictures; the current folder is beside it."""
    monkeypatch.chdir(tmp_path)
    for at, colour in enumerate(COLOURS):
        for item in range(5):
            picture(tmp_path / "mine" / f"class{at}" / f"{item}.png", colour, 10 * at + item)
    return tmp_path / "mine"


@pytest.fixture
def table(folder):
    """The same as a table with a hierarchy: a function that writes lines, changed if asked for."""
    rows = [(f"class{at}/{item}.png", f"group{at % 2}", f"kind{at}") for at in range(8) for item in range(5)]

    def write(change=lambda rows: rows, head="path,group,kind"):
        lines = [head, *(",".join(row) for row in change([*rows]))]
        (folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder / "table.csv"

    return write


def given(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


def test_a_folder_becomes_a_card_that_says_what_the_files_say(folder, monkeypatch, tmp_path_factory):
    (folder / "class0" / "notes.txt").write_text("x")
    done = given("mine", *QUICK)
    out = folder.parent / "mine-trained"
    assert done.exit_code == 0 and {path.name for path in out.iterdir()} == FILES, done.output
    assert (
        "training: pictures 25, class 5\ntest: pictures 15, class 3; 3 of 8 classes, drawn by seed 0, are"
        in done.output
    )
    card = (out / "card.md").read_text(encoding="utf-8")
    embeddings, labels = np.load(out / "embeddings.npy"), np.genfromtxt(out / "labels.csv", dtype=str, skip_header=1)
    numbers = torch.from_numpy(np.unique(labels, return_inverse=True)[1])
    found = evaluate_retrieval(torch.from_numpy(embeddings), numbers)
    assert f"| trained | {found['recall_at_1']:.3f} (" in card and "untrained network" in card and "| pixels |" in card
    rows = list(csv.DictReader((out / "queries.csv").open(encoding="utf-8")))
    assert np.isclose(np.mean([float(row["mAP"]) for row in rows]), found["average_precision"], atol=1e-4)
    assert "| grey pixels, PCA |" in card
    [gained] = [line.split(" | ") for line in card.splitlines() if line.startswith("| trained − untrained network |")]
    [before, after] = [
        line.split(" | ") for line in card.splitlines() if line.startswith(("| untrained", "| trained |"))
    ]
    assert float(gained[1][:6]) == pytest.approx(float(after[1][:5]) - float(before[1][:5]), abs=1.1e-3)
    code, known = re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {}
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))  # it runs as printed, from any folder
    exec(code, known)
    assert f"/{rows[0]['path']}'" in code
    torch.testing.assert_close(known["embedding"][0], torch.from_numpy(embeddings[0]), atol=1e-5, rtol=1e-4)
    monkeypatch.chdir(folder.parent)
    assert "1 other files are passed over: class0/notes.txt" in card
    again = given("mine", *QUICK)
    assert again.exit_code == 0 and "Nothing to do: it is done" in again.output
    other = given("mine", *QUICK, "--seed", "1")
    assert other.exit_code == 2 and "is of another run, with data=" in other.output


def test_a_folder_is_claimed_before_any_work_and_given_back(folder, monkeypatch):
    """A folder in use, of others, a file, one that cannot be written: nothing is read, and no folder stays behind."""
    monkeypatch.setattr(own, "read", None)
    with own.claimed(folder.parent / "busy", folder):
        assert "busy is in use by another run" in given("mine", "--out", "busy").output
    assert not (folder.parent / "busy").exists()
    (folder.parent / "a file").write_text("x")
    assert "out must be a folder, got the file" in given("mine", "--out", "a file").output
    assert "Not a directory: 'a file" in given("mine", "--out", "a file/out").output
    (folder.parent / "full").mkdir()
    (folder.parent / "full" / "x").write_text("x")
    assert "nothing is overwritten (name another folder" in given("mine", "--out", "full").output
    done = given("mine", "--out", "mine/out")
    assert done.exit_code == 2 and "out must not be in mine" in done.output and "--out)" in done.output


def test_a_full_disk_names_the_file_and_the_run_goes_on_when_there_is_room(folder, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(*arguments, of=training.train_by, **options):
        history = of(*arguments, **options)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        return history

    with monkeypatch.context() as patched:
        patched.setattr(training, "train_by", full)
        done = given("mine", *QUICK)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code == 2 and re.search(r"File too large: 'mine-trained/\w+", done.output), done.output
    assert given("mine", *QUICK).exit_code == 0 and (folder.parent / "mine-trained" / "card.md").is_file()


def test_what_is_all_alike_is_said_on_the_card(folder, monkeypatch):
    for path in folder.glob("*/*.png"):
        Image.new("RGB", (16, 16), "green").save(path)
    done = given("mine", *QUICK)
    card = (folder.parent / "mine-trained" / "card.md").read_text(encoding="utf-8")
    for said in ("all 40 pictures are alike at side 16", "trained: all embeddings of the test are alike"):
        assert said in card and said in done.output


def test_a_run_that_is_stopped_goes_on_to_the_result_of_one_that_was_not(folder, monkeypatch):
    whole, one = given("mine", *QUICK, "--out", "whole"), loop.one_step

    def stopped(run, batch, clock):
        if run.step == 13:
            raise KeyboardInterrupt
        return one(run, batch, clock)

    monkeypatch.setattr(loop, "one_step", stopped)
    cut = given("mine", *QUICK, "--out", "cut")
    assert cut.exit_code == 130 and "the same command goes on" in cut.output
    assert {path.name for path in (folder.parent / "cut").iterdir()} == {"run.json", "state"}
    monkeypatch.setattr(loop, "one_step", one)
    rest = given("mine", *QUICK, "--out", "cut")
    assert rest.exit_code == whole.exit_code == 0
    assert rest.output.splitlines()[:-1] == whole.output.splitlines()[:-1]
    kept = [torch.load(folder.parent / name / "model.pt", weights_only=True) for name in ("whole", "cut")]
    assert all(torch.equal(value, kept[1][name]) for name, value in kept[0].items())
    assert "stopped after step 10, and taken up again" in (folder.parent / "cut" / "card.md").read_text(
        encoding="utf-8"
    )


def test_a_table_is_a_hierarchy_and_a_network_that_knows_something_gives_frozen_features(table, monkeypatch, tmp_path):
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path / "cache"))
    done = given(table(), *QUICK, "--out", "deep")
    assert done.exit_code == 0 and "R@1 of group" in done.output and "H-AP" in done.output
    assert "| loss | happier |" in (tmp_path / "deep" / "card.md").read_text(encoding="utf-8")
    frozen = [table(), *QUICK, "--frozen", "--weights", "deep/model.pt", "--loss", "contrastive"]
    done = given(*frozen, "--out", "quick")
    assert done.exit_code == 0 and "frozen features" in done.output, done.output
    [kept] = (tmp_path / "cache").glob("features-*.npz")
    asked, embed = [], training.embed
    monkeypatch.setattr(training, "embed", lambda net, *a, **b: asked.append(net) or embed(net, *a, **b))
    assert given(*frozen, "--out", "other", "--lr", "0.01").exit_code == 0 and kept.is_file()
    assert [type(net) for net in asked] == [torch.nn.Linear]  # of the pictures nothing is embedded again
    before, after = (torch.load(tmp_path / name / "model.pt", weights_only=True) for name in ("deep", "quick"))
    assert {name for name in before if not torch.equal(before[name], after[name])} == {"embed.weight", "embed.bias"}


def change(at, *row):
    """Put another row in the place of one."""
    return lambda rows: [*rows[:at], row, *rows[at + 1 :]]


def sides(odd, other="train"):
    """A column more, in which the second row has a word of its own."""
    return lambda rows: [(*row, odd if at == 1 else other) for at, row in enumerate(rows)]


HEAD, SPLIT = "path,group,kind", "path,group,kind,split"
MISSING = (lambda rows: [*rows[1:], ("no.png", "group0", "kind0"), ("bad.png", "group0", "kind0")], HEAD)
#: An error, and a table that has it: a change of its rows, and the head.
WRONG = {
    "line 1: the head must be path,label": (list, "file,group,kind"),
    "must have a line for each picture": (lambda rows: [], HEAD),
    "line 3: path must be below mine, got '../x.png' (name": (change(1, "../x.png", "group0", "kind0"), HEAD),
    "line 7: kind 'kind0' must have one group, got 'group1'": (change(5, "class1/0.png", "group1", "kind0"), HEAD),
    "must have one kind, got 'kind2'": (lambda rows: [(f, b, a) for f, a, b in rows], "path,kind,group"),
    "2 of 41 pictures cannot be read": MISSING,
    "line 41, no.png (it is not there); ": MISSING,
    "1 of 8 classes have one picture: 'kind0' (": (lambda rows: rows[4:], HEAD),
    "line 3: split must be train or test, got 'dev'": (sides("dev"), SPLIT),
    "line 3: kind 'kind0' is in test, and in train at": (sides("test"), SPLIT),
    "test must have two classes or more": (sides("train"), SPLIT),
}
#: An error, and arguments that have it.
REFUSED = {
    "must be a folder of class folders": ["nowhere"],
    "loss 'tripletsemihard' is unknown (did you mean": ["mine/table.csv", "--loss", "tripletsemihard"],
    "frozen must go with a network that knows": ["mine/table.csv", "--frozen"],
    "pretrained must find ImageNet's weights on this": ["mine/table.csv", "--pretrained", "--model", "resnet34"],
    "per_class must leave two classes to train on": ["mine/table.csv", "--per-class", "6"],
    "every picture must be in a class folder": ["mine"],
}


@pytest.mark.filterwarnings("ignore:pretrained weights are not at")
def test_what_is_wrong_is_named_with_its_line_and_a_remedy_before_any_training(folder, table, monkeypatch):
    monkeypatch.setattr(training, "train_by", None)
    monkeypatch.setenv("TORCH_HOME", str(folder))
    (folder / "bad.png").write_text("no picture")
    for message, (changed, head) in WRONG.items():
        table(changed, head)
        done = given("mine/table.csv", *QUICK, "--out", "out")
        assert done.exit_code == 2 and message in done.output, (message, done.output)
    table()
    for message, arguments in REFUSED.items():
        done = given(*arguments, "--out", "out")
        assert done.exit_code == 2 and message in done.output, (message, done.output)
    assert not (folder.parent / "out").exists()


def test_what_is_unreadable_or_alone_is_left_out_if_asked(folder, table):
    (folder / "class0" / "0.png").write_text("no picture")
    (folder / "class1" / "1.png").write_bytes((folder / "class1" / "1.png").read_bytes()[:100])
    path = table(lambda rows: [row for row in rows if row[2] != "kind2" or row[0] == "class2/0.png"])
    with pytest.raises(
        ValueError, match=r"2 of 36 pictures cannot be read: .*line 2, class0/0.png .*--skip-unreadable"
    ):
        own.read(path, progress=False)
    read = own.read(path, skip_unreadable=True, skip_single=True, progress=False)
    assert len(read.rows) == 33 and [note.split(" and ")[0] for note in read.notes] == [
        "2 of 36 pictures cannot be read",
        "1 of 8 classes have one picture",
    ]


def test_an_interval_is_that_of_the_library_and_of_a_difference_it_is_scaled():
    generator, classes = torch.Generator().manual_seed(0), torch.arange(15).repeat_interleave(20)
    values = torch.rand(300, generator=generator, dtype=torch.float64)
    values[:20] = torch.nan
    mean, low, high = evaluation.interval(values, classes)
    assert (low, high) == mean_interval(values.numpy(), classes.numpy(), 0.95)
    assert mean == pytest.approx(float(values[20:].mean())) and low < mean < high
    twice = evaluation.interval(2 * values - 1, classes, -1)
    assert twice == pytest.approx([2 * end - 1 for end in (mean, low, high)])

"""The example scripts of the page "Use it in your project" run, and really learn."""

import doctest
import json
import re
import runpy
import sys
from contextlib import suppress

import numpy as np
import pytest
import torch
from tools.notebooks import pairs
from tools.results import examples as record_examples
from tools.results.first_losses import interval
from typer.testing import CliRunner

from rankedu import losses, memory, rankers
from rankedu.cli import app
from rankedu_lab import contestants, detections, training
from rankedu_lab.experiments.own.training import LOSSES as OWN
from rankedu_lab.methods import METHODS
from rankedu_lab.models.vision import load_torchvision

EXAMPLES = pairs.ROOT / "book" / "examples"
PAGES = [
    (pairs.ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    for page in ("use-it", "lists", "your-files", "loops")
]
PAGE, LISTS, *_ = PAGES


def session(page: str, known: dict) -> dict:
    """Run the pieces of code of a page one after the other; what a prompt is said to answer is compared."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for kind, text in re.findall(r"^```(python|pycon)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if kind == "python":
            exec(compile(text, "page", "exec"), known)
        else:
            example = doctest.DocTestParser().get_doctest(text, known, "page", None, None)
            runner.run(example, clear_globs=False)
            known.update(example.globs)
    assert runner.tries > 5 and runner.failures == 0
    return known


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a script in an empty folder, and return what it has defined."""
    monkeypatch.chdir(tmp_path)
    state = torch.get_rng_state()

    def run(name: str, *arguments: str) -> dict:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        return runpy.run_path(str(EXAMPLES / f"{name}.py"))

    yield run
    torch.set_rng_state(state)


def test_pytorch_metric_learning_trains_with_a_loss_of_ours(run, monkeypatch):
    from pytorch_metric_learning.utils import common_functions

    monkeypatch.setattr(common_functions, "NUMPY_RANDOM", np.random.RandomState(0))  # draws its sampler's batches
    found = run("with_pytorch_metric_learning", "30")
    assert found["after"][0] > 4 * found["before"][0] > 0
    assert found["after"][1] > 2 * found["before"][1]


@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_a_bi_encoder_of_sentence_transformers_trains_with_a_loss_of_ours(run):
    pytest.importorskip("datasets")
    with suppress(ImportError):
        load_torchvision("transformers")  # which imports it, if it is there
    pytest.importorskip("sentence_transformers")
    found = run("with_sentence_transformers", "3")
    assert found["after"] > found["before"] + 0.1


def test_plain_pytorch_trains_without_and_with_a_memory_and_leaves_a_dump(run, tmp_path, capsys):
    found = run("with_a_memory", "40")
    assert found["after"] > 3 * found["before"] > 0
    assert len(found["loss"].memory) == 3 * 128
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["untrained", "without", "with"]
    embeddings, classes = np.load(tmp_path / "embeddings.npy"), np.loadtxt(tmp_path / "classes.csv")
    assert embeddings.shape == (len(classes), 64)


def test_a_dump_is_evaluated_from_files_and_from_arrays(run):
    found = run("evaluate_a_dump")["found"]
    done = CliRunner().invoke(app, ["evaluate", "pixels.npy", "labels.csv", "--metrics", "ap,h-ap", "--json", "-"])
    found_by_command = json.loads(done.stdout)
    assert [row["level"] for row in found_by_command["table"]] == ["script", "letter", "character", "all"]
    assert {name: found_by_command["metrics"][name] for name in ("average_precision", "h_ap")}.items() <= found.items()


@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_lists_of_documents_and_two_towers_are_learned(run):
    found = run("documents_for_a_query", "20")["found"]
    learns = found.keys() - {"untrained", "without margin"}
    assert all((found[name][0] > found["untrained"][0] + 0.2).all() for name in learns)
    found = run("texts_and_pictures", "20")["found"]
    assert all((found[name] > found["untrained"] + 0.1).all() for name in found if name != "untrained")


def test_letters_are_drawn_and_plain_pytorch_learns_to_find_those_that_it_never_saw(run, capsys):
    run("draw_letters", "8")
    found = run("in_plain_pytorch", "60")
    assert found["after"] > found["before"] + 0.2 and capsys.readouterr().out.startswith("368 pictures in 46 folders\n")


def test_an_example_is_short_and_on_the_page_with_what_this_script_printed():
    known, scripts = json.loads(record_examples.RECORD.read_text(encoding="utf-8")), sorted(EXAMPLES.glob("*.py"))
    assert {script.stem for script in scripts} == set(record_examples.COMMANDS)
    for script in scripts:
        name = script.stem
        assert len(script.read_text(encoding="utf-8").splitlines()) < 80
        assert known[name] == record_examples.fingerprint(name), "run `python book/tools examples`"
        shown = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8")
        assert all(f"$ {command}\n" in shown for command in record_examples.COMMANDS[name])
        kinds, pages = ("txt",) if name == "draw_letters" else ("py", "txt"), "".join(PAGES)
        assert all(f"```{{literalinclude}} examples/{name}.{kind}" in pages for kind in kinds), name
        assert f"{{download}}`{name}.py <examples/{name}.py>`" in pages


@pytest.mark.filterwarnings("ignore:lam=|.*GradScaler|table.csv. the first row")
def test_every_piece_of_code_on_the_page_runs_and_says_what_stands_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 4))
    yours = {"net": net, "optimizer": torch.optim.SGD(net.parameters(), lr=0.1), "device": "cpu"}
    yours |= {"images": torch.randn(32, 3, 2, 2), "labels": torch.arange(32) // 4}
    yours |= {"class_logits": torch.randn(16, 5, requires_grad=True), "proposal_labels": torch.arange(16) % 5}
    session(PAGE, yours)
    assert all(parameter.grad.abs().sum() > 0 for parameter in yours["net"].parameters())


def test_every_loss_of_the_table_learns():
    known = {name: getattr(part, name) for part in (detections, losses, rankers) for name in part.__all__}
    labels = torch.stack([torch.arange(32) // 8, torch.arange(32) // 4], dim=1)
    written = re.findall(
        r"^\| .* \| `(\w+Loss\(.*\))` \| .* \| .* \|$", PAGE.partition("(use-it-first)=")[0], re.MULTILINE
    )
    assert len(written) == 7
    for code in written:
        boxes = code.startswith("MAPLoss")
        loss = known["OnProposals" if boxes else "OnEmbeddings"](eval(code, known))
        given = torch.randn(32, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
        loss(given, labels[:, 0] % 4 if boxes else labels).backward()
        assert given.grad.abs().sum() > 0, code


FIRST = json.loads((pairs.ROOT / "book" / "data" / "first_loss.json").read_text(encoding="utf-8"))
#: Kinds of pictures, and starts of the network.
DATA, STARTS = ("outlines", "characters"), ("plain", "normalised", "trained")
RATES = (0.0003, 0.001, 0.003, 0.01)


def above(column: dict, name: str) -> str:
    """▲ or ▼ for a loss that is better or worse than the triplet loss by an interval of 99 %."""
    mean, half = interval(np.subtract(column[name]["test"], column["triplet, semi-hard"]["test"]), comparisons=5)
    return "" if abs(mean) <= half else "▲" if mean > 0 else "▼"


def table_of(head: str) -> dict[str, list[str]]:
    """The cells of a table of the page by the names of its rows."""
    lines = PAGE.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {line.split(" | ")[0].removeprefix("| "): line.removesuffix(" |").split(" | ")[1:] for line in lines}


def in_percent(values: list[float], *, sign: str = "", **about: int) -> str:
    mean, half = interval(np.array(values), **about)
    return f"{100 * mean:{sign}.1f}±{100 * half:.1f}".replace("-", "−")


def test_the_tables_of_first_losses_are_those_of_their_record_and_support_the_advice():
    tables = {f"{data}: mAP@R": [f"{data}, {start}" for start in STARTS] for data in DATA}
    tables["outlines, plain: mAP@R"] = [
        f"outlines, plain{batch}" for batch in (", batches of 16", "", ", batches of 128")
    ]
    for head, columns in tables.items():
        names = [name for name in FIRST[columns[0]] if name != "before"]
        shown = table_of(head)
        assert sorted(shown) == sorted(["*before*", *names])
        assert shown["*before*"] == [in_percent(FIRST[column]["before"]) for column in columns]
        for name in names:
            of = [FIRST[column] for column in columns]
            edges = ["*" if column[name]["rate"] in (RATES[0], RATES[-1]) else "" for column in of]
            values = [in_percent(column[name]["test"]) + above(column, name) for column in of]
            assert shown[name] == [value + edge for value, edge in zip(values, edges, strict=True)]
            assert min(column[name]["rate"] for column in of) > RATES[0], "the lowest rate was never the best"
    advised = f"`{METHODS[OWN[0]].title}Loss()`"  # what `rankedu train` begins with
    for data, cells in table_of(f"contrastive less {advised}: mAP@R").items():
        of = [FIRST[f"{data}, {start}"] for start in STARTS]
        less = [np.subtract(one["contrastive"]["test"], one[advised]["test"]) for one in of]
        assert cells == [in_percent(one, sign="+", comparisons=5) for one in less]
        assert not any(above(one, advised) == "▼" for one in of)
    rows = table_of("gradient of the parameters, off by %")
    assert rows == {name: [f"{100 * share:.0f}" for share in row] for name, row in FIRST["16 bits"].items()}
    assert f"begin with `OnEmbeddings({advised[1:-1]})`" in (pairs.ROOT / "README.md").read_text(encoding="utf-8")


def test_what_the_page_says_to_write_instead_can_be_written():
    parts = contestants, losses, memory, rankers, training
    known = {name: getattr(part, name) for part in parts for name in part.__all__}
    known |= {"lambda_val": 0.2, "margin": 0.02, "weight_fn": torch.log1p, "batch_memory": 3, "interclass_coef": 0.3}
    known |= {"loss": losses.SmoothAPLoss(), "anneal": 0.01, "bins": 20, "labels": torch.arange(400) // 4}
    rows = [line.split("|") for line in PAGE[PAGE.index("## Coming from elsewhere") :].splitlines() if line[:1] == "|"]
    cells = [cell for row in rows for cell in re.findall(r"`([A-Z]\w+\(.*?\)|baseline\(.*?\))`", row[2])]
    written = [cell for cell in cells if "…" not in cell]
    assert len(written) >= 9
    for code in written:
        assert isinstance(eval(code, known), (torch.nn.Module, training.ClassBalancedSampler)), code


def test_the_page_of_lists_answers_as_printed():
    state = torch.get_rng_state()
    session(LISTS, {})
    torch.set_rng_state(state)


def test_the_idea_in_thirty_minutes_answers_as_printed_and_its_losses_push_as_it_says():
    page = (pairs.ROOT / "book" / "idea.md").read_text(encoding="utf-8")
    found = session(page, {})
    assert found["scores"].grad.tolist() == [0.25, -0.25, 0.25, -0.25, 0.0]
    assert f"# {found['before']:.1f} before, {found['recall_at_1']():.1f} after" in page

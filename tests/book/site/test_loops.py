"""The page "In your training loop": its table is what the loops find, and its code is what was run."""

import re
from importlib.util import find_spec

import pytest
import torch
import training_loops as loops
from tools.notebooks import pairs

from rankedu.losses import OnEmbeddings, SmoothAPLoss
from rankedu.memory import EmbeddingMemory

PAGE = loops.PAGE.read_text(encoding="utf-8")
TABLE = (pairs.ROOT / "book" / "_generated" / "loops.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore")  # of trainers
def test_the_table_is_what_the_loops_find_and_shows_what_goes_wrong_without_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head, _, *rows = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("|")]
    assert head[1:] == [name.removesuffix("Loss") for name in loops.LOSSES]
    assert [row[0] for row in rows] == [f"[{loop.name}](#loop-{loop.key})" for loop in loops.LOOPS]
    assert list(loops.runs()) == [loop.key for loop in loops.LOOPS]
    state = torch.get_rng_state()
    for loop, (_, *cells) in zip(loops.LOOPS, rows, strict=True):
        assert f"(loop-{loop.key})=\n### {loop.name[0].upper()}{loop.name[1:]}\n" in PAGE
        if loop.needs and find_spec(loop.needs) is None:
            continue  # what is not installed cannot be run
        found = loops.deviations(loop)
        torch.set_rng_state(state)
        assert cells == [loops.cell(found[name]) for name in loops.LOSSES], loop.name
        off = {name for name, deviation in found.items() if deviation is not None and deviation > loops.SAME}
        assert off <= {loops.OWN}, loop.name
        assert (loop.key in ("with-a-scaler", "accumulated")) <= (found[loops.OWN] > 0.5), loop.name


def test_the_code_on_the_page_is_what_the_tests_of_the_library_run():
    [piece] = re.findall(r"^```python\n(.*?)^```", PAGE.partition("(loops-code)=")[0], re.DOTALL | re.MULTILINE)
    known = {"torch": torch}
    exec(compile(piece, "loops.md", "exec"), known)
    embeddings, labels = torch.randn(8, 4), torch.arange(8) // 2
    loss, single = OnEmbeddings(SmoothAPLoss()), OnEmbeddings(SmoothAPLoss(reduction="none"))
    torch.testing.assert_close(known["InPML"](single)(embeddings, labels), loss(embeddings, labels))
    assert known["Memory"](loss, 4, 16)(embeddings, labels) == loss(embeddings, labels)


@pytest.mark.parametrize("page", ["loops", "use-it"])
def test_a_memory_of_as_many_items_as_theirs_has_the_same_loss_and_a_miner_of_the_batch_leaves_all_of_it(page):
    from pytorch_metric_learning.utils.loss_and_miner_utils import get_all_pairs_indices

    text = (pairs.ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith("| `CrossBatchMemory(loss, dim, 1024)`")]
    length = int(re.search(r"EmbeddingMemory\((\d+)\)", row)[1])
    assert "of 128" in row and (length + 1) * 128 == 1024  # the current batch is in theirs
    known = {"torch": torch}
    exec(re.search(r"^from pytorch_metric.*?(?=^class InPML)", PAGE, re.DOTALL | re.MULTILINE)[0], known)
    plain, labels, draw = OnEmbeddings(SmoothAPLoss()), torch.arange(8) // 2, torch.Generator().manual_seed(0)
    theirs = known["Memory"](plain, 4, 8 * (length + 1))
    ours = OnEmbeddings(SmoothAPLoss(), memory=EmbeddingMemory(length))
    for _ in range(length + 3):  # beyond what both hold
        embeddings = torch.randn(8, 4, generator=draw).requires_grad_()
        torch.testing.assert_close(ours(embeddings, labels), theirs(embeddings, labels))
    alone = plain(embeddings, labels)
    with torch.no_grad():  # where nothing is remembered
        assert ours(embeddings, labels, get_all_pairs_indices(labels)) == ours(embeddings, labels) != alone

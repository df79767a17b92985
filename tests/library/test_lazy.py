"""Packages of the library import a part when it is first used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rankedu

HUBS = ["rankedu", "rankedu.losses", "rankedu.metrics", "rankedu.rankers"]


@pytest.mark.parametrize("name", HUBS)
def test_a_type_checker_sees_what_python_finds(name):
    hub = importlib.import_module(name)
    [seen] = [node for node in ast.parse(Path(hub.__file__).read_bytes()).body if isinstance(node, ast.If)]
    imports = [node for node in seen.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert set(homes) | {"__version__"} == {*hub.__all__, "__version__"} and set(homes) <= set(dir(hub))
    for one, home in homes.items():
        assert getattr(hub, one) is getattr(importlib.import_module(home), one)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = hub.nothing


def test_one_loss_does_not_import_the_others():
    code = "import sys; from rankedu.losses import APLoss; print(*(name for name in sys.modules if 'rankedu' in name))"
    command = [sys.executable, "-c", code]
    seen = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(rankedu.__file__).parents[1])
    loaded = set(seen.stdout.split())
    assert "rankedu.losses.average_precision" in loaded
    assert not {f"rankedu.losses.{name}" for name in ("fast_ap", "hierarchical", "on_embeddings", "recall")} & loaded

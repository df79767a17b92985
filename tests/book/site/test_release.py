"""A release: what only who publishes can fill in is named, and what is published is laid out. Nothing is sent."""

import importlib.util
import json
import shutil
import subprocess
import zipfile

import pytest
import yaml
from tools.notebooks import pairs

ROOT = pairs.ROOT
GITHUB = "https://github.com/someone/rankedu"
PROJECT = f'[project.urls]\nRepository = "{GITHUB}"\n'
JO = {"family-names": "Doe", "given-names": "Jo", "orcid": "https://orcid.org/0000-0001", "email": "jo@example.org"}


@pytest.fixture(scope="module")
def ready():
    spec = importlib.util.spec_from_file_location("ready", ROOT / ".ci" / "release" / "ready.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_follows_from_the_two_files_is_written_once_and_is_current_here(ready, tmp_path, monkeypatch, capsys):
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    address = (ready.ADDRESS.search((ROOT / "pyproject.toml").read_text(encoding="utf-8")) or ["", ""])[1]
    assert json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8")) == ready.archived(cited, address)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    shutil.copytree(ROOT / "paper", tmp_path / "paper")
    filled = {key: value for key, value in cited.items() if key != "repository-code"} | {"authors": [JO]}
    (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(filled, sort_keys=False), "utf-8")
    (tmp_path / "pyproject.toml").write_text(PROJECT, "utf-8")
    monkeypatch.setattr(ready, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["ready.py"])
    monkeypatch.setattr("os.environ", {})
    assert [ready.main(), ready.main()] == [True, False]
    told = capsys.readouterr().out.partition("Nothing is left but to send it.\n")[2]
    assert (
        told.startswith("Before paper/paper.md is sent") and "ORCID" in told and "Jo Doe: an author there, or" in told
    )
    paper = "---\nauthors:\n  - {name: Jo Doe}\n---\nAll is written."
    assert ready.left_in_paper(paper, filled) == []
    assert yaml.safe_load((tmp_path / "CITATION.cff").read_text("utf-8"))["repository-code"] == GITHUB
    made = json.loads((tmp_path / ".zenodo.json").read_text("utf-8"))
    assert made["creators"] == [{"name": "Doe, Jo", "orcid": "0000-0001"}]
    assert made["related_identifiers"][0]["identifier"] == GITHUB


def test_a_version_goes_beside_those_that_are_published_and_latest_becomes_it(ready, tmp_path):
    def git(*words, at=tmp_path / "here"):
        return subprocess.run(["git", *words], cwd=at, check=True, capture_output=True, text=True).stdout

    origin, html = tmp_path / "origin", tmp_path / "html"
    git("init", "--quiet", "--bare", str(origin), at=tmp_path)
    git("clone", "--quiet", str(origin), "here", at=tmp_path)
    (tmp_path / "here" / ".ci" / "release").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "release" / "pages", tmp_path / "here" / ".ci" / "release")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "begin")
    html.mkdir()
    for version in ("1.0", "1.1", "1.1"):
        (html / "index.html").write_text(f"this is {version}", "utf-8")
        ready.lay_out(html, tmp_path / "here" / "release", version)
        with zipfile.ZipFile(tmp_path / "here" / "release" / f"rankedu-book-{version}.zip") as archive:
            assert archive.read(f"{version}/index.html").decode() == f"this is {version}"
        subprocess.run(["bash", ".ci/release/pages"], cwd=tmp_path / "here", check=True)
    names = git("ls-tree", "-r", "--name-only", "gh-pages", at=origin).split()
    assert names == [".nojekyll", "1.0/index.html", "1.1/index.html", "index.html", "latest/index.html"]
    shown = [git("show", f"gh-pages:{name}/index.html", at=origin) for name in ("1.0", "1.1", "latest")]
    assert shown == ["this is 1.0", "this is 1.1", "this is 1.1"]

"""Is a release ready? Says what only who publishes can fill in, and lays out what is published.

`python .ci/release/ready.py` looks at `pyproject.toml`, `CITATION.cff` and `CHANGELOG.md`, and writes what follows from
them: `.zenodo.json`, which an archive reads for a DOI, and `repository-code` in `CITATION.cff`. With `--out release`
the built book goes to `release/site`, once under its version and once as *latest*, and into one archive beside it. On a
tag of GitHub, tag and repository have to agree with the files. Leaves with 1 if anything is left to do. What is open in
`paper/paper.md` is told, too, and keeps nobody from a release: the paper is sent after it.
"""

import argparse
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "book" / "_build" / "html"
NOBODY = "The rankedu authors"
ADDRESS = re.compile(r'^Repository = "(https://[^/"\s]+/[^/"\s]+/[^/"\s]+?)(?:\.git|/)?"$', re.MULTILINE)
ONWARD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Optimising rank-based metrics</title>
<meta http-equiv="refresh" content="0; url=latest/"></head>
<body><p><a href="latest/">The latest version of the book</a></p></body></html>
"""


def archived(about: dict[str, Any], address: str) -> dict[str, Any]:
    """The metadata for a DOI, `.zenodo.json`, from CITATION.cff."""
    creators = []
    for one in about["authors"]:
        name = f"{one['family-names']}, {one['given-names']}" if "family-names" in one else one["name"]
        known = {"orcid": one.get("orcid", "").rpartition("/")[2], "affiliation": one.get("affiliation", "")}
        creators.append({"name": name} | {key: value for key, value in known.items() if value})
    made: dict[str, Any] = {"title": about["title"], "description": about["abstract"], "creators": creators}
    made |= {"upload_type": "software", "license": about["license"][0], "keywords": about["keywords"]}
    code = {"identifier": address, "relation": "isSupplementTo", "scheme": "url"}
    return made | ({"related_identifiers": [code]} if address else {})


def left(project: str, about: dict[str, Any], changes: str, on: dict[str, str]) -> list[str]:
    """What is still to be done, a sentence each; `on` is the environment, which GitHub tells of itself by."""
    found, address = [], ADDRESS.search(project)
    if not address:
        found.append(
            'pyproject.toml names no address: write [project.urls] with Repository = "https://host/owner/name"'
        )
    elif on.get("GITHUB_REPOSITORY") not in (None, address[1].split("/", 3)[3]):
        found.append(f"pyproject.toml names {address[1]}, but this is the repository {on['GITHUB_REPOSITORY']}")
    if any(one.get("name") == NOBODY for one in about["authors"]):
        found.append(f"CITATION.cff has {NOBODY!r} for an author: write family-names and given-names of each")
    if not any("email" in one for one in about["authors"]):
        found.append("CITATION.cff has no author's email: SECURITY.md and CODE_OF_CONDUCT.md send readers to it")
    newest = re.search(r"^## (\S+) — (\S+)$", changes, re.MULTILINE)
    told = (str(about["version"]), str(about["date-released"]))
    if newest is None or newest.groups() != told:
        found.append(f"CHANGELOG.md must begin with '## {told[0]} — {told[1]}', as CITATION.cff has it")
    if on.get("GITHUB_REF_TYPE") == "tag" and on["GITHUB_REF_NAME"] != f"v{told[0]}":
        found.append(f"the tag must be v{told[0]}, as CITATION.cff has it, got {on['GITHUB_REF_NAME']}")
    return found


def left_in_paper(paper: str, about: dict[str, Any]) -> list[str]:
    """What is open in the paper, and who of its authors is not among those of CITATION.cff, or the other way round."""
    found = re.findall(r'TO FILL IN: ([^"*\n]+)', paper)
    cited = {f"{one['given-names']} {one['family-names']}" for one in about["authors"] if "given-names" in one}
    named = {one["name"] for one in yaml.safe_load(paper.split("---\n")[1])["authors"] if "TO FILL" not in one["name"]}
    return found + [f"{one}: an author there, or in CITATION.cff, and not in both" for one in sorted(named ^ cited)]


def write(path: Path, text: str) -> list[str]:
    """Write what follows from other files; says so if it was not there, because it has to be committed."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    path.write_text(text, encoding="utf-8")
    return [f"{path.name} is written anew: commit it"]


def lay_out(html: Path, out: Path, version: str) -> None:
    """The site, the book under its version and as *latest*; and the book in one archive, to be opened from a disk."""
    shutil.rmtree(out, ignore_errors=True)
    for name in (version, "latest"):
        shutil.copytree(html, out / "site" / name)
    (out / "site" / "index.html").write_text(ONWARD, encoding="utf-8")
    (out / "site" / ".nojekyll").touch()  # or folders that begin with _ would be left out
    name = f"rankedu-book-{version}"
    shutil.make_archive(str(out / name), "zip", out / "site", version)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="lay out there what is published; the book must be built")
    given = parser.parse_args()
    project, cited, changes = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")
    )
    address = (ADDRESS.search(project) or ["", ""])[1]
    to_do = left(project, yaml.safe_load(cited), changes, dict(os.environ))
    if address:
        cited = re.sub(r"^repository-code: .*\n", "", cited, flags=re.MULTILINE)
        cited = cited.replace("\nlicense:", f"\nrepository-code: {address}\nlicense:", 1)
        to_do += write(ROOT / "CITATION.cff", cited)
    about = yaml.safe_load(cited)
    to_do += write(ROOT / ".zenodo.json", json.dumps(archived(about, address), ensure_ascii=False, indent=2) + "\n")
    if given.out:
        lay_out(HTML, given.out, str(about["version"]))
        print(f"laid out in {given.out}: the site, and the book as an archive")
    print("\n".join(["Left to do:", *(f"  {one}" for one in to_do)]) if to_do else "Nothing is left but to send it.")
    if unwritten := left_in_paper((ROOT / "paper" / "paper.md").read_text(encoding="utf-8"), about):
        print("\n".join(["Before paper/paper.md is sent to a journal, fill in:", *(f"  {one}" for one in unwritten)]))
    return bool(to_do)


if __name__ == "__main__":
    raise SystemExit(main())

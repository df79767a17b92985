"""What the distributions hold: nothing that is missing, and nothing that does not belong there.

`python .ci/release/contents.py dist` looks at the one wheel and the one sdist of that folder.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "rankedu"
#: Beside the package itself, an sdist holds what builds it and what tells of it.
BESIDE = {
    *("pyproject.toml", "hatch_build.py", "constraints.txt", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"),
    *("PKG-INFO", ".gitignore"),  # Hatchling adds these two
}


def names(distribution: Path) -> set[str]:
    """The files of a wheel or an sdist; those of an sdist without its top folder."""
    if distribution.suffix == ".whl":
        return set(zipfile.ZipFile(distribution).namelist())
    with tarfile.open(distribution) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def metadata(wheel: Path) -> Message:
    """Its METADATA; the README is the payload."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(archive.read(name).decode())


def problems(wheel: Path, sdist: Path, package: Path = PACKAGE) -> list[str]:
    """What is wrong with the two, compared with the package's folder."""
    wanted = {f"rankedu/{path.relative_to(package).as_posix()}" for path in package.rglob("*.py")}
    wanted.add("rankedu/py.typed")
    found = []
    for archive, beside in ((wheel, ()), (sdist, BESIDE)):
        there = {name for name in names(archive) if ".dist-info/" not in name}
        meant = wanted | {*beside}
        found += [f"{archive.name} lacks {name}" for name in sorted(meant - there)]
        found += [f"{archive.name} holds {name}, which does not belong there" for name in sorted(there - meant)]
    about = metadata(wheel)
    core = [need for need in about.get_all("Requires-Dist") or [] if "extra ==" not in need]
    if sorted(re.split(r"[<>=!~ ]", need)[0] for need in core) != ["numpy", "torch"]:
        found.append(f"{wheel.name} needs {core}: the core needs torch and NumPy alone")
    links = re.findall(r"\]\((?!https?://|#)([^)]+)\)", str(about.get_payload()))
    found += [f"the README links {link}, which is not there on a package index" for link in links]
    return found


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of a folder, if nothing is wrong with them; else say what, and leave."""
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    wrong = problems(wheel, sdist)
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; {sdist.name}: {sdist.stat().st_size:,} bytes; nothing amiss")
    return wheel, sdist


if __name__ == "__main__":
    built(Path(sys.argv[1]))

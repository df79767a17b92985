"""What the distributions hold: nothing that is missing, and nothing that does not belong there.

`python .ci/release/contents.py dist` looks at the one wheel and the one sdist of that folder.
"""

import re
import sys
import tarfile
import zipfile
from email import message_from_string
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


def problems(wheel: Path, sdist: Path) -> list[str]:
    """What is wrong with the two, compared with the package's folder."""
    wanted = {f"rankedu/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")}
    wanted.add("rankedu/py.typed")
    found = []
    for archive, beside in ((wheel, ()), (sdist, BESIDE)):
        there = {name for name in names(archive) if ".dist-info/" not in name}
        meant = wanted | {*beside}
        found += [f"{archive.name} lacks {name}" for name in sorted(meant - there)]
        found += [f"{archive.name} holds {name}, which does not belong there" for name in sorted(there - meant)]
    [name] = (name for name in names(wheel) if name.endswith(".dist-info/METADATA"))
    about = message_from_string(zipfile.ZipFile(wheel).read(name).decode())
    core = [need for need in about.get_all("Requires-Dist") or [] if "extra ==" not in need]
    if sorted(re.split(r"[<>=!~ ]", need)[0] for need in core) != ["numpy", "torch"]:
        found.append(f"{wheel.name} needs {core}: the core needs torch and NumPy alone")
    links = re.findall(r"\]\((?!https?://|#)([^)]+)\)", str(about.get_payload()))
    found += [f"the README links {link}, which is not there on a package index" for link in links]
    return found


def main(folder: Path) -> None:
    """Say what is wrong with the wheel and the sdist of a folder."""
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    if wrong := problems(wheel, sdist):
        raise SystemExit("\n".join(wrong))
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; {sdist.name}: {sdist.stat().st_size:,} bytes; nothing amiss")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

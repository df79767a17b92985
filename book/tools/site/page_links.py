"""A Sphinx extension: what each page says of itself. Launch it, take its notebook, edit it, see what changed.

The repository's address has one place: `Repository` among `[project.urls]` in `pyproject.toml`. The environment
variable `RANKEDU_REPOSITORY` stands in for it (and `RANKEDU_BRANCH` for `main`), for a copy that is published from
elsewhere. Without an address no page has a button that leads nowhere; what changed then comes from the history alone.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.site import downloads

ROOT = Path(__file__).resolve().parents[3]
#: How many changes are listed below a page.
KEPT = 5
#: Host → where a file is edited, and where its history stands.
HOSTS = {
    "github": ("{site}/edit/{branch}/{path}", "{site}/commits/{branch}/{path}"),
    "gitlab": ("{site}/-/edit/{branch}/{path}", "{site}/-/commits/{branch}/{path}"),
    "codeberg": ("{site}/_edit/{branch}/{path}", "{site}/commits/branch/{branch}/{path}"),
}


def address() -> str:
    """The repository's address without a slash at its end; empty where none is configured."""
    found = os.environ.get("RANKEDU_REPOSITORY", "")
    for line in importlib.metadata.metadata("rankedu").get_all("Project-URL") or [] if not found else []:
        name, _, value = line.partition(", ")
        found = value if name.lower() == "repository" else found
    if found and (urlsplit(found).scheme != "https" or len(urlsplit(found).path.strip("/").split("/")) < 2):
        raise ValueError(
            f"RANKEDU_REPOSITORY must read https://host/owner/name, got {found!r}: correct it, or unset it "
            "for a book without links to its source"
        )
    return found.removesuffix("/").removesuffix(".git")


@cache
def notebooks() -> dict[str, str]:
    """Text → notebook that is made of it, as paths in the repository."""
    from tools.notebooks import pairs

    return {str(text.relative_to(ROOT)): str(made.relative_to(ROOT)) for text, made in pairs.pairs().items()}


def sources(page: str) -> list[str]:
    """The file that a person edits for a page, then the notebook that is made of it, as paths in the repository."""
    text = f"book/{page}.md"
    return [text, *filter(None, [notebooks().get(text)])] if (ROOT / text).exists() else []


def source_links(site: str, branch: str, path: str) -> dict[str, str]:
    """The addresses where a file is edited and where its history stands; none for a host that is not known."""
    host = next((patterns for name, patterns in HOSTS.items() if name in urlsplit(site).netloc), None)
    addresses = [pattern.format(site=site, branch=quote(branch), path=quote(path)) for pattern in host or ()]
    return dict(zip(("edit", "history"), addresses, strict=False))


def launch_links(site: str, branch: str, notebook: str, services: list[str]) -> dict[str, str]:
    """Name → address for every service that opens a notebook of the repository.

    Parameters
    ----------
    services : list of str
        ``binder``, ``colab`` (GitHub alone) or the https address of a JupyterHub that has nbgitpuller.
    """
    links, parts = {}, urlsplit(site)
    owner = quote(parts.path.strip("/"))
    for service in services:
        if service == "binder":
            kinds = {"github.com": f"gh/{owner}", "gitlab.com": f"gl/{quote(parts.path.strip('/'), safe='')}"}
            place = kinds.get(parts.netloc, f"git/{quote(site, safe='')}")
            links["Binder"] = f"https://mybinder.org/v2/{place}/{quote(branch, safe='')}?urlpath=lab/tree/{notebook}"
        elif service == "colab" and parts.netloc == "github.com":
            links["Colab"] = f"https://colab.research.google.com/github/{owner}/blob/{branch}/{notebook}"
        elif service.startswith("https://"):
            path = f"lab/tree/{parts.path.rsplit('/', 1)[-1]}/{notebook}"
            asked = urlencode({"repo": site, "branch": branch, "urlpath": path})
            links["JupyterHub"] = f"{service.removesuffix('/')}/hub/user-redirect/git-pull?{asked}"
        else:
            raise ValueError(f"RANKEDU_LAUNCH must name binder, colab (on GitHub) or https addresses, got {service!r}")
    return links


@cache
def history() -> dict[str, list[tuple[str, str]]]:
    """File of the book → date and subject of the changes that touched it, the newest first.

    Empty where there is no history, or only the end of one: a shallow clone would name its last change on every page.
    """
    changes: dict[str, list[tuple[str, str]]] = {}
    if _git("rev-parse", "--is-shallow-repository") != "false":
        return changes
    log = _git("log", "--no-merges", "--format=%x00%cs%x09%s", "--name-only", "--", "book")
    for change in log.split("\0")[1:]:
        about, *files = [line for line in change.splitlines() if line]
        date, _, subject = about.partition("\t")
        for file in files:
            changes.setdefault(file, []).append((date, subject))
    return changes


def _git(*words: str) -> str:
    """What git says in the repository; nothing where it is not installed or finds no repository of ours."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    except OSError:
        return ""
    ours = (ROOT / ".git").exists()  # not that of a folder in which the book happens to lie
    return done.stdout.strip() if ours and done.returncode == 0 else ""


def about(page: str) -> dict[str, Any]:
    """What a page shows of itself: its changes, its notebooks, and where it can be edited, followed and launched.

    The front page shows no changes: there they would be those of its wording, and a reader would take them for the
    book's.
    """
    files = sources(page)
    changes = history().get(files[0], [])[:KEPT] if files and page != "index" else []
    links: dict[str, Any] = {"changes": changes, "launch": {}, "downloads": downloads.of_page(page)}
    site, branch = address(), os.environ.get("RANKEDU_BRANCH", "main")
    if site and files:
        links |= source_links(site, branch, files[0])
        services = os.environ.get("RANKEDU_LAUNCH", "binder").split()
        links["launch"] = launch_links(site, branch, files[1], services) if len(files) > 1 else {}
    return links


def add_context(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the templates what they show."""
    context["about_page"] = about(page) if doctree else {"changes": [], "launch": {}, "downloads": {}}


def add_buttons(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the header the buttons that launch a page, if there are any, and those that fetch its notebooks."""
    pictures = {"Binder": "binder.svg", "Colab": "colab.png", "JupyterHub": "jupyterhub.svg"}
    buttons = [
        {
            "type": "link",
            "text": name,
            "tooltip": f"Open this page on {name}, with live sliders",
            "icon": f"_static/images/logo_{pictures[name]}",
            "url": url,
        }
        for name, url in context["about_page"]["launch"].items()
    ]
    if buttons:
        group = {"type": "group", "tooltip": "Launch this page", "icon": "fa-solid fa-rocket", "buttons": buttons}
        context["header_buttons"].append(group | {"label": "launch-buttons"})
    taken = [
        {
            "type": "link",
            "text": name,
            "tooltip": "A Jupyter notebook, to be run where rankedu is installed",
            "icon": "fa-solid fa-file",
            "url": context["pathto"](path, 1),
        }
        for name, path in context["about_page"]["downloads"].items()
    ]
    if taken:
        group = {"type": "group", "tooltip": "Notebooks of this page", "icon": "fa-solid fa-download", "buttons": taken}
        context["header_buttons"].append(group | {"label": "download-buttons"})


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: it speaks before the theme reads its templates, and after it has buttons."""
    app.connect("html-page-context", add_context, priority=400)
    app.connect("html-page-context", add_buttons, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

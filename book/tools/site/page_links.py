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
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.notebooks import pairs
from tools.site import downloads

ROOT = pairs.ROOT
#: How many changes are listed below a page.
KEPT = 5
PICTURES = {"Binder": "binder.svg", "Colab": "colab.png", "JupyterHub": "jupyterhub.svg"}


def address() -> str:
    """The repository's address without a slash at its end; empty where none is configured."""
    found = os.environ.get("RANKEDU_REPOSITORY", "")
    for line in importlib.metadata.metadata("rankedu").get_all("Project-URL") or [] if not found else []:
        name, _, value = line.partition(", ")
        found = value if name.lower() == "repository" else found
    if found and (urlsplit(found).scheme != "https" or len(urlsplit(found).path.strip("/").split("/")) < 2):
        raise ValueError(f"RANKEDU_REPOSITORY must read https://host/owner/name, got {found!r}: correct or unset it")
    return found.removesuffix("/").removesuffix(".git")


def sources(page: str) -> list[str]:
    """The file that a person edits for a page, then the notebook that is made of it, as paths in the repository."""
    text = ROOT / "book" / f"{page}.md"
    files = [text, *filter(None, [pairs.pairs().get(text)])] if text.exists() else []
    return [str(file.relative_to(ROOT)) for file in files]


def source_links(site: str, branch: str, path: str) -> dict[str, str]:
    """The addresses where a file is edited and where its history stands; none for a host that is not known."""
    host = urlsplit(site).netloc
    if "github" not in host and "gitlab" not in host:
        return {}
    base = f"{site}/-" if "gitlab" in host else site
    place = f"{quote(branch)}/{quote(path)}"
    return {"edit": f"{base}/edit/{place}", "history": f"{base}/commits/{place}"}


def launch_links(site: str, branch: str, notebook: str, services: list[str]) -> dict[str, str]:
    """Name → address for every service that opens a notebook of the repository.

    A service is ``binder``, ``colab`` (GitHub alone) or the https address of a JupyterHub that has nbgitpuller.
    """
    links, parts = {}, urlsplit(site)
    owner = parts.path.strip("/")
    for service in services:
        if service == "binder":
            kinds = {"github.com": f"gh/{quote(owner)}", "gitlab.com": f"gl/{quote(owner, safe='')}"}
            place = kinds.get(parts.netloc, f"git/{quote(site, safe='')}")
            links["Binder"] = f"https://mybinder.org/v2/{place}/{quote(branch, safe='')}?urlpath=lab/tree/{notebook}"
        elif service == "colab" and parts.netloc == "github.com":
            links["Colab"] = f"https://colab.research.google.com/github/{quote(owner)}/blob/{branch}/{notebook}"
        elif service.startswith("https://"):
            path = f"lab/tree/{owner.rpartition('/')[2]}/{notebook}"
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

    The front page shows no changes: a reader would take those of its wording for the book's.
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
    launched = [
        _button(name, f"Open this page on {name}, with live sliders", f"_static/images/logo_{PICTURES[name]}", url)
        for name, url in context["about_page"]["launch"].items()
    ]
    told = "A Jupyter notebook, to be run where rankedu is installed"
    taken = [
        _button(name, told, "fa-solid fa-file", context["pathto"](path, 1))
        for name, path in context["about_page"]["downloads"].items()
    ]
    for buttons, tooltip, icon, label in (
        (launched, "Launch this page", "fa-solid fa-rocket", "launch-buttons"),
        (taken, "Notebooks of this page", "fa-solid fa-download", "download-buttons"),
    ):
        group = {"type": "group", "tooltip": tooltip, "icon": icon, "buttons": buttons, "label": label}
        context["header_buttons"] += [group] if buttons else []


def _button(text: str, tooltip: str, icon: str, url: str) -> dict[str, str]:
    return {"type": "link", "text": text, "tooltip": tooltip, "icon": icon, "url": url}


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: it speaks before the theme reads its templates, and after it has buttons."""
    app.connect("html-page-context", add_context, priority=400)
    app.connect("html-page-context", add_buttons, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The README as a package index shows it: a link into the repository is whole there, or it is no link."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A Markdown link or picture whose target is a file of the repository.
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Hatchling calls it when it reads the project's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README in."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        site = os.environ.get("RANKEDU_REPOSITORY") or metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": resolved(text, site)}


def resolved(text: str, site: str, branch: str = os.environ.get("RANKEDU_BRANCH", "main")) -> str:
    """Lead relative links to the repository; where no address is known, keep their text and leave pictures out.

    >>> resolved("see [how](book/x.md) ![a curve](x.png)", "https://host/me/it")
    'see [how](https://host/me/it/blob/main/book/x.md) ![a curve](https://host/me/it/raw/main/x.png)'
    >>> resolved("see [how](book/x.md) ![a curve](x.png)", "")
    'see how '
    """
    site = site.removesuffix("/").removesuffix(".git")

    def whole(match: re.Match[str]) -> str:
        picture, label, path = match.groups()
        if not site:
            return "" if picture else label
        return f"{picture}[{label}]({site}/{'raw' if picture else 'blob'}/{branch}/{path})"

    return RELATIVE.sub(whole, text)

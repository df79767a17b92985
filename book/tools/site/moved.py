"""Pages that have moved: at the old address a short page leads to the new one, and so do the old places on it."""

import json
from pathlib import Path
from typing import Any

#: The new page of each old page, and the new addresses of places on it.
MOVED = {
    "chapters/17_since_then": (
        "chapters/17_identity_with_projection",
        {
            "sec-17-recall": "18_recall_and_ndcg_losses.html#sec-18-recall",
            "sec-17-lambda": "18_recall_and_ndcg_losses.html#sec-18-lambda",
            "sec-17-suprank": "18_recall_and_ndcg_losses.html#sec-18-suprank",
            "sec-17-soft": "19_differentiable_sorting.html#sec-19-soft",
            "sec-17-soap": "20_large_batches_and_memories.html#sec-20-soap",
        },
    ),
    "claims-report": ("claims", {}),
    "syllabus": ("teaching", {}),
}
#: A page that is still there → where those of its places are now that have left it.
LEFT = {
    "results": {
        f"results-{place}": f"results-pictures.html#results-{place}"
        for place in ("rambo-fig-4", "smooth-ap-figs", "happier-fig-5", "happier-fig-6")
    }
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<noscript><meta http-equiv="refresh" content="0; url={new}"></noscript>
<script>const places = {places}; location.replace(places[location.hash.slice(1)] ?? "{new}" + location.hash)</script>
</head><body><main><h1>This page has moved</h1><p><a href="{new}">Go to its new address</a>.</p></main></body></html>
"""
_LEFT = "<script>{{ const at = {places}[location.hash.slice(1)]; if (at) location.replace(at); }}</script>\n"


def lead_on(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Lead from a place that has left a page to where it is now."""
    if page in LEFT:
        context["metatags"] += _LEFT.format(places=json.dumps(LEFT[page]))


def write(app: Any, error: Exception | None) -> None:
    """Write a short page at every old address that leads to the new one."""
    if error or app.builder.name != "html":
        return
    for old, (new, places) in MOVED.items():
        text = _PAGE.format(new=f"{Path(new).name}.html", places=json.dumps(places))
        page = Path(app.outdir, f"{old}.html")
        page.parent.mkdir(exist_ok=True)  # one page built alone has no folder of chapters
        page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("html-page-context", lead_on)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}

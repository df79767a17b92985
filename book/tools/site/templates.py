"""The templates in `book/_templates`; a value is only escaped where the template has `| e`."""

import json
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

FOLDER = Path(__file__).resolve().parents[2] / "_templates"
ENVIRONMENT = Environment(loader=FileSystemLoader(FOLDER), keep_trailing_newline=True)
ENVIRONMENT.filters["json"] = partial(json.dumps, ensure_ascii=False)


def filled(template: str, /, **values: object) -> str:
    """Render a template of `book/_templates` with these values."""
    return ENVIRONMENT.get_template(template).render(values)

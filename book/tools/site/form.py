"""The form of a chapter: plain Markdown, which every reader of notebooks shows, as the pages of the book need it.

A chapter and its solutions are plain Markdown and cells of code. Statements are block quotes, whatever is folded is in
`<details>`, equations have their numbers, references are links, captions stand below their figures. Sphinx numbers,
links and folds by directives. `book` gives a chapter in this second form, and everything that makes a page, a slide or
a booklet of a chapter reads it there. How each part is written is in `book/contributing/chapter.md`.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

import jupytext
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from rankedu_book.kit.predict import held
from tools.site.labels import unquoted

KINDS = {"a number": "number", "choose one": "choice", "a curve": "curve", "an order": "order", "in words": "words"}
#: The line of a chapter for readers of the notebook; pages omit it.
RUN = "To run this chapter, choose **Run ▸ Run All Cells**."
#: What the fold with the imports is called.
IMPORTS = "Imports used on this page"
_RUN = re.compile(r"^To run this \w+, choose \*\*Run ▸ Run All Cells\*\*\.$", re.MULTILINE)
_ANCHOR = r'<a id="(?P<label>[\w-]+)"></a>\n\n'
_QUOTE = r"(?P<body>(?:>[^\n]*(?:\n|\Z))+)"
EXERCISE = re.compile(
    r'<a id="(?P<label>ch\d\d-ex-\w+-\d+)"></a>\n\n### Exercise [\d.]+ \([^)]*\): (?P<title>[^\n]*)\n\n'
    r"(?P<body>.*?)\n\n\[Solution\]\([^)]*\)",
    re.DOTALL,
)
_SOLUTION = re.compile(
    r'(?:\A|\n\n)<a id="(ch\d\d-ex-\w+-\d+)"></a>\n\n## [^\n]*\n\n\[The exercise\]\([^)]*\)(?:\n\n|\Z)'
)
_STATEMENT = re.compile(rf"{_ANCHOR}> \*\*(?P<kind>[A-Z]\w+) [\d.]+?(?: \((?P<title>.+)\))?\.\*\*\n>\n{_QUOTE}")
PREDICT = re.compile(rf"> \*\*Predict\*\* \((?P<kind>[^)]*)\)\.\n>\n{_QUOTE}")
_DETAILS = re.compile(
    r"<details><summary>(?P<summary>(?:(?!</summary>).)*)</summary>\n\n(?P<body>(?:(?!<details>).)*?)\n\n</details>",
    re.DOTALL,
)
_EQUATION = re.compile(rf"{_ANCHOR}\$\$(?P<body>(?:(?!\$\$).)*?) \\tag\{{[\d.]+\}}(?P<end>\s*)\$\$", re.DOTALL)
_TABLE = re.compile(rf"{_ANCHOR}\*\*Table [\d.]+\.\*\* (?P<title>[^\n]*)\n\n(?P<body>(?:\|[^\n]*(?:\n|\Z))+)")
_FIGURE = re.compile(rf"{_ANCHOR}\*\*Figure [\d.]+\.\*\* (?P<body>[^\n]*)(?:\n\n|\Z)")
_SECTION = re.compile(r'^(?:<a id="[\w-]+"></a>\n\n)*## (?!Objectives)', re.MULTILINE)
_PLACE = re.compile(_ANCHOR)
_WORK = r"\[[^\]]*\]\([^)\s]*bibliography\.md#([\w-]+)\)"
_WORKS = re.compile(rf"\({_WORK}(?:; {_WORK})*\)")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[\w./-]*\.(?:ipynb|md))?(?:#(?P<label>[\w-]+))?\)")
_NUMBERED = {"eq": r"\(\d+\.\d+\)", "numref": r"(?:Figure|Table) \d+\.\d+", "prf:ref": r"(?!Exercise)[A-Z]\w+ \d+\.\d+"}


def is_plain(path: Path) -> bool:
    """Return whether a text is in the plain form, as chapters, solutions, labs and the errata are."""
    return path.parent.name in ("chapters", "solutions", "labs") or path.name == "errata.md"


@cache
def text(path: Path) -> str:
    """Return a text of the book in the form of the pages."""
    if not is_plain(path):
        return path.read_text(encoding="utf-8")
    made = book(path)
    made.metadata["jupytext"]["notebook_metadata_filter"] = "all"
    return str(jupytext.writes(made, "md:myst"))


def book(path: Path) -> NotebookNode:
    """Return the cells of a text in the form of the pages, without outputs."""
    if not is_plain(path):
        return jupytext.read(path)
    solutions = path.parents[1] / "solutions" / path.name
    return for_page(jupytext.read(path), jupytext.read(solutions) if solutions.exists() else None)


def for_page(chapter: NotebookNode, solutions: NotebookNode | None) -> NotebookNode:
    """Put the solutions of the exercises into a chapter, and turn its Markdown into directives and roles."""
    made, found = deepcopy(chapter), solved(solutions) if solutions else {}
    solved_cells = {label: _solution(label, cells) for label, cells in found.items()}
    captions = _captions(made)
    cells: list[NotebookNode] = []
    imports: list[NotebookNode] = []  # until the first section after the objectives
    solution: list[NotebookNode] = []  # of the exercise whose stub is next
    for cell in made.cells:
        if cell.cell_type == "markdown":
            source = _RUN.sub("", cell.source)
            if imports and (after := _SECTION.search(source)):
                cells += [new_markdown_cell(markdown(source[: after.start()])), *imports]
                source, imports = source[after.start() :], []
            for found in _parts(source):
                if isinstance(found, str):
                    cells.append(new_markdown_cell(markdown(found)))
                    continue
                label, body = found["label"], markdown(found["body"])
                cells.append(new_markdown_cell(directive("exercise", found["title"], f":label: {label}", body)))
                if "-code-" in label:
                    solution = solved_cells.get(label, [])
                else:
                    cells += solved_cells.get(label, [])
        elif "imports" in cell.metadata.get("tags", []):
            cell.metadata["tags"] = ["hide-input"]
            cell.metadata["mystnb"] = dict.fromkeys(("code_prompt_show", "code_prompt_hide"), IMPORTS)
            imports = [cell]
        else:
            _release(cell)
            if (figure := cell.metadata.get("mystnb", {}).get("figure")) is not None:
                figure["caption"] = captions[figure["name"]]
            is_stub = "exercise" in cell.metadata.get("tags", [])
            cells += [cell, *(solution if is_stub else [])]
            solution = [] if is_stub else solution
    made.cells = _joined(cells)
    return made


def markdown(source: str) -> str:
    """Turn plain Markdown into directives and roles."""
    source = _STATEMENT.sub(_statement, source)
    source = PREDICT.sub(_prediction, source)
    count = 1
    while count:  # from the inside out
        source, count = _DETAILS.subn(_folded, source)
    source = _EQUATION.sub(r"$$\g<body>\g<end>$$ (\g<label>)", source)
    source = _TABLE.sub(lambda m: directive("table", m["title"], f":name: {m['label']}", m["body"].rstrip()), source)
    source = _PLACE.sub(r"(\g<label>)=\n", source)
    source = _WORKS.sub(lambda m: f"{{cite:p}}`{','.join(re.findall(_WORK, m[0]))}`", source)
    source = re.sub(_WORK, r"{cite:t}`\1`", source)
    return _LINK.sub(_reference, source)


def directive(name: str, argument: str, option: str, body: str) -> str:
    """Write a directive around a text, with a fence that is longer than those inside."""
    fence = ":" * max([3, *(len(inner) + 1 for inner in re.findall(r"^:{3,}", body, re.MULTILINE))])
    blank = "\n\n" if body else "\n"
    return f"{fence}{{{name}}} {argument}".rstrip() + (f"\n{option}" if option else "") + f"{blank}{body}\n{fence}"


def _end(match: re.Match[str]) -> str:
    return "\n" if match[0].endswith("\n") else ""


def _statement(match: re.Match[str]) -> str:
    body, option = unquoted(match["body"].rstrip("\n")), f":label: {match['label']}"
    return directive(f"prf:{match['kind'].lower()}", match["title"] or "", option, body) + _end(match)


def asked(match: re.Match[str]) -> str:
    """Return the question of a prediction; alternatives are a list without numbers."""
    body = unquoted(match["body"].rstrip("\n"))
    if KINDS[match["kind"]] in ("choice", "order"):
        body = re.sub(r"^\d\. (?=[^\n]*(?:\n\d\. [^\n]*)*\Z)", "- ", body, flags=re.MULTILINE)
    return body


def _prediction(match: re.Match[str]) -> str:
    return directive("admonition", "Predict", f":class: predict {KINDS[match['kind']]}", asked(match)) + _end(match)


def _folded(match: re.Match[str]) -> str:
    summary, body = match["summary"], match["body"]
    if summary == "Proof":
        return directive("prf:proof", "", "", body)
    return directive("admonition", summary, ":class: dropdown" + " reveal" * (summary == "Reveal"), body)


def _reference(match: re.Match[str]) -> str:
    """Turn a link into the role that numbers it, or into the role for pages."""
    words, path, label = " ".join(match["text"].split()), match["path"] or "", match["label"]
    if not path and not label:
        return match[0]
    file = Path(path).stem
    if label:
        for role, form in _NUMBERED.items():
            if re.fullmatch(form, words):
                return f"{{{role}}}`{label}`"
        return f"{{ref}}`{words} <{label}>`"
    if re.match(r"\d\d_", file):
        return f"{{ref}}`{words} <ch-{file[:2]}>`"
    folder = "labs/" * path.startswith(("labs/", "../labs/")) or path.rpartition("/")[0].partition("book")[2].strip("/")
    return f"{{doc}}`{words} </{folder}{'/' * bool(folder and not folder.endswith('/'))}{file}>`"


def _parts(source: str) -> Iterator[str | re.Match[str]]:
    """Yield the text between exercises, and the matches of the exercises."""
    at = 0
    for match in EXERCISE.finditer(source):
        yield source[at : match.start()]
        yield match
        at = match.end()
    yield source[at:]


def solved(solutions: NotebookNode) -> dict[str, list[NotebookNode]]:
    """Return the cells of each solution in the form of the pages, by the label of its exercise."""
    found: dict[str, list[NotebookNode]] = {}
    label = ""
    for cell in deepcopy(solutions).cells:
        if cell.cell_type == "code":
            if label:
                found[label].append(cell)
            continue
        first, *rest = _SOLUTION.split(cell.source)
        if label and first.strip():
            found[label].append(new_markdown_cell(markdown(first)))
        for label, body in zip(rest[::2], rest[1::2], strict=True):
            found[label] = [new_markdown_cell(markdown(body))] if body.strip() else []
    return found


def _solution(label: str, cells: list[NotebookNode]) -> list[NotebookNode]:
    if len(cells) == 1 and cells[0].cell_type == "markdown":
        return [new_markdown_cell(directive("solution", label, ":class: dropdown", cells[0].source))]
    start, end = directive("solution-start", label, ":class: dropdown", ""), directive("solution-end", "", "", "")
    return [new_markdown_cell(start), *cells, new_markdown_cell(end)]


def _captions(chapter: NotebookNode) -> dict[str, str]:
    """Take the captions of all figures out of the text, and return them by label."""
    found = {}

    def take(match: re.Match[str]) -> str:
        found[match["label"]] = markdown(match["body"])
        return ""

    for cell in chapter.cells:
        if cell.cell_type == "markdown":
            cell.source = _FIGURE.sub(take, cell.source)
    return found


def _release(cell: NotebookNode) -> None:
    """Unfold the outputs of a prediction, which the page's script folds."""
    if cell.source.startswith("%%predict"):
        cell.source = cell.source.partition("\n")[2]
        cell.metadata["jupyter"] = cell.metadata.get("jupyter", {}) | {"outputs_hidden": True}
        for output in cell.get("outputs", []):
            if "predict" in output.get("data", {}).get("text/html", "")[:20]:
                cell.outputs = held(output["data"]["text/html"])


def _joined(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Join cells of text that follow each other."""
    joined: list[NotebookNode] = []
    for cell in cells:
        if cell.cell_type == "markdown" and not cell.source.strip():
            continue
        if joined and joined[-1].cell_type == cell.cell_type == "markdown":
            joined[-1].source = f"{joined[-1].source.rstrip()}\n\n{cell.source.strip()}"
        else:
            joined.append(cell)
    return joined

"""A Sphinx extension that folds everything beside a chapter's story; on paper and without scripts it is open.

It only marks the parts that `sphinx_togglebutton` folds: proofs, paper maps, outputs of unsolved exercises, sections
whose label begins with `aside-`, and the parts of a cell that JupyterLab hides as well. `predict.js` folds the answers
to predictions. It also numbers identifiers, because sphinx-exercise and sphinx-proof use some of them repeatedly.
"""

from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

#: Identifiers that sphinx-exercise and sphinx-proof give to more than one element of a page.
INSIDES = [["exercise-content"], ["solution-content"], ["proof-content"]]


def folded(cell: nodes.Element) -> set[str]:
    """Return the parts of a cell of code that are folded, by the names that MyST-NB gives them."""
    metadata = cell["cell_metadata"]
    hidden = metadata.get("jupyter", {})
    parts = {"cell_code_source"} if hidden.get("source_hidden") else set()
    if hidden.get("outputs_hidden") or "exercise" in metadata.get("tags", []):
        parts.add("cell_code_output")
    return parts


class Folds(SphinxTransform):
    """Mark what is folded."""

    default_priority = 800

    def apply(self, **options: Any) -> None:
        """Mark the folded parts of a page; outputs between a prediction and its reveal stay as they are."""
        predicting = False
        for number, node in enumerate(list(self.document.findall(nodes.Element))):
            if node.get("ids") in INSIDES:
                node["ids"] = [f"{node['ids'][0]}-{number}"]  # a section must have an identifier
            if node.tagname == "proof_node":
                node[:] = [nodes.container("", *node.children, classes=["toggle"])]
            elif isinstance(node, nodes.admonition):
                predicting = ("predict" in node["classes"] or predicting) and "reveal" not in node["classes"]
            elif isinstance(node, nodes.section) and "paper-map" in node["ids"]:
                for table in node.findall(nodes.table):
                    table["classes"].append("toggle")
            elif isinstance(node, nodes.section) and any(label.startswith("aside-") for label in node["ids"]):
                title, *rest = node.children
                node[:] = [title, nodes.container("", *rest, classes=["toggle"])]
            elif node.get("nb_element") == "cell_code":
                parts = folded(node) - ({"cell_code_output"} if predicting else set())
                for part in node.children:
                    if part.get("nb_element") in parts:
                        part["classes"].append("toggle")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.add_transform(Folds)
    return {"parallel_read_safe": True}

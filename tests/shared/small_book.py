"""A book of a page or two, built by Sphinx in this process."""

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils


def build(folder, options, suffixes):
    """Build the book in `folder` and give the folder of its HTML.

    Sphinx writes the suffixes that an extension brings into the default value of `source_suffix`, where the next book
    of the same process finds them without their parser; hence `suffixes` has to be given, as in `{".md": "markdown"}`.
    """
    options = {"source_suffix": dict(suffixes), **options}
    with patch_docutils(), docutils_namespace():  # what Sphinx teaches docutils is for this build alone
        Sphinx(folder, None, folder / "html", folder / "trees", "html", options, status=None, warning=None).build()
    return folder / "html"

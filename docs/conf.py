"""How the pages are built: `make docs`. Plain Markdown, read by MyST; docstrings by autodoc."""

import featherweight

project, author = "featherweight", "The featherweight authors"
release = version = featherweight.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures", "_build"]
html_theme = "furo"
html_title = "featherweight"
html_theme_options = {"source_repository": "", "top_of_page_buttons": []}
html_show_sourcelink = False
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes and units are in the text
suppress_warnings = ["misc.highlighting_failure"]


def setup(app):
    """Bars in docstrings are magnitudes, |ω|, and no substitutions of reStructuredText."""
    app.connect("autodoc-process-docstring", _with_plain_bars)


def _with_plain_bars(app, what, name, obj, options, lines):
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines]

"""Sphinx's configuration of the site that `make docs` builds."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
from sphinx_gallery.sorting import FileNameSortKey

import clustrep

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

mpl.use("agg")

project = "clustrep"
author = "The clustrep developers"
copyright = "The clustrep developers"  # noqa: A001
version = release = clustrep.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "command_examples",
    "page_code",
    "sphinx_gallery.gen_gallery",
    "plain_formulas",
    "public_names",
]
exclude_patterns = ["_build", "_templates", "gallery/**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = [
    "config.cache",  # the gallery's sort key is a class
    "myst.xref_missing",  # the pages of the paper are included here and stand elsewhere
]

# ---------------------------------------------------------------------------------------------------------------------
# pages

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "clustrep"
html_static_path = ["_static"]
html_css_files = ["clustrep.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "clustrep"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# ---------------------------------------------------------------------------------------------------------------------
# the API, from docstrings

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# ---------------------------------------------------------------------------------------------------------------------
# the gallery, which runs

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/coming_from"],
    "gallery_dirs": ["gallery", "coming-from"],
    "filename_pattern": "plot_",
    "ignore_pattern": r"(^|[/\\])(?!plot_)\w+\.py$",  # programs that write what examples read have no page
    "within_subsection_order": FileNameSortKey,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "capture_repr": (),  # examples print what they show; the axes that plot() returns are no news
    "min_reported_time": 1,
    "write_computation_times": False,  # that page would load scripts from other sites
    "plot_gallery": True,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (500, 330),
    "image_srcset": ["2x"],
    "parallel": True,  # as many as sphinx-build -j says
}

# What examples print is shown; what they warn of would be an error in the tests, and is one here.
warnings.filterwarnings("error", category=UserWarning, module="clustrep")

"""The files of a report: templates, style, script, and the list of columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template


@cache
def page_file(name: str) -> str:
    """Read one of the page's own files."""
    return resources.files("clustrep.report.page").joinpath(name).read_text("utf-8")


@cache
def template(name: str, *filters: Callable[..., Any]) -> Template:
    """Read a template; values in HTML are escaped, and functions are filters by their names."""
    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update({function.__name__: function for function in filters})
    return environment.get_template(name)

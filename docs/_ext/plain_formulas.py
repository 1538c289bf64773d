"""Formulas in docstrings are plain text, |U ∩ V| or labels_, which reStructuredText would take for markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

IN_BACKTICKS = re.compile(r"(``.+?``|`[^`]+`_?)")
FOOTNOTE = re.compile(r"(\[\w+\]_)")
TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?!\w)")


def escaped(line: str) -> str:
    r"""Escape bars and trailing underscores outside of backticks and references.

    Examples
    --------
    >>> print(escaped("the largest |U| of `v` [1]_, Σ_ i"))
    the largest \|U\| of `v` [1]_, Σ\_ i
    """
    parts = IN_BACKTICKS.split(line)
    for i in range(0, len(parts), 2):
        pieces = FOOTNOTE.split(parts[i])
        pieces[::2] = [TRAILING_UNDERSCORE.sub(r"\_", piece.replace("|", r"\|")) for piece in pieces[::2]]
        parts[i] = "".join(pieces)
    return "".join(parts)


def escape_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape all lines but examples, which are shown unchanged."""
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example and not line.lstrip().startswith(".. "):
            lines[i] = escaped(line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Examples in the help of commands, which click keeps line by line, are shown as code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from sphinx.application import Sphinx

LINE = "| "  # before every line of a block that sphinx-click writes


def as_code(lines: list[str]) -> list[str]:
    """Turn blocks of kept lines into code; the first line is the sentence before it if it ends with a colon.

    Examples
    --------
    >>> as_code(["Tell.", "", "| Example:", "|   clustrep demo", ""])
    ['Tell.', '', 'Example:', '', '.. code-block:: text', '', '   clustrep demo', '']
    """
    shown: list[str] = []
    in_block = False
    for line in lines:
        if not line.startswith(LINE):
            in_block = False
            shown.append(line)
            continue
        text = line.removeprefix(LINE)
        if not in_block and text.endswith(":"):
            shown += [text, ""]
            text = ""
        if not in_block:
            in_block = True
            shown += [".. code-block:: text", ""]
        if text:
            shown.append("   " + text.strip())
    return shown


def rewrite(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Rewrite a description or an epilog in place."""
    lines[:] = as_code(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Attach to sphinx-click."""
    app.setup_extension("sphinx_click")
    app.connect("sphinx-click-process-description", rewrite)
    app.connect("sphinx-click-process-epilog", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

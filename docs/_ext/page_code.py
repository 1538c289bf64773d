"""Code in pages runs when the site is built: a page whose code fails is an error that names the line.

Blocks of Python of a page run one after another, in one namespace and an empty folder; so do lines of `clustrep` in
blocks of `sh`, with few resamples where they say nothing else. Comments that readers don't see say the rest:

    <!-- setup                    Python that makes the files and studies of which the page speaks; a dictionary
    ...                           `stand_ins` there says what stands for a text of the page, such as an address
    -->
    <!-- output -->               before a block of text: what the code before it prints, … for anything
    <!-- not run: the reason -->  before a block that can't run in a build

`python docs/_ext/page_code.py docs/tables.md` runs a page by itself.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import glob
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FENCE = re.compile(r"^```([^\s`]*)")
COMMENT = re.compile(r"^<!-- (setup$|output -->$|not run: (.+) -->$)")
INDENTED = re.compile(r"^ {4,}(clustrep [a-z]|cr\.|import |from \w[\w.]* import |\w+ = cr\.)")
IN_TEXT = re.compile(r"`clustrep ([a-z]+)([^`]*)`")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z0-9-]*")
SHOWN = {"text", "toml"}  # languages of blocks that are no code
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LIMIT = 600  # seconds for a page: a guard against what hangs
ROOT = Path(__file__).resolve().parents[2]
QUICK = {
    "n_resamples": 5,
    "n_splits": 5,
    "null": "none",
    "figures": "none",
    "n_jobs": 1,
    "force": True,
    "allow_failures": True,
}


class PageError(Exception):
    """An error of a page."""


class Block(NamedTuple):
    """A block of a page: its kind (a language, "setup" or "output"), its first line in the page, and its text."""

    kind: str
    line: int
    text: str


def blocks_of(text: str) -> list[Block]:
    r"""List the code of a page, in order, and the output that it should print.

    Examples
    --------
    >>> blocks_of("```python\nx = 1\n```\n<!-- not run: no GPU -->\n```python\ny\n```\n")
    [Block(kind='python', line=2, text='x = 1')]
    """
    lines = text.splitlines()
    blocks: list[Block] = []
    kind, place = "", 0
    while place < len(lines):
        if comment := COMMENT.match(lines[place]):
            kind = comment[1].split(maxsplit=1)[0]
            if kind == "setup":
                end = lines.index("-->", place)
                blocks.append(Block(kind, place + 2, "\n".join(lines[place + 1 : end])))
                kind, place = "", end
        elif fence := FENCE.match(lines[place]):
            end = lines.index("```", place + 1)
            language, content = fence[1], "\n".join(lines[place + 1 : end])
            if kind == "output":
                blocks.append(Block(kind, place + 2, content))
            elif language in ("python", "sh") and kind != "not":
                blocks.append(Block(language, place + 2, content))
            elif not (language.startswith("{") or language in SHOWN or kind == "not"):
                raise PageError(f"line {place + 1}: a block needs a language: python and sh are run, text is shown.")
            kind, place = "", end
        elif INDENTED.match(lines[place]):
            raise PageError(f"line {place + 1}: code that is only indented is not run: put it between fences.")
        elif lines[place].strip():
            kind = ""
        place += 1
    return blocks


def unknown_in_text(text: str) -> list[str]:
    """List commands in sentences, `clustrep run … --shard 3/10`, that don't exist, or don't have the option."""
    from clustrep.cli.program import clustrep

    unknown = []
    for name, rest in IN_TEXT.findall(text):
        command = clustrep.commands.get(name)
        known = {option for parameter in command.params for option in parameter.opts} if command else set()
        unknown += [f"clustrep {name}"] * (command is None)
        unknown += [f"clustrep {name} {option}" for option in OPTION.findall(rest) if option not in known | {"--help"}]
    return unknown


def run_command(line: str) -> str:
    """Run a line of the command line within this process."""
    from click.testing import CliRunner

    from clustrep.cli.program import clustrep

    program, *words = shlex.split(line, comments=True)
    if program != "clustrep":
        raise PageError(f"only clustrep is run here, not {program!r}.")
    words = [path for word in words for path in (sorted(glob.glob(word)) if "*" in word else [word])]
    quick = {
        name: {parameter.name: QUICK[parameter.name] for parameter in command.params if parameter.name in QUICK}
        for name, command in clustrep.commands.items()
    }
    done = CliRunner().invoke(clustrep, words, default_map=quick)
    if done.exit_code != 0:
        raise PageError(f"{line}\nends with {done.exit_code}:\n{done.output}") from done.exception
    return done.stdout


def run_blocks(name: str, blocks: list[Block]) -> None:
    """Run the blocks of a page in the current folder."""
    import matplotlib.pyplot as plt

    namespace: dict[str, Any] = {"__name__": "__main__", "ROOT": ROOT, "stand_ins": {}}
    printed = io.StringIO()
    for block in blocks:
        text, line = block.text, block.line
        for shown, real in namespace["stand_ins"].items():
            text = text.replace(shown, real)
        try:
            if block.kind == "output":
                wanted = text.replace("…", "...") + "\n"
                if not doctest.OutputChecker().check_output(wanted, printed.getvalue(), SAME):
                    raise PageError(f"the page shows\n{text}\nbut this is printed:\n{printed.getvalue()}")
            elif block.kind == "sh":
                printed = io.StringIO()
                for place, command in enumerate(text.splitlines()):
                    line = block.line + place
                    printed.write(run_command(command))
            else:
                tree = ast.increment_lineno(ast.parse(text, name), block.line - 1)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(tree, name, "exec"), namespace)
                plt.close("all")
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = next((frame.lineno for frame in reversed(frames) if frame.filename == name), line)
            what = error if isinstance(error, PageError) else "".join(traceback.format_exception(error))
            raise PageError(f"line {line}: {what}") from error


def run_page(path: Path) -> None:
    """Run a page in an empty folder."""
    import matplotlib as mpl

    mpl.use("agg")
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run_blocks(path.name, blocks)
        finally:
            os.chdir(path.parent)


def without_comments(text: str) -> str:
    """Leave out what readers don't see; lines keep their numbers."""
    hidden = re.compile(r"^<!-- setup$.*?^-->$", flags=re.DOTALL | re.MULTILINE)
    return hidden.sub(lambda found: "\n" * found[0].count("\n"), text)


def when_read(app: Sphinx, name: str, source: list[str]) -> None:
    """Run the code of a page in another process; what fails is a warning, which `make docs` takes for an error."""
    from sphinx.util import logging

    path = Path(app.env.doc2path(name))
    if path.suffix != ".md":
        return
    try:
        blocks = blocks_of(source[0])
        if unknown := unknown_in_text(source[0]):
            raise PageError(f"there is no {', no '.join(unknown)}.")
    except PageError as error:
        logging.getLogger(__name__).warning("%s", error, location=name)
        blocks = []
    if any(block.kind in ("python", "sh") for block in blocks):
        done = subprocess.run(
            [sys.executable, __file__, str(path)], capture_output=True, text=True, timeout=LIMIT, check=False
        )
        if done.returncode != 0:
            logging.getLogger(__name__).warning("%s", done.stderr, location=name)
    source[0] = without_comments(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at pages before they are parsed."""
    app.connect("source-read", when_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for page in sys.argv[1:]:
        try:
            run_page(Path(page).resolve())
        except PageError as error:
            sys.exit(f"{page}: {error}")

"""What goes to the terminal, and what the exit code says.

0    fine
1    something is wrong with clustrep itself
2    the command was not understood
3    the data can't be used as they are
4    some replicates failed: results are written, `--allow-failures` makes it 0
130  interrupted
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shlex
import warnings
from collections.abc import Iterator
from typing import IO, Any

import click

from clustrep.errors import AllReplicatesFailed, ClustrepError, ClustrepWarning, DataError

INTERNAL, USAGE, BAD_DATA, SOME_FAILED, INTERRUPTED = 1, 2, 3, 4, 130
DEBUG = "CLUSTREP_DEBUG"

# The library speaks of its parameters; here, they are options. Only these phrases are translated, never a word alone:
# it may be the user's, such as the name of a file.
TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
ARGUMENT = re.compile(
    r"(?P<before>\b[Pp]ass |\bor |\bleave |\bwith |^(?=\w+=\S+ is for ))"
    r"(?P<name>label|header|transpose|study_key|rep|null)="
    rf"(?P<value>True|False|{TEXT}|\[{TEXT}(?:, {TEXT})*\])(?!\w|\.\w)"
)
FLAGS = {
    ("label", "False"): "--no-label",
    ("header", "True"): "--header",
    ("header", "False"): "--no-header",
    ("transpose", "True"): "--transpose",
}
PHRASES = {
    "label must be the name of a column, False or None,": "--label must be the name of a column,",
    "study_key must be a name or None,": "--study-key must be a name,",
    "rep must be a name or None,": "--rep must be a name,",
    "; pass as rep one of ": "; use as --rep one of ",
    'noise="drop" leaves no cluster': "--noise drop leaves no cluster",
    " adata.obs_names_make_unique() gives it one.": "",
    " adata.var_names_make_unique() gives it one.": "",
    "cluster_test(whiten=True) is exact; cluster_test(n_components=...) works on a few principal components.": (
        "--whiten is exact, where samples outnumber features."
    ),
    "Pass n_components to work on a few principal components.": "Choose fewer features with --features.",
}


def in_options(message: str) -> str:
    """Say a sentence of the library's in terms of options."""
    for phrase, translated in PHRASES.items():
        message = message.replace(phrase, translated)
    return ARGUMENT.sub(_as_option, message)


def _as_option(match: re.Match[str]) -> str:
    before, name, value = match["before"], match["name"], match["value"]
    before = {"pass ": "use ", "Pass ": "Use "}.get(before, before)
    if (name, value) in FLAGS:
        return before + FLAGS[name, value]
    if name == "transpose":
        studies = ast.literal_eval(value)
        return before + " ".join(f"--transpose-only {shlex.quote(study)}" for study in studies)
    return f"{before}--{name.replace('_', '-')} {value}"


def coloured() -> bool | None:
    """Whether to colour: never with NO_COLOR, else wherever click thinks it right."""
    return False if os.environ.get("NO_COLOR") else None


def say(text: str, *, style: dict[str, Any] | None = None) -> None:
    """Write a message, to stderr."""
    click.echo(_writable(click.style(text, **style) if style else text), err=True, color=coloured())


def put(text: str) -> None:
    """Write data, to stdout."""
    click.echo(_writable(text), color=coloured())


def _writable(text: str) -> str:
    """Show what no encoding has, such as parts of a file's name, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def on_one_line(text: str) -> str:
    """Show line ends, as names may have them, as escapes; those of a list, whose lines are indented, stay."""
    return re.sub(r"\n(?!  )", r"\\n", text.replace("\r", "\\r"))


class Failure(click.ClickException):
    """Ends the program with a sentence and an exit code."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence."""
        say(f"{click.style('error:', fg='red', bold=True)} {on_one_line(self.message)}")


class Interrupted(Failure):
    """Ends the program because its user wanted so."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it without calling it an error."""
        say(self.message)


class Commands(click.Group):
    """Commands whose errors are sentences and whose exit codes have a meaning."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and turn whatever it raises into a sentence and an exit code."""
        try:
            with told_warnings() as ctx.obj:
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            raise Interrupted("Interrupted.", INTERRUPTED) from None
        except (DataError, AllReplicatesFailed) as error:
            raise Failure(in_options(str(error)), BAD_DATA) from None
        except ClustrepError as error:
            raise Failure(in_options(str(error)), USAGE) from None
        except BrokenPipeError:
            with contextlib.suppress(OSError):  # whoever read stdout has gone, and needs no more
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            ctx.exit(0)
        except OSError as error:
            about = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise Failure(f"A file can't be used: {about}.", BAD_DATA) from None
        except MemoryError:
            raise Failure("There is not enough memory: use fewer features (--features) or samples.", BAD_DATA) from None
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            raise Failure(
                f"This is a mistake in clustrep, not in your data: {type(error).__name__}: {error}. "
                f"Please report it, with what {DEBUG}=1 makes it print.",
                INTERNAL,
            ) from None


@contextlib.contextmanager
def told_warnings() -> Iterator[list[str]]:
    """Write warnings to stderr as they come, each once, and keep them for the report."""
    told: list[str] = []

    def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = in_options(str(message))
        if text not in told:
            told.append(text)
            say(f"{click.style('warning:', fg='yellow')} {on_one_line(text)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=ClustrepWarning)
        warnings.showwarning = tell
        yield told

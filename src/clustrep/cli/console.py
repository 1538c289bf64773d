"""What goes to the terminal, and what the exit code says.

0    success
1    a mistake in clustrep itself
2    the command was not understood
3    the data can't be used as they are, or results can't be written to their folder
4    some replicates failed: results are written, `--allow-failures` makes it 0
130  interrupted
143  terminated
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

import click

from clustrep.cli.option_wording import in_options
from clustrep.engine.termination import TERMINATED, Terminated, termination_heard
from clustrep.errors import (
    AllReplicatesFailed,
    ClustrepError,
    ClustrepWarning,
    DataError,
    EngineLost,
    MachineWarning,
    WorkerKilled,
)
from clustrep.sentences import Worded
from clustrep.text import printable

INTERNAL, USAGE, BAD_DATA, SOME_FAILED, INTERRUPTED = 1, 2, 3, 4, 130
DEBUG = "CLUSTREP_DEBUG"


def coloured() -> bool | None:
    """Whether to colour: never with NO_COLOR, otherwise where click does."""
    return False if os.environ.get("NO_COLOR") else None


def write_message(text: str, *, mark: str = "") -> None:
    """Write a message to stderr, behind a mark that may have colours."""
    click.echo(mark + printable(text, lines=True), err=True, color=coloured())


def write_warning(text: str) -> None:
    """Write a message to stderr that may matter."""
    write_message(on_one_line(text), mark=click.style("warning:", fg="yellow") + " ")


def write_data(text: str) -> None:
    """Write data to stdout."""
    click.echo(printable(text, lines=True), color=coloured())


def write_page(text: str) -> None:
    """Write a page to stdout: as it is into a file or pipe, for a browser; with escapes on a terminal."""
    click.echo(printable(text, lines=True) if sys.stdout.isatty() else text, color=coloured())


def on_one_line(text: str) -> str:
    """Show the line ends within names as escapes; those before the indented lines of a list stay."""
    return re.sub(r"\n(?!  )", r"\\n", text)


class Failure(click.ClickException):
    """Ends the program with a sentence and an exit code."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence."""
        write_message(on_one_line(self.message), mark=click.style("error:", fg="red", bold=True) + " ")


class Interrupted(Failure):
    """Ends the program because its user interrupted it."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence, which is no error."""
        write_message(self.message)


class Commands(click.Group):
    """Commands whose errors are sentences and whose exit codes have a meaning."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and turn whatever it raises into a sentence and an exit code."""
        try:
            with termination_heard(), warnings_told(partial(self.worded, ctx)) as ctx.obj:
                return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            error.message = printable(error.message, lines=True)  # type: ignore[misc]
            raise
        except Terminated:
            raise Interrupted("Terminated.", TERMINATED) from None
        except (KeyboardInterrupt, click.Abort):
            raise Interrupted("Interrupted.", INTERRUPTED) from None
        except (DataError, AllReplicatesFailed, EngineLost, WorkerKilled) as error:
            raise Failure(self.worded(ctx, error), BAD_DATA) from None
        except ClustrepError as error:
            raise Failure(self.worded(ctx, error), USAGE) from None
        except BrokenPipeError:
            with contextlib.suppress(OSError):  # the reader of stdout is gone and needs no more
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

    def worded(self, ctx: click.Context, message: Worded) -> str:
        """Word an error or a warning in terms of the options of the command that runs."""
        return in_options(message, self.commands.get(ctx.invoked_subcommand or "", self))


@contextlib.contextmanager
def warnings_told(wording: Callable[[Worded], str]) -> Iterator[list[str]]:
    """Write warnings to stderr as they come, each once, and keep them for the report."""
    texts: list[str] = []
    told: set[str] = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = wording(message) if isinstance(message, Worded) else str(message)
        if text not in told:
            told.add(text)
            if not isinstance(message, MachineWarning):  # a report is the same on any machine
                texts.append(text)
            write_warning(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=ClustrepWarning)
        warnings.showwarning = tell
        yield texts


class Told(logging.Handler):
    """Writes what the library says of its progress to stderr; it is no part of the results."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message, those that may matter as warnings."""
        if record.levelno >= logging.WARNING:
            write_warning(record.getMessage())
        else:
            write_message(on_one_line(record.getMessage()))


@contextlib.contextmanager
def progress_told(*, quiet: bool) -> Iterator[None]:
    """Write what the library logs to stderr; only warnings where the user wants it quiet."""
    logger, handler = logging.getLogger("clustrep"), Told(logging.WARNING if quiet else logging.INFO)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.setLevel(before[0])
        logger.propagate = before[1]
        logger.removeHandler(handler)


def exit_if_failed(ctx: click.Context, settings: dict[str, Any], result: Any) -> None:
    """Exit with the code for failed replicates where there were some, unless they are allowed."""
    if result.failures and not settings["allow_failures"]:
        ctx.exit(SOME_FAILED)

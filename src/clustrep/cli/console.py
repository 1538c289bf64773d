"""What goes to the terminal, and the exit codes.

0    success
1    an internal error in clustrep
2    the command was not understood
3    the data can't be used, or results can't be written to their folder
4    some resamples failed: results are written, `--allow-failures` makes it 0
130  interrupted
143  terminated
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import os
import re
import shlex
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

import click

from clustrep.errors import (
    AllReplicatesFailed,
    ClustrepError,
    ClustrepWarning,
    DataError,
    EngineLost,
    MachineWarning,
    WorkerKilled,
)
from clustrep.text import Worded, at_command_line, option, printable

INTERNAL, USAGE, BAD_DATA, SOME_FAILED, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 130, 143
DEBUG = "CLUSTREP_DEBUG"
QUIET = "clustrep.quiet"  # where a context says that --quiet was given
GRACE = 2.0  # seconds in which an interrupted command may put things in order


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
    """Write a page to stdout: unchanged into a file or pipe, for a browser; with escapes on a terminal."""
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
        """Write the sentence, if there is one."""
        if not self.message:
            return
        is_error = self.exit_code not in (INTERRUPTED, TERMINATED)
        write_message(
            on_one_line(self.message), mark=click.style("error:", fg="red", bold=True) + " " if is_error else ""
        )


class Commands(click.Group):
    """Commands whose errors are sentences and whose exit codes have a meaning."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and turn whatever it raises into a sentence and an exit code."""
        ctx.meta[QUIET] = "--quiet" in ctx.args  # the command may be interrupted before it knows its options
        try:
            from clustrep.execution.workers import termination_heard

            with termination_heard(), warnings_told(partial(self.worded, ctx)) as ctx.obj:
                return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            error.message = printable(error.message, lines=True)  # type: ignore[misc]
            raise
        except (KeyboardInterrupt, click.Abort) as error:
            code = getattr(error, "exit_code", INTERRUPTED)
            sentence = "Terminated." if code == TERMINATED else "Interrupted."
            raise Failure("" if ctx.meta[QUIET] else sentence, code) from None
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
                f"Internal error in clustrep: {type(error).__name__}: {error}. "
                f"Please report it, with what {DEBUG}=1 prints.",
                INTERNAL,
            ) from None

    def worded(self, ctx: click.Context, message: Worded) -> str:
        """Word an error or a warning in terms of the options of the command that runs."""
        return in_options(message, self.commands.get(ctx.invoked_subcommand or "", self))


def heed_one_interrupt() -> None:
    """Let the first Ctrl-C end this process in good order; another one ends it at once, where that takes seconds."""
    heard: list[float] = []

    def end(*_: object) -> None:
        heard.append(time.monotonic())
        if len(heard) == 1:
            raise KeyboardInterrupt
        if heard[-1] - heard[0] > GRACE:
            os._exit(INTERRUPTED)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # jobs in the background ignore it
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # where Python has gone, so has the function
        signal.signal(signal.SIGINT, end)


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
    """Writes what the library logs of its progress to stderr; it is no part of the results."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message, those that may matter as warnings."""
        if record.levelno >= logging.WARNING:
            write_warning(record.getMessage())
        else:
            write_message(on_one_line(record.getMessage()))


@contextlib.contextmanager
def progress_told(*, quiet: bool) -> Iterator[None]:
    """Write what the library logs to stderr; only warnings with `--quiet`."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Stdout is for data: what clusterers print goes to stderr, so that `--json` stays valid


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Let others' code print to stderr instead: Python's, compiled code, workers and programs that it starts."""
    if sys.stderr is None or sys.stdout is None:  # as under pythonw
        yield
        return
    sys.stdout.flush()
    with contextlib.ExitStack() as undo:
        undo.enter_context(contextlib.redirect_stdout(sys.stderr))
        # Descriptor 1, which whatever is not Python writes to, and workers inherit, points to where 2 points.
        with contextlib.suppress(OSError):  # one of them is closed
            stdout = os.dup(1)
            undo.callback(os.close, stdout)
            os.dup2(2, 1)
            undo.callback(os.dup2, stdout, 1)
        try:
            yield
        finally:  # what C's `printf` holds back would come at the end of the process, behind the data
            with contextlib.suppress(OSError, AttributeError, TypeError):  # Windows lacks this library
                ctypes.CDLL(None).fflush(None)


# ---------------------------------------------------------------------------------------------------------------------
# The library's sentences in terms of options


def in_options(message: Worded, command: click.Command) -> str:
    """Word an error or a warning of the library for those who typed this command."""
    options = {str(param.name): param for param in command.params if isinstance(param, click.Option)}
    sentence, parameter = message.sentence, getattr(message, "parameter", None)
    if parameter is not None and sentence.startswith(f"{parameter} must "):  # a rule, not the name of a user's file
        sentence = option(parameter) + sentence.removeprefix(parameter)
    return at_command_line(sentence, partial(spelling, options))


def spelling(options: dict[str, click.Option], name: str, *values: object) -> str:
    """Write a parameter, or an argument with its value, as an option; as Python does where no option stands for it."""
    if not values:
        return options[name].opts[0] if name in options else name
    (value,) = values
    if value is False and f"no_{name}" in options:
        return options[f"no_{name}"].opts[0]
    repeated = next((key for key in (f"{name}_only", name) if key in options and options[key].multiple), "")
    if isinstance(value, list) and repeated:
        return " ".join(f"{options[repeated].opts[0]} {shlex.quote(item)}" for item in value)
    if name not in options:
        return f"{name}={value!r}"
    if options[name].is_flag:
        return (options[name].opts if value else options[name].secondary_opts)[0]
    return f"{options[name].opts[0]} {_quoted(str(value))}"


def _quoted(text: str) -> str:
    """Quote a value for the shell, also where it need not be: it stands in a sentence."""
    return shlex.quote(text) if "'" in text else f"'{text}'"

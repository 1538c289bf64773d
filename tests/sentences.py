"""The sentences of errors, in one file that a person reads and whose changes a person reviews: tests/sentences.md.

Tests check the type and the parameter of an error, and don't quote its prose: `refused` and `warned` compare it with
the file, under the test's name. After sentences have changed,

    make sentences

writes the file anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from clustrep import __version__
from clustrep.errors import ClustrepError, ClustrepWarning

FILE = Path(__file__).with_name("sentences.md")
ENTRY = re.compile(r"- \*\*(.+?)\*\*: (.*)")
# Others' words change with their versions: about a parameter of scikit-learn, a TOML file, a damaged file, a time.
OF_OTHERS = (
    re.compile(r"(?<=must be )an? .*(?=\. Got)"),
    re.compile(r"(?<=is not TOML: ).*?(?=\(at line|$)"),
    re.compile(r"(?<=\()[A-Z]\w+: .*(?=\): save)"),
    re.compile(r"(?<=T00:00:00)\.0+"),
)
# Where an object lies in memory, and a module on a disk.
OF_THIS_MACHINE = (re.compile(r"\b0x[0-9A-Fa-f]{6,}"), re.compile(r"(?<= from ')/.*?(?='>)"))
TEMPORARY = re.compile(r"/[^\s']*?/pytest-of-[^/\s]+/pytest-\d+(/popen-gw\d+)?/[^/\s']+?\d+(?=[/\W]|$)")
HEADER = """# What errors say

One line for each malformed input of the tests, under the function, command or file format that refuses it. Written by
`make sentences`: review its changes as you would review a page for users.
"""

Sentences = dict[str, dict[str, str]]  # by heading and name


@cache
def snapshot() -> Sentences:
    """Read the file."""
    found: Sentences = {}
    for line in FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []:
        if line.startswith("## "):
            entries = found.setdefault(line.removeprefix("## "), {})
        elif match := ENTRY.fullmatch(line):
            entries[match[1]] = match[2]
    return found


def write(sentences: Sentences) -> None:
    parts = [HEADER]
    for heading, entries in sorted(sentences.items()):
        parts.append(f"\n## {heading}\n\n")
        parts += [f"- **{name}**: {text}\n" for name, text in sorted(entries.items())]
    FILE.write_text("".join(parts), encoding="utf-8")


def key_of(name: str) -> str:
    """Write the name of a case on one line, so that it is read back."""
    return name.replace("*", "∗").replace("\n", "⏎")


def check_snapshot(heading: str, name: str, sentence: str, folder: Path | None = None) -> None:
    """Compare a sentence with that of the file, or put it there where UPDATE_SENTENCES is set."""
    for pattern in OF_OTHERS + OF_THIS_MACHINE:
        sentence = pattern.sub("…", sentence)
    sentence = TEMPORARY.sub("FOLDER", sentence).replace("\n", " ⏎ ").replace(__version__, "VERSION")
    if folder is not None:
        sentence = sentence.replace(str(folder), "FOLDER")
    name = key_of(name)
    if os.environ.get("UPDATE_SENTENCES"):
        snapshot().setdefault(heading, {})[name] = sentence
        write(snapshot())
    assert snapshot().get(heading, {}).get(name) == sentence


SEEN: dict[str, list[str]] = {}  # the different sentences of the test that runs


def check_snapshot_of_test(sentence: str) -> None:
    """Compare a sentence with that of the file under the test's name; a number tells its different sentences apart."""
    test, _, _phase = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
    if test not in SEEN:
        SEEN.clear()
    seen = SEEN.setdefault(test, [])
    if sentence not in seen:
        seen.append(sentence)
        path, _, name = test.partition("::")
        check_snapshot(path, name if len(seen) == 1 else f"{name} {len(seen)}", sentence)


@contextmanager
def refused(
    error: type[ClustrepError] | tuple[type[ClustrepError], ...], parameter: str | None = None
) -> Iterator[pytest.ExceptionInfo[ClustrepError]]:
    """Expect an error with this type and parameter, and with its sentence of the file."""
    with pytest.raises(error) as caught:
        yield caught
    assert getattr(caught.value, "parameter", None) == parameter
    check_snapshot_of_test(str(caught.value))


@contextmanager
def warned(category: type[ClustrepWarning]) -> Iterator[pytest.WarningsRecorder]:
    """Expect a warning of this type, the first of its type with its sentence of the file."""
    with pytest.warns(category) as caught:
        yield caught
    check_snapshot_of_test(next(str(warning.message) for warning in caught if isinstance(warning.message, category)))

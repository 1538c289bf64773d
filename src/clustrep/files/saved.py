"""Results in files: an npz archive of arrays, one of which holds everything else as JSON; never a pickle.

A pickle can run code when it is read. Files here hold data alone, and `clustrep.files.archives` checks them first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import secrets
import stat
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.checks import freeze
from clustrep.errors import DataError, invalid
from clustrep.files.archives import TooLarge, check_seal, declared_arrays, read_array, write_archive
from clustrep.files.folders import nearest_entries, sync_folder
from clustrep.provenance import Provenance
from clustrep.text import for_spreadsheet, printable

FORMAT = 2

HEADER = "clustrep"

TEMPORARY = ".clustrep-"  # how the names of files begin that are not complete

LEFT = 24 * 60 * 60  # seconds without a change, after which no process can still be writing a file


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that gets its name only when it is complete, so that an error leaves the old file or none.

    Parameters
    ----------
    path : path
        The file, in a folder that exists.

    Yields
    ------
    stream
        Binary, to be written and read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    check_path(path)
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError(f"There is no folder {target.parent} to write {target.name} into: make it first.")
    if target.is_dir():
        raise DataError(f"{target} is a folder: name a file.")
    _remove_leftovers(target.parent)
    temporary = target.parent / f"{TEMPORARY}{secrets.token_hex(8)}"  # short: the file's name may be long
    try:
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # some file systems only now say that they are full
        os.replace(temporary, target)
        sync_folder(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_leftovers(folder: Path) -> None:
    """Remove the files that killed processes have left: those without a recent change."""
    for leftover in folder.glob(f"{TEMPORARY}{'[0-9a-f]' * 16}"):
        with contextlib.suppress(OSError):  # it is gone, or can't be removed
            status = leftover.lstat()
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > LEFT:
                leftover.unlink()


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Write a table as CSV in which no text is taken for a formula.

    Parameters
    ----------
    frame : DataFrame
        The table.
    **options
        Of `DataFrame.to_csv`.

    Returns
    -------
    str

    See Also
    --------
    clustrep.text.for_spreadsheet : Puts an apostrophe before these texts; `from_spreadsheet` removes it.

    Examples
    --------
    >>> csv_text(pd.DataFrame({"cluster": ["A", "=1+1"]}), index=False).split()
    ['cluster', 'A', "'=1+1"]
    """

    def guarded(value: Any) -> Any:
        return for_spreadsheet(value) if isinstance(value, str) else value

    numeric = pd.api.types.is_numeric_dtype
    columns = {guarded(name): column if numeric(column) else column.map(guarded) for name, column in frame.items()}
    table = pd.DataFrame(columns, index=frame.index).rename(index=guarded)
    return str(table.to_csv(lineterminator="\n", **options))


def save_result(result: Any, path: str | os.PathLike[str]) -> None:
    """Write the public fields of a result; the data that it was computed from are not among them."""
    arrays: dict[str, Any] = {}
    header = {"format": FORMAT, **_describe(result, "", arrays)}
    arrays[HEADER] = np.array(json.dumps(header, default=_plain))
    with written_whole(path) as stream:
        write_archive(stream, arrays)


def _describe(result: Any, prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Describe a result without its arrays, which are added to `arrays`; those of a result within it get a prefix."""
    values: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(result):
        name, value = field.name, getattr(result, field.name)
        if name.startswith("_"):
            continue
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise ValueError(f"{name} holds Python objects, which only a pickle could hold.")
            arrays[prefix + name] = value
        elif isinstance(value, Provenance):
            values[name] = value.to_fields()
        elif dataclasses.is_dataclass(value):
            parts[name] = _describe(value, f"{prefix}{name}/", arrays)
        elif isinstance(value, tuple) and value and all(map(dataclasses.is_dataclass, value)):
            parts[name] = [_describe(part, f"{prefix}{name}/{i}/", arrays) for i, part in enumerate(value)]
        else:
            values[name] = value
    return {"kind": type(result).__name__, "values": values, **({"parts": parts} if parts else {})}


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers into Python's, which JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} can't be written as JSON")


class Fields(NamedTuple):
    """The kind of a result and its fields; a field may itself be `Fields`, or a tuple of them."""

    kind: str
    values: dict[str, Any]


def load_fields(path: str | os.PathLike[str], check: Callable[[Fields], None], max_bytes: int | None = None) -> Fields:
    """Read what `save_result` wrote.

    Parameters
    ----------
    path : path
        The file.
    check : callable
        Gets the fields before any array is read, with the declared type and shape of each in its place, and raises
        where they are not those of a result.
    max_bytes : int, default=None
        How many bytes the arrays may take: by default 1 GiB, or 20 times the size of the file if that is more.

    Returns
    -------
    Fields

    Raises
    ------
    DataError
        If the file is damaged, is of another version, or declares more bytes than it may.
    """
    check_path(path)
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder: name a file.")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}: check the path.{nearest_entries(Path(path))}")
    try:
        stream = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise DataError.unreadable(path, error) from None
    with stream:
        try:
            check_seal(stream)
            with zipfile.ZipFile(stream) as archive:
                declared: dict[str, Any] = {**declared_arrays(archive, max_bytes)}
                if math.prod(declared.pop(HEADER).shape) != 1:
                    raise TypeError
                header = json.loads(str(read_array(archive, HEADER)))
                _check_format(header["format"], path)
                left = dict(declared)
                check(_fields(header, left))
                if left:
                    raise ValueError("an array belongs to no part")
                return _fields(header, {name: read_array(archive, name) for name in declared})
        except (MemoryError, DataError):
            raise
        except TooLarge as error:
            size, allowed = error.args
            raise DataError(
                f"{path} would take {size:,} bytes of memory, more than the {allowed:,} that are allowed: if you trust "
                f"it, read it with clustrep.load(path, max_bytes={size})."
            ) from None
        except Exception:  # a damaged archive can raise almost anything
            raise DataError(_damaged(path)) from None


def _check_format(number: object, path: str | os.PathLike[str]) -> None:
    if type(number) is not int or number < 1:
        raise DataError(_damaged(path))
    if number > FORMAT:
        raise DataError(f"{path} was saved by a newer clustrep (format {number}, this one reads {FORMAT}): update it.")
    if number < FORMAT:
        raise DataError(
            f"{path} was saved by an older clustrep (format {number}, this one reads {FORMAT}): run it again."
        )


def _damaged(path: str | os.PathLike[str]) -> str:
    return f"{path} is not a result that clustrep saved, or is damaged: run it again."


def _fields(header: dict[str, Any], arrays: dict[str, Any], prefix: str = "") -> Fields:
    """Join a header with its arrays, which are taken out; if they do not fit, the error may be of any kind."""
    kind, values = header["kind"], dict(header["values"])
    if not isinstance(kind, str):
        raise TypeError
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if "provenance" in values:
        fields["provenance"] = Provenance.from_fields(values["provenance"])
    own = [name for name in arrays if name.startswith(prefix) and "/" not in name[len(prefix) :]]
    fields |= {name[len(prefix) :]: arrays.pop(name) for name in own}
    for name, part in header.get("parts", {}).items():
        below = f"{prefix}{name}/"
        if isinstance(part, list):
            fields[name] = tuple(_fields(item, arrays, f"{below}{i}/") for i, item in enumerate(part))
        else:
            fields[name] = _fields(part, arrays, below)
    return Fields(kind, fields)


def check_path(path: object) -> None:
    """Check that a value can be the path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise invalid("path", "the name of a file", path)


# ---------------------------------------------------------------------------------------------------------------------
# Results that can be printed and saved: what every result class is, wherever it is defined


class Printed:
    """A result whose text is printable, whatever the names of studies and clusters hold."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in {"__repr__", "__str__"} & set(vars(cls)):
            setattr(cls, name, _printable(vars(cls)[name]))


def _printable(write: Callable[[Any], str]) -> Callable[[Any], str]:
    @wraps(write)
    def write_printable(result: Any) -> str:
        return printable(write(result), lines=True)

    return write_printable


class Saved(Printed):
    """A frozen result that can be written to one file."""

    def __post_init__(self) -> None:
        freeze(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything but the data to one file, whole or not at all; `clustrep.load` reads it."""
        save_result(self, path)

"""Results in files: an npz archive of arrays, one of which holds everything else as JSON; never a pickle.

A pickle can run code when it is read. What is read here is only data.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.errors import DataError, ParameterError
from clustrep.provenance import Provenance
from clustrep.text import for_spreadsheet

FORMAT = 1

HEADER = "clustrep"


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that gets its name only when it is complete, so that an error leaves the old file or none."""
    check_path(path)
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError(f"There is no folder {target.parent} to write {target.name} into.")
    if target.is_dir():
        raise DataError(f"{target} is a folder: name a file.")
    temporary = target.parent / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Write a table as CSV in which no text is taken for a formula: `clustrep.text.for_spreadsheet` says how."""

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
        np.savez_compressed(stream, **arrays)


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
    """The kind of a result and its fields; a field may itself be such `Fields`, or a tuple of them."""

    kind: str
    values: dict[str, Any]


def load_fields(path: str | os.PathLike[str]) -> Fields:
    """Read what `save_result` wrote."""
    check_path(path)
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder: name a file.")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    foreign = DataError(f"{path} is not a result that clustrep saved, or is damaged: run it again.")
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop(HEADER)))
        version, fields = header["format"], _fields(header, arrays)
    except Exception:  # a damaged archive can raise almost anything
        raise foreign from None
    if not isinstance(version, int):
        raise foreign
    if version > FORMAT:
        raise DataError(f"{path} was saved by a newer clustrep (format {version}, this one reads {FORMAT}): update it.")
    return fields


def _fields(header: dict[str, Any], arrays: dict[str, Any]) -> Fields:
    """Join a header with its arrays; if they do not fit, the error may be of any kind."""
    kind, values = header["kind"], dict(header["values"])
    if not isinstance(kind, str):
        raise TypeError
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if "provenance" in values:
        fields["provenance"] = Provenance.from_fields(values["provenance"])
    fields |= {name: array for name, array in arrays.items() if "/" not in name}
    for name, part in header.get("parts", {}).items():
        if isinstance(part, list):
            fields[name] = tuple(_fields(item, _with_prefix(f"{name}/{i}/", arrays)) for i, item in enumerate(part))
        else:
            fields[name] = _fields(part, _with_prefix(f"{name}/", arrays))
    return Fields(kind, fields)


def _with_prefix(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_path(path: object) -> None:
    """Check that a value can be the path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"path must be the name of a file, got {path!r}.", parameter="path")

"""Results in one file: arrays in an npz archive, everything else in it as JSON. No pickle, ever."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from clustrep.errors import DataError, ParameterError

FORMAT = 1
HEADER = "clustrep"


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is complete, or not at all."""
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


def save_result(result: Any, path: str | os.PathLike[str]) -> None:
    """Write a result: its public fields, without the data that it came from."""
    arrays: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if field.name.startswith("_"):
            continue
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            raise ValueError(f"{field.name} holds Python objects, which only a pickle could hold.")
        (arrays if isinstance(value, np.ndarray) else values)[field.name] = value
    header = {"format": FORMAT, "kind": type(result).__name__, "values": values}
    arrays[HEADER] = np.array(json.dumps(header, default=_plain))
    with written_whole(path) as stream:
        np.savez_compressed(stream, **arrays)


def _plain(value: Any) -> Any:
    """Write NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} can't be written as JSON")


def load_fields(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Read what `save_result` wrote: the kind of result, and its fields."""
    check_path(path)
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder: name a file.")
    if not Path(path).is_file():
        raise DataError(f"There is no file {path}.")
    foreign = DataError(f"{path} is not a result that clustrep saved, or is damaged.")
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop(HEADER)))
        version, kind, values = header["format"], header["kind"], header["values"]
    except Exception:  # what a damaged archive can raise has no end
        raise foreign from None
    if not isinstance(version, int) or not isinstance(kind, str) or not isinstance(values, dict):
        raise foreign
    if version > FORMAT:
        raise DataError(f"{path} was saved by a newer clustrep (format {version}, this one reads {FORMAT}): update it.")
    return kind, {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()} | arrays


def check_path(path: object) -> None:
    """Check that something names a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"path must be the name of a file, got {path!r}.")

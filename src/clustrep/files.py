"""Results in one file: arrays in an npz archive, everything else in it as JSON. No pickle, ever."""

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
    header = {"format": FORMAT, **_take_apart(result, "", arrays)}
    arrays[HEADER] = np.array(json.dumps(header, default=_plain))
    with written_whole(path) as stream:
        np.savez_compressed(stream, **arrays)


def _take_apart(result: Any, prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Describe a result, and put its arrays aside under their names; those of results within it behind a prefix."""
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
        elif dataclasses.is_dataclass(value):
            parts[name] = _take_apart(value, f"{prefix}{name}/", arrays)
        elif isinstance(value, tuple) and value and all(map(dataclasses.is_dataclass, value)):
            parts[name] = [_take_apart(one, f"{prefix}{name}/{i}/", arrays) for i, one in enumerate(value)]
        else:
            values[name] = value
    return {"kind": type(result).__name__, "values": values, **({"parts": parts} if parts else {})}


def _plain(value: Any) -> Any:
    """Write NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} can't be written as JSON")


class Fields(NamedTuple):
    """A result taken apart: its kind, and its fields, of which some are results, or tuples of them, themselves."""

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
        version, fields = header["format"], _put_together(header, arrays)
    except Exception:  # what a damaged archive can raise has no end
        raise foreign from None
    if not isinstance(version, int):
        raise foreign
    if version > FORMAT:
        raise DataError(f"{path} was saved by a newer clustrep (format {version}, this one reads {FORMAT}): update it.")
    return fields


def _put_together(header: dict[str, Any], arrays: dict[str, Any]) -> Fields:
    """Join a header and the arrays that belong to it; whatever is wrong with them is an error of some kind."""
    kind, values = header["kind"], dict(header["values"])
    if not isinstance(kind, str):
        raise TypeError
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    fields |= {name: array for name, array in arrays.items() if "/" not in name}
    for name, part in header.get("parts", {}).items():
        several = isinstance(part, list)
        of_parts = [
            _put_together(one, _behind(f"{name}/{i}/" if several else f"{name}/", arrays))
            for i, one in enumerate(part if several else [part])
        ]
        fields[name] = tuple(of_parts) if several else of_parts[0]
    return Fields(kind, fields)


def _behind(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_path(path: object) -> None:
    """Check that something names a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"path must be the name of a file, got {path!r}.", parameter="path")

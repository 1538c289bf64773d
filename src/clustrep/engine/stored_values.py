"""Values of replicates as arrays and JSON: tuples, lists, texts, numbers, arrays and records of known types.

All arrays of one type lie in one long array, so that a file holds few of them however many values it has. A record is
read back only as one of the types that the reader names: what is in a file never chooses what is called.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustrep.archives import KINDS


class Packing:
    """Arrays that are collected, by type."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the long arrays."""
        return {name: np.concatenate(pieces) for name, pieces in self._pieces.items()}

    def pack(self, value: Any) -> Any:
        """Describe a value in JSON's types; its arrays are collected."""
        if isinstance(value, np.generic):  # before Python's: some of NumPy's floats are both
            return ["number", *self._array(np.asarray(value))]
        if value is None or isinstance(value, bool | int | float | str):
            return ["plain", value]
        if isinstance(value, np.ndarray):
            return self._texts(value) if value.dtype.hasobject else ["array", *self._array(value)]
        if hasattr(value, "_fields") or dataclasses.is_dataclass(value):
            return ["record", type(value).__name__, [self.pack(field) for field in _fields(value)]]
        if isinstance(value, list | tuple):
            return [type(value).__name__, [self.pack(item) for item in value]]
        raise TypeError(f"{type(value).__name__} can't be stored")

    def _array(self, array: NDArray[Any]) -> list[Any]:
        if array.dtype.kind not in KINDS:
            raise TypeError(f"arrays of type {array.dtype} can't be stored")
        name = array.dtype.str[1:] if array.dtype.str[0] == "|" else array.dtype.newbyteorder("<").str[1:]
        begin = self._lengths.get(name, 0)
        self._pieces.setdefault(name, []).append(np.ravel(array).astype(f"<{name}"))
        self._lengths[name] = begin + array.size
        return [name, list(array.shape), begin]

    def _texts(self, array: NDArray[Any]) -> list[Any]:
        """Describe an array of Python's texts: a list of the different ones, and which it is at each place."""
        texts = sorted({*array.ravel().tolist()})
        if not all(type(text) is str for text in texts):
            raise TypeError("an array of Python objects other than texts can't be stored")
        places = {text: place for place, text in enumerate(texts)}
        codes = np.array([places[text] for text in array.ravel().tolist()], dtype=np.int64).reshape(array.shape)
        return ["texts", texts, *self._array(codes)]


def unpack(described: Any, arrays: Mapping[str, NDArray[Any]], types: Iterable[type]) -> Any:
    """Return the value that was described; what does not fit together raises an error of any kind."""
    by_name = {known.__name__: known for known in types}

    def array_of(name: str, shape: list[int], begin: int) -> NDArray[Any]:
        stored = arrays[name]
        size = math.prod(shape)
        if begin < 0 or begin + size > len(stored):
            raise ValueError("an array ends before its last value")
        native = stored.dtype.newbyteorder("=")
        return stored[begin : begin + size].reshape(shape).astype(native)  # a copy that can be written to

    def value_of(node: Any) -> Any:
        kind, *content = node
        if kind == "plain":
            return content[0]
        if kind == "array":
            return array_of(*content)
        if kind == "number":
            return array_of(*content)[()]
        if kind == "texts":
            texts, *codes = content
            return np.array([*texts, None], dtype=object)[array_of(*codes)]
        if kind == "record":
            name, fields = content
            return by_name[name](*map(value_of, fields))
        return {"list": list, "tuple": tuple}[kind](map(value_of, content[0]))

    return value_of(described)


def _fields(record: Any) -> list[Any]:
    if hasattr(record, "_fields"):
        return list(record)
    return [getattr(record, field.name) for field in dataclasses.fields(record) if field.init]

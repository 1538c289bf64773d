"""Reading files of other sites: no code in them is run.

Sizes are checked before anything is decompressed (`files`), kinds and shapes before anything is used. Not checked: who
wrote a file, whether a function has as many centres as the question states clusters, and the range of scores.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from clustrep.errors import ClustrepError, DataError
from clustrep.federated.files import (
    VERSION,
    ClusterTable,
    CrossTable,
    GapTable,
    Packed,
    Shelf,
    SiteFile,
    SiteFunctions,
    SiteScores,
    digest_of,
)
from clustrep.federated.inquiry import Inquiry
from clustrep.files.saved import Fields, load_fields
from clustrep.text import listing

T = TypeVar("T")

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (SiteFunctions, SiteScores)}
PARTS: dict[str, Any] = {kind.__name__: kind for kind in (Shelf, Packed, ClusterTable, GapTable, CrossTable)}
SAID = {"SiteFunctions": "clustering functions", "SiteScores": "scores"}


def read_file(path: str | PathLike[str]) -> Any:
    """Read a file of functions or of scores, and check all of it."""
    fields = load_fields(path, partial(_check_declared, path))
    damaged = f"{path} was changed after it was written, or is damaged"
    try:
        content = _assembled(fields, KINDS)
    except Exception:  # values may be anything
        raise DataError(f"{damaged}: ask for a new one.") from None
    if content.digest != digest_of(content):
        raise DataError(f"{damaged}: its SHA-256 is not that of its content. Ask for a new one.")
    try:
        content.check()
    except ClustrepError as error:
        raise DataError(f"{path} can't be used: {str(error).rstrip('.')}.") from None
    except Exception:  # of any kind, where fields do not fit together
        raise DataError(f"{path} can't be used: its numbers do not fit together. Ask for a new one.") from None
    return content


def read_files(files: object, kind: type[T], parameter: str) -> list[T]:
    """Read files of one kind; objects in memory are returned unchanged."""
    several = files if isinstance(files, Sequence) and not isinstance(files, str) else [files]
    contents = [item if isinstance(item, SiteFile) else read_file(item) for item in several]  # type: ignore[arg-type]
    for item, content in zip(several, contents, strict=True):
        if not isinstance(content, kind):
            name = item if not isinstance(item, SiteFile) else f"That of {content.study!r}"
            raise DataError(
                f"{name} holds {SAID[type(content).__name__]}, but {parameter} takes {SAID[kind.__name__]}."
            )
    if not contents:
        raise DataError(f"{parameter} is empty: name at least one file of {SAID[kind.__name__]}.")
    return contents  # type: ignore[return-value]


def _check_declared(path: str | PathLike[str], fields: Fields) -> None:
    """Check kind, version and names of fields, before any array is read."""
    if fields.kind not in KINDS:
        raise DataError(
            f"{path} holds no {' and no '.join(SAID.values())} of a site, but {fields.kind!r}: name a file that "
            "learn or score wrote."
        )
    version = fields.values.get("version")
    if type(version) is not int or version < 1:
        raise DataError(f"{path} can't be used: it states no version, but {version!r}. Ask for a new one.")
    if version > VERSION:
        raise DataError(
            f"{path} was written by a newer clustrep (format {version}, this one reads {VERSION}): update it."
        )
    _check_names(fields, KINDS)


def _check_names(fields: Fields, kinds: Mapping[str, Any]) -> None:
    """Raise an error of any kind where a part is of an unknown kind, or its fields are not those of its kind."""
    if set(fields.values) != {part.name for part in dataclasses.fields(kinds[fields.kind])}:
        raise ValueError
    for value in fields.values.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Fields):
                _check_names(part, PARTS)


def _assembled(fields: Fields, kinds: Mapping[str, Any]) -> Any:
    kind = kinds[fields.kind]
    return kind(**{name: _part(value) for name, value in fields.values.items()})


def _part(value: Any) -> Any:
    if isinstance(value, Fields):
        return _assembled(value, PARTS)
    if isinstance(value, tuple):
        return tuple(_part(item) for item in value)
    return value


def check_same_question(files: Sequence[SiteFile]) -> Inquiry:
    """Check that files answer the same question, about different studies; return it."""
    first = files[0]
    for other in files[1:]:
        if other.question.fingerprint != first.question.fingerprint:
            differences = first.question.differences(other.question) or ["the way in which they were written"]
            raise DataError(
                f"The files of {first.study!r} and {other.study!r} answer different questions; they differ in "
                f"{'; '.join(differences)}. Learn again with the same options at every site."
            )
    names = [file.study for file in files]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(
            f"Two files are of a study named {listing(map(repr, twice))}: give every site its own name, and learn "
            "again."
        )
    return first.question

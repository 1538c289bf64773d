"""Reading files of other sites: no code in them is run.

Sizes are checked before anything is decompressed (`files.archives`), names of fields before any array is read,
signature and session before anything is used, then shapes, ranges and codes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from clustrep.errors import DataError
from clustrep.federated.files import ExactScores, Shelf, SiteFile, SiteFunctions, SiteScores, digest_of
from clustrep.federated.keys import is_signed
from clustrep.federated.session import VERSION, Session
from clustrep.files.saved import Fields, load_fields
from clustrep.text import listing

T = TypeVar("T")
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (SiteFunctions, SiteScores)}
PARTS: dict[str, Any] = {kind.__name__: kind for kind in (Shelf, ExactScores)}
SAID = {"SiteFunctions": "clustering functions", "SiteScores": "scores"}


def read_file(path: str | PathLike[str]) -> Any:
    """Read a file of functions or of scores; its origin is not verified yet."""
    fields = load_fields(path, partial(_check_declared, path))
    try:
        return _assembled(fields, KINDS)
    except Exception:  # values may be anything
        raise DataError(f"{path} was changed after it was written, or is damaged: ask for a new one.") from None


def verified(files: object, session: Session, *kinds: type[SiteFile]) -> list[SiteFile]:
    """Read files of some kinds, and verify that sites of this session wrote all of them for it."""
    several = files if isinstance(files, Sequence) and not isinstance(files, str) else [files]
    if not several:
        raise DataError(f"Name at least one file of {listing(SAID[kind.__name__] for kind in kinds)}.")
    return [_verified(item, session, kinds) for item in several]


def _verified(item: Any, session: Session, kinds: tuple[type[SiteFile], ...]) -> SiteFile:
    content = item if isinstance(item, SiteFile) else read_file(item)
    name = f"That of {content.study!r}" if isinstance(item, SiteFile) else str(item)
    if not isinstance(content, kinds):
        wanted = listing(SAID[kind.__name__] for kind in kinds)
        raise DataError(f"{name} holds {SAID[type(content).__name__]}: name files of {wanted}.")
    public = session.sites.get(content.study) if isinstance(content.study, str) else None
    try:
        digest = digest_of(content)
    except Exception:  # values may be anything
        digest = ""
    if public is None or digest != content.digest or not is_signed(digest, content.signature, public):
        raise DataError(
            f"{name} is not signed by a site of this session: it was changed after it was signed, or somebody else "
            "wrote it. Ask the site for a new one."
        )
    if content.session != session.fingerprint:
        raise DataError(f"{name} belongs to another session: ask the site for one of this session.")
    try:
        content.check(session)  # type: ignore[attr-defined]
    except Exception:  # of any kind, where fields do not fit together
        raise DataError(f"{name} can't be used: its numbers do not fit together. Ask for a new one.") from None
    return content


def _check_declared(path: str | PathLike[str], fields: Fields) -> None:
    """Check kind, version and names of fields, before any array is read."""
    if fields.kind not in KINDS:
        raise DataError(
            f"{path} holds no {' and no '.join(SAID.values())} of a site, but {fields.kind!r}: name a file that "
            "learn or score wrote."
        )
    if fields.values.get("version") != VERSION:
        raise DataError(f"{path} is of another clustrep: use the same at every site, and ask for a new file.")
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
    if isinstance(value, list | tuple):
        return tuple(_part(item) for item in value)
    return value

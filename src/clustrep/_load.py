"""Reading a saved result."""

from __future__ import annotations

from os import PathLike

from clustrep._files import load_fields
from clustrep.errors import DataError
from clustrep.results import Comparison, LocalReplicability, Replicability

RESULTS = {kind.__name__: kind for kind in (Replicability, Comparison, LocalReplicability)}


def load(path: str | PathLike[str]) -> Replicability | Comparison | LocalReplicability:
    """Read a result that `save` wrote.

    Examples
    --------
    >>> load("nothing.npz")
    Traceback (most recent call last):
    clustrep.errors.DataError: There is no file nothing.npz.
    """
    kind, fields = load_fields(path)
    if kind not in RESULTS:
        raise DataError(f"{path} holds a result of kind {kind!r}; this clustrep knows {', '.join(RESULTS)}.")
    try:
        return RESULTS[kind](**fields)
    except TypeError as error:
        raise DataError(f"{path} is damaged: {error}.") from None

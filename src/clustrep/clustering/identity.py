"""What a run is about, as text: its data, clusterers, seed and versions, the same in every process."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from clustrep.clustering.parameters import describe
from clustrep.clustering.sample import Configuration, Source
from clustrep.device.available import device_name
from clustrep.engine.checkpoints import Question
from clustrep.engine.run import EXACT
from clustrep.provenance import fingerprint, installed_versions
from clustrep.resampling import is_shown
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement

DEPTH = 10  # of objects within objects

NO_MATTER = "joblib"  # of the packages, that on which no number depends


def facts_of(source: Source, studies: Sequence[Study], **further: Any) -> dict[str, str]:
    """Return what a run is about, by name, except its clusterers."""
    return {
        "seed": str(source.root),
        "resampling": described(source.resampling),
        "accelerate": str(source.accelerate),
        **({} if source.device == "cpu" else {"device": str(device_name(source.device))}),
        **({} if source.sketch is None else {"the sketch": repr(source.sketch)}),
        **({} if source.transformer is None else {"the transformer": described(source.transformer)}),
        **({} if source.neighbours == EXACT else {"the search for neighbours": source.neighbours}),
        "the studies": ", ".join(repr(study.name) for study in studies),
        **{name: described(value) for name, value in further.items()},
        **{f"the data of study {study.name!r}": digest_of_study(study) for study in studies},
        **{f"the version of {name}": text for name, text in installed_versions().items() if name != NO_MATTER},
    }


def question_of(
    source: Source, studies: Sequence[Study], configurations: Sequence[Configuration], **further: Any
) -> Question:
    """Return what a run in a folder is about."""
    clusterers = {
        f"{configuration.name!r}, k = {configuration.n_clusters}": described(configuration.clusterer)
        for configuration in configurations
    }
    return Question(facts_of(source, studies, **further), clusterers)


def agreements_of(agreements: Sequence[Agreement]) -> list[Any]:
    """Return what identifies agreements: their names, and a user's own functions."""
    return [(agreement.name, agreement.of_labelings) for agreement in agreements]


def digest_of_study(study: Study) -> str:
    """Return hexadecimal digits that identify what can be clustered of a study."""
    about = f"{study.X.dtype.str} {study.scale} {study.features!r}"
    for key in sorted(study.groups):
        about += f" {key!r} {study.groups[key].tolist()!r}"
    return fingerprint(study.X, about=about)


def described(thing: Any) -> str:
    """Describe an object with its parameters, and with a digest of all that the description leaves out.

    Examples
    --------
    >>> described(3)
    '3'
    >>> described(lambda X: X > 0) == described(lambda X: X > 1)
    False
    """
    text = describe(thing)
    if isinstance(thing, bool | int | float | str | None):
        return text
    return f"{text} [{identity_of(thing)[:8]}]"


def identity_of(thing: Any) -> str:
    """Return a digest of an object: of its parameters or attributes, arrays, and the code of functions."""
    digest = hashlib.sha256()
    for piece in _pieces(thing, DEPTH):
        digest.update(f"{len(piece)} {piece}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def _pieces(thing: Any, depth: int) -> Iterator[str]:
    """Yield texts that an object follows from; nothing in them depends on the process."""
    thing = getattr(thing, "py_func", thing)  # of a compiled function
    if isinstance(thing, bool | int | float | str | bytes | type | BuiltinFunctionType | ModuleType | None):
        yield getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or repr(thing)
        return
    yield f"{type(thing).__module__}.{type(thing).__qualname__}"
    if depth == 0:
        return
    if isinstance(thing, np.ndarray | np.generic):
        array = np.asarray(thing)
        if array.dtype.hasobject:
            yield from _pieces(array.tolist(), depth - 1)
        else:
            yield f"{array.dtype.str} {array.shape} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
        return
    if isinstance(thing, CodeType):
        yield f"{thing.co_code.hex()} {thing.co_names} {thing.co_varnames}"
    if isinstance(thing, Set):
        yield repr(sorted(map(repr, thing)))
        return
    if not isinstance(thing, list | tuple):
        thing = {str(name): value for name, value in _named_pieces(thing).items()}
        yield repr(list(thing))
        thing = list(thing.values())
    yield str(len(thing))
    for item in thing:
        yield from _pieces(item, depth - 1)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _named_pieces(thing: Any) -> Mapping[Any, Any]:
    """Return what an object consists of."""
    if isinstance(thing, Mapping):
        return thing
    if isinstance(thing, CodeType):
        return {"constants": thing.co_consts}
    if isinstance(thing, FunctionType):
        cells = [_content(cell) for cell in thing.__closure__ or ()]
        return {"code": thing.__code__, "defaults": (thing.__defaults__, thing.__kwdefaults__), "cells": cells}
    if isinstance(thing, MethodType):
        return {"function": thing.__func__, "object": thing.__self__}
    if isinstance(thing, partial):
        return {"function": thing.func, "arguments": (thing.args, thing.keywords)}
    if type(thing).__module__.startswith("numpy.random."):  # generators, old and new, and seeds
        bits = getattr(thing, "_bit_generator", getattr(thing, "bit_generator", thing))
        return {"state": getattr(bits, "state", None)}
    if hasattr(thing, "get_params"):
        parameters: Mapping[str, Any] = thing.get_params(deep=False)
        return parameters
    if dataclasses.is_dataclass(thing):
        fields = [field for field in dataclasses.fields(thing) if field.compare and is_shown(field, thing)]
        return {field.name: getattr(thing, field.name) for field in fields}
    return getattr(thing, "__dict__", {})

"""What an object follows from, the same in every process: its parameters, and the code that computes with them.

An object is taken apart into texts and definitions: classes, functions and modules. A definition that comes with an
installed package is known by the version of that package. A user's own definition is known by its compiled code, which
is what runs, even where its file has been edited since it was imported, and by all that this code reads: other
definitions, and values such as the constants of its module.
"""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import hashlib
import importlib.metadata
import importlib.util
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from clustrep.agreement.agreements import Agreement
from clustrep.data.study import Study
from clustrep.execution.checkpoints import CODE, VALUE, VERSION, Manifest
from clustrep.execution.context import config
from clustrep.execution.devices import device_name
from clustrep.fitting.parameters import Configuration, describe
from clustrep.fitting.resample import Source
from clustrep.provenance import fingerprint, installed_versions, version_of
from clustrep.resampling.strategies import is_shown

DEPTH = 12  # of objects within objects

NAMED_IN_EVERY_RUN = ("clustrep", "numpy", "scipy", "sklearn", "numba", "joblib")

PYTHON = Path(os.__file__).parent

INSTALLED = {"site-packages", "dist-packages"}  # folders of pip, conda and Debian; editable installs stand elsewhere

SEEDED_BY_THE_PROCESS = (getattr(random, "_inst", None), getattr(np.random.mtrand, "_rand", None))

Definition: TypeAlias = type | FunctionType | ModuleType
Piece: TypeAlias = str | Definition


class Code(NamedTuple):
    """What a definition is known by, and the definitions that it reads."""

    facts: Sequence[tuple[str, str]]  # what, and its version or digest
    reads: Sequence[Definition]


def digest_of(pieces: Sequence[Piece]) -> str:
    """Return a digest of pieces; definitions count by their names."""
    digest = hashlib.sha256()
    for text in (piece if isinstance(piece, str) else name_of(piece) for piece in pieces):
        digest.update(f"{len(text)} {text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def name_of(definition: Definition) -> str:
    """Return the name of a definition with its module."""
    if isinstance(definition, ModuleType):
        return definition.__name__
    return f"{definition.__module__}.{definition.__qualname__}"


# ---------------------------------------------------------------------------------------------------------------------
# objects


def pieces_of(thing: Any, *, whole: bool = False) -> list[Piece]:
    """Take an object apart; whole: an estimator with all that it has learned, not with its parameters alone."""
    return list(_pieces(thing, DEPTH, whole, {}))


def _pieces(thing: Any, depth: int, whole: bool, seen: dict[int, Any]) -> Iterator[Piece]:
    thing = getattr(thing, "py_func", thing)  # of a compiled function
    if isinstance(thing, type | FunctionType | ModuleType):
        yield thing
        return
    if isinstance(thing, bool | int | float | str | bytes | None):
        yield repr(thing)
        return
    yield type(thing)
    module = sys.modules.get(str(getattr(thing, "__module__", None)))
    if module is not None:  # of a compiled function: not that of its type
        yield module
    if isinstance(thing, BuiltinFunctionType):
        yield thing.__qualname__
        return
    if depth == 0:
        return
    if isinstance(thing, np.ndarray | np.generic):
        array = np.asarray(thing)
        if array.dtype.hasobject:
            yield from _pieces(array.tolist(), depth - 1, whole, seen)
        else:
            yield f"{array.dtype.str} {array.shape} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
        return
    if isinstance(thing, CodeType):
        yield f"{thing.co_code.hex()} {thing.co_exceptiontable.hex()} {thing.co_names} {thing.co_varnames}"
        yield f"{thing.co_flags} {thing.co_argcount} {thing.co_kwonlyargcount}"
        depth += 2  # however deep functions stand in one another
    if isinstance(thing, Set):
        for pieces in sorted((list(_pieces(item, depth - 1, whole, seen)) for item in thing), key=digest_of):
            yield from pieces
        return
    if isinstance(thing, Mapping):
        thing = [*thing, *thing.values()]
    elif not isinstance(thing, list | tuple):
        parts = _parts(thing, whole)
        if parts is None:
            if id(thing) in seen:  # it may hold itself
                yield "again"
                return
            seen[id(thing)] = thing
            parts = _state(thing)
        yield repr([str(name) for name in parts])
        thing = list(parts.values())
    yield str(len(thing))
    for item in thing:
        yield from _pieces(item, depth - 1, whole, seen)


def _parts(thing: Any, whole: bool) -> Mapping[str, Any] | None:
    """Return what an object of a known kind consists of, by name; None for any other."""
    if isinstance(thing, CodeType):
        return {"constants": thing.co_consts}
    if isinstance(thing, MethodType):
        return {"function": thing.__func__, "object": thing.__self__}
    if isinstance(thing, staticmethod | classmethod):
        return {"function": thing.__func__}
    if isinstance(thing, property):
        return {"get": thing.fget, "set": thing.fset, "delete": thing.fdel}
    if isinstance(thing, partial):
        return {"function": thing.func, "arguments": (thing.args, thing.keywords)}
    if any(thing is generator for generator in SEEDED_BY_THE_PROCESS):
        return {}
    if type(thing).__module__.startswith("numpy.random."):  # generators, old and new, and seeds
        bits = getattr(thing, "_bit_generator", getattr(thing, "bit_generator", thing))
        return {"state": getattr(bits, "state", None)}
    if hasattr(thing, "get_params") and not whole:
        parameters: Mapping[str, Any] = thing.get_params(deep=False)
        return parameters
    if dataclasses.is_dataclass(thing):
        fields = [field for field in dataclasses.fields(thing) if field.compare and is_shown(field, thing)]
        return {field.name: getattr(thing, field.name) for field in fields}
    return None


def _state(thing: Any) -> Mapping[Any, Any]:
    """Return what any object consists of."""
    attributes: Mapping[str, Any] = getattr(thing, "__dict__", {})
    if "__wrapped__" in attributes:  # around a function, of which a pickle would have no more than the name
        return attributes
    try:
        reduced = thing.__reduce_ex__(2)  # as a pickle would have it: also of what has no attributes, such as a pattern
    except Exception:  # what can't be pickled raises almost anything
        return attributes
    parts = [reduced] if isinstance(reduced, str) else reduced
    return {place: list(part) if isinstance(part, Iterator) else part for place, part in enumerate(parts)}


# ---------------------------------------------------------------------------------------------------------------------
# definitions


def code_of(pieces: Sequence[Piece]) -> list[tuple[str, str]]:
    """Return what computes: packages with their versions, and users' own code and values with their digests.

    The order is that in which definitions are found, and a name can occur twice: two functions may both be "<lambda>".
    During a run with checkpoints each definition is looked at once, so that counters in it may change meanwhile.
    """
    checkpoint = config().in_progress
    known: dict[int, tuple[Definition, Code]] = {} if checkpoint is None else checkpoint.definitions
    reached = dict[int, Code]()
    pending = [piece for piece in pieces if not isinstance(piece, str)]
    for definition in pending:  # which grows
        if id(definition) not in reached:
            if id(definition) not in known:
                known[id(definition)] = (definition, _code(definition))
            reached[id(definition)] = code = known[id(definition)][1]
            pending += code.reads
    return list(dict.fromkeys(fact for code in reached.values() for fact in code.facts))


def _code(definition: Definition) -> Code:
    """Say what one definition is known by."""
    module = _module_of(definition)
    is_own = _packages_of(module) is None
    facts = _versions(module)
    if module.startswith("clustrep."):
        facts += [(f"{VERSION} {package}", version_of(package)) for package in getattr(definition, "packages", ())]
    inside, values = dict[str, Any](), list[Value]()
    if isinstance(definition, FunctionType) and is_own:
        names = Names.of(definition.__code__)
        facts += [version for name in names.imported for version in _versions(name)]
        inside, values = _of_function(definition, names)
    elif isinstance(definition, FunctionType):
        inside = _around(definition)
    elif isinstance(definition, type) and is_own:
        inside, values = _of_class(definition)
    pieces = pieces_of([*inside.items(), *(value.name for value in values)])
    if inside:
        facts.append((f"{CODE} {name_of(definition)}", digest_of(pieces)))
    for value in values:
        of_value = pieces_of(value.content, whole=not value.is_fitted)
        pieces += of_value
        if len(of_value) > 1 or isinstance(of_value[0], str):  # no definition itself
            facts.append((f"{VALUE} {value.name}", digest_of(of_value)))
    return Code(facts, [piece for piece in pieces if not isinstance(piece, str)])


class Value(NamedTuple):
    """Something that the code of a definition reads."""

    name: str  # with its module
    content: Any
    is_fitted: bool = False  # by the code itself: what it has learned before does not matter


def _of_class(kind: type) -> tuple[dict[str, Any], list[Value]]:
    """Return what a user's own class consists of, and its values."""
    code, values = {"bases": kind.__bases__, "kind": type(kind)}, list[Value]()
    functions = [value for value in vars(kind).values() if isinstance(value, FunctionType)]
    changed = {name for function in functions for name in Names.of(function.__code__).changed}
    for name, value in sorted(vars(kind).items()):
        if isinstance(value, FunctionType | type | staticmethod | classmethod | property):
            code[name] = value
        elif not name.startswith("__") and name not in changed:  # documentation, annotations, numbers of lines
            values.append(Value(f"{name_of(kind)}.{name}", value))
    return code, values


def _of_function(function: FunctionType, names: Names) -> tuple[dict[str, Any], list[Value]]:
    """Return what a user's own function consists of, and the values that it reads."""
    compiled = function.__code__
    if function.__doc__ is not None and compiled.co_consts[:1] == (function.__doc__,):
        compiled = compiled.replace(co_consts=(None, *compiled.co_consts[1:]))
    code = {"code": compiled, "defaults": (function.__defaults__, function.__kwdefaults__)}
    values = [
        Value(f"{name_of(function)}.{name}", value, name in names.fitted) for name, value in _cells(function).items()
    ]
    package = function.__globals__.get("__package__")
    spaces = [function.__globals__, *map(vars, _own_modules(names.imported, package))]
    for space in spaces:  # to which those of users' own modules that are named are added
        for name in sorted(
            space.keys() & (names.of_module if space is spaces[0] else names.attributes) - names.changed
        ):
            value = space[name]
            values.append(Value(f"{space.get('__name__')}.{name}", value, name in names.fitted))
            is_own = isinstance(value, ModuleType) and _packages_of(value.__name__) is None
            if is_own and not any(vars(value) is known for known in spaces):
                spaces.append(vars(value))
    return code, values


def _around(function: FunctionType) -> dict[str, Any]:
    """Return what a function of a package holds that is not the package's own: it may be wrapped around a user's."""
    if function.__globals__.get(function.__name__) is function:
        return {}
    parts: dict[str, Any] = {"cells": _cells(function)} if function.__closure__ else {}
    file = function.__code__.co_filename
    if file.startswith("<") and not file.startswith("<frozen "):  # compiled from a text, which may be the user's
        parts["code"] = (function.__code__, function.__defaults__, function.__kwdefaults__)
    return parts


class Names(NamedTuple):
    """The names in a code, and in all codes within it."""

    of_module: set[str]  # read from the module in which the code stands
    attributes: set[str]  # of anything else, perhaps another module
    imported: list[str]  # modules that are imported when the code runs
    fitted: set[str]  # names of fits: name.fit…
    changed: set[str]  # of what the code counts or keeps outside of its object, which is no constant

    @classmethod
    def of(cls, code: CodeType) -> Names:
        """Look at all instructions."""
        names = cls(set(), set(), [], set(), set())
        for part in _codes(code):
            names._add(list(dis.get_instructions(part)), part.co_varnames[:1])
        return names

    def _add(self, instructions: Sequence[dis.Instruction], itself: Sequence[str]) -> None:
        """Add the names in the instructions of one code; itself: its first argument."""
        owners: dict[str, str] = {}  # of the attribute in "owner.attribute += 1"
        for place, instruction in enumerate(instructions):
            kind, name = instruction.opname, str(instruction.argval)
            before = instructions[place - 1]
            if kind.endswith(("_NAME", "_GLOBAL", "_GLOBALS")) and not name.startswith("__"):
                self.of_module.add(name)
            if kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                self.attributes.add(name)
                if name.startswith("fit"):
                    self.fitted.add(_loaded(before))
                if before.opname == "COPY":
                    owners[name] = _loaded(instructions[place - 2])
            if kind == "IMPORT_NAME":
                self.imported.append(name)
            owner = owners.get(name, "") if before.opname == "SWAP" else _loaded(before)
            if kind == "STORE_GLOBAL" or (kind == "STORE_ATTR" and owner not in itself):
                self.changed.add(name)


def _loaded(instruction: dis.Instruction) -> str:
    """Return the name that an instruction loads, the last if there are two."""
    name = instruction.argval
    return str(name[-1] if isinstance(name, tuple) and name else name)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all those within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _cells(function: FunctionType) -> dict[str, Any]:
    return dict(zip(function.__code__.co_freevars, map(_content, function.__closure__ or ()), strict=True))


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


# ---------------------------------------------------------------------------------------------------------------------
# packages


def _module_of(definition: Definition) -> str:
    if isinstance(definition, ModuleType):
        return definition.__name__
    if isinstance(definition, FunctionType):
        return str(definition.__globals__.get("__name__"))  # where it stands, also where it bears another's name
    return str(definition.__module__)


def _own_modules(names: Sequence[str], package: object) -> Iterator[ModuleType]:
    """Yield users' own modules of these names, alone or in a package, imported if they are not yet."""
    for full_name in (full_name for name in names for full_name in (name, f"{package}.{name}")):
        if _packages_of(full_name) is None:
            with contextlib.suppress(Exception, SystemExit):  # it may do anything
                yield importlib.import_module(full_name)


def _versions(module: str) -> list[tuple[str, str]]:
    return [(f"{VERSION} {package}", version_of(package)) for package in _packages_of(module) or ()]


def _file_of(module: str) -> str:
    """Return the file of a module, also where it is not imported yet; empty where it has none."""
    if module in sys.modules:
        return str(getattr(sys.modules[module], "__file__", None) or "")
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(module.partition(".")[0])
        return str(spec.origin or "") if spec else ""
    return ""


@cache
def _packages_of(module: str) -> tuple[str, ...] | None:
    """Return the packages that a module comes with and whose versions count; None where it is the user's own.

    Python, and what every run names the version of, needs none.
    """
    top, file = module.partition(".")[0], _file_of(module)
    if top in NAMED_IN_EVERY_RUN or top.startswith("_cython_"):  # types that compiled packages share
        return ()
    if top in sys.stdlib_module_names and (not file or Path(file).is_relative_to(PYTHON)):
        return ()
    if not INSTALLED & set(Path(file).parts):
        return None
    return (top,) if version_of(top) != "unknown" else _distributions().get(top)


@cache  # which takes a quarter of a second
def _distributions() -> Mapping[str, tuple[str, ...]]:
    return {top: tuple(sorted(set(names))) for top, names in importlib.metadata.packages_distributions().items()}


# ---------------------------------------------------------------------------------------------------------------------
# What a run is about, as text: its data, clusterers, seed and versions, the same in every process


NO_MATTER = "joblib"  # of the packages, that on which no number depends


def facts_of(source: Source, studies: Sequence[Study], **further: Any) -> dict[str, str]:
    """Return what a run is about, by name, except its clusterers."""
    packages = [] if source.device == "cpu" else ["torch"]
    return {
        "seed": str(source.root),
        "resampling": described(source.resampling),
        "accelerate": str(source.accelerate),
        **({} if source.device == "cpu" else {"device": str(device_name(source.device))}),
        **({} if source.n_landmarks is None else {"landmarks": f"{source.n_landmarks}, set {source.landmark_set}"}),
        "the studies": ", ".join(repr(study.name) for study in studies),
        **{name: described(value) for name, value in further.items()},
        **{f"the data of study {study.name!r}": digest_of_study(study) for study in studies},
        **{f"{VERSION} {name}": text for name, text in installed_versions(*packages).items() if name != NO_MATTER},
    }


def manifest_of(
    source: Source, studies: Sequence[Study], configurations: Sequence[Configuration], **further: Any
) -> Manifest:
    """Return what a run in a folder is about.

    Parameters
    ----------
    source : Source
        Seed, resampling, device and landmarks.
    studies : sequence of Study
        The data, which are known by a digest.
    configurations : sequence of Configuration
        The clusterers.
    **further : object
        Other choices, by name.

    Returns
    -------
    Manifest
    """
    clusterers = {
        f"{configuration.name!r}, k = {configuration.n_clusters}": described(configuration.clusterer)
        for configuration in configurations
    }
    computing = [source.resampling, *further.values()]
    computing += [configuration.clusterer for configuration in configurations]
    code: dict[str, list[str]] = {}
    for name, text in code_of(pieces_of(computing)):
        code.setdefault(name, []).append(text)
    texts = {name: " ".join(sorted(of_name)) for name, of_name in code.items()}
    return Manifest(facts_of(source, studies, **further), clusterers, texts)


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
    """Return a digest of an object: of its parameters or attributes, arrays, and the code that computes with them."""
    pieces = pieces_of(thing)
    return digest_of([*pieces, *(text for fact in code_of(pieces) for text in fact)])

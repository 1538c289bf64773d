"""Whether several studies can be aligned: features in common, tables the right way round, no sample in two studies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clustrep.data.readers.table import Request
from clustrep.data.study import Study
from clustrep.errors import DataError, DataWarning, warn
from clustrep.text import argument, listing, plural, printable

NamesByStudy = Mapping[str, Sequence[str]]


def check_alignment(studies: Sequence[Study], n_shared: int, request: Request | None) -> None:
    """Check the names of several studies' features, of which all share `n_shared`, and of their samples.

    `request` is how the user wanted files to be read, to say which argument to change; None where there are no files.
    """
    features = {study.name: study.features for study in studies}
    samples = {study.name: study.samples if study.samples_are_named else () for study in studies}
    _check_all_or_none_named(studies, request)
    if any(samples.values()):
        _check_orientation(features, samples, request)
    if not n_shared:
        raise _no_shared_feature(features, samples, request)
    if any(samples.values()):
        _warn_of_common_samples(studies)


# ---------------------------------------------------------------------------------------------------------------------
# features without names


def _check_all_or_none_named(studies: Sequence[Study], request: Request | None) -> None:
    """Check that all studies name their features or none; without names, that they have the same number of features."""
    unnamed = [study.name for study in studies if not study.features_are_named]
    if not unnamed:
        return
    if len(unnamed) < len(studies):
        named = next(study.name for study in studies if study.features_are_named)
        remedy = "pass frames whose columns have the same names, or all studies as arrays"
        if request is not None:
            remedy = f"write their names into its first line, or use {argument('header', True)} if they are there"
        raise DataError(f"Study {unnamed[0]!r} does not name its features, study {named!r} does: {remedy}.")
    counts = {study.name: len(study.features) for study in studies}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        remedy = "pass frames, whose columns have names"
        if request is not None:
            remedy = "write the names into the first line of every file"
        raise DataError(
            f"The studies have different numbers of features ({listed}), and no names to align them by: {remedy}."
        )


# ---------------------------------------------------------------------------------------------------------------------
# tables the wrong way round


def _check_orientation(features: NamesByStudy, samples: NamesByStudy, request: Request | None) -> None:
    """Refuse a table whose rows, rather than its columns, share names with the other studies' columns."""
    for name in features:
        other_features = set().union(*(set(columns) for key, columns in features.items() if key != name))
        rows_shared = [sample for sample in samples[name] if sample in other_features]
        n_columns_shared = sum(feature in other_features for feature in features[name])
        if len(rows_shared) > n_columns_shared:
            few = f"only {n_columns_shared}" if n_columns_shared else "none"
            raise DataError(
                f"Study {name!r} is probably the wrong way round: {plural(len(rows_shared), 'row')} of its "
                f"{len(samples[name]):,} {'is' if len(rows_shared) == 1 else 'are'} named like features of the other "
                f"studies ({listing(rows_shared, 3)}), "
                f"but {few} of its columns. Rows must be samples, columns features: "
                f"{_how_to_turn([name], list(features), request)}."
            )


def _how_to_turn(wrong: Sequence[str], names: Sequence[str], request: Request | None) -> str:
    """Say how to transpose the studies that are the wrong way round, or how not to."""
    if request is None:
        return f"transpose {'it' if len(wrong) == 1 else 'them'} (frame.T)"
    wanted = [name for name in names if request.transposes(name) != (name in wrong)]
    if not wanted:
        transpose = request.transpose if isinstance(request.transpose, bool) else list(request.transpose)
        return f"leave {argument('transpose', transpose)} out"
    return f"use {argument('transpose', True if len(wanted) == len(names) > 1 else wanted)}"


# ---------------------------------------------------------------------------------------------------------------------
# features in common


def _no_shared_feature(features: NamesByStudy, samples: NamesByStudy, request: Request | None) -> DataError:
    """Show what features each study has, and what may be the reason that none is shared."""
    sets = {name: set(names) for name, names in features.items()}
    lines = []
    for name, names in features.items():
        others = set().union(*(other for key, other in sets.items() if key != name))
        unshared = [feature for feature in names if feature not in others]
        which = f"{len(unshared):,} in no other study: {listing(unshared, 4)}" if unshared else "each in another study"
        lines.append(f"  {printable(name)}: {plural(len(names), 'feature')}, {which}")
    shown = lines[:10] + ([f"  and {len(lines) - 10} more studies"] if len(lines) > 10 else [])
    reason = _reason_for_no_shared_feature(features, samples, request)
    return DataError("\n".join([f"The studies have no feature in common{reason}", *shown]))


def _reason_for_no_shared_feature(features: NamesByStudy, samples: NamesByStudy, request: Request | None) -> str:
    """Return the probable reason: all tables the wrong way round, data taken for a header, or upper and lower case."""
    n_rows_shared = len(set.intersection(*(set(names) for names in samples.values())))
    if n_rows_shared:
        return (
            f". But they share {plural(n_rows_shared, 'sample name')}: the tables are probably the wrong way round. "
            f"Rows must be samples, columns features: {_how_to_turn(list(features), list(features), request)}."
        )
    number = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)
    are_numbers = all(map(number.fullmatch, set().union(*features.values())))
    if request is not None and request.header and are_numbers:
        return f". Their names are numbers: if the first lines are data, leave {argument('header', True)} out."
    alike = set.intersection(*({name.casefold() for name in names} for names in features.values()))
    if alike:
        first = next(name for name in next(iter(features.values())) if name.casefold() in alike)
        spellings = {name for names in features.values() for name in names if name.casefold() == first.casefold()}
        return (
            f": {plural(len(alike), 'name')} differ{'s' if len(alike) == 1 else ''} only in upper and lower case, such "
            f"as {listing(sorted(spellings))}. Write them alike."
        )
    return ": a feature needs the same name in all of them."


# ---------------------------------------------------------------------------------------------------------------------
# samples in common


def _warn_of_common_samples(studies: Sequence[Study]) -> None:
    named = sorted((study for study in studies if study.samples_are_named), key=lambda study: study.name)
    for i, study in enumerate(named):
        for other in named[i + 1 :]:
            other_samples = set(other.samples)
            common = [sample for sample in study.samples if sample in other_samples]
            if common:
                warn(
                    f"Studies {study.name!r} and {other.name!r} have {plural(len(common), 'sample name')} in common "
                    f"({listing(common, 3)}): if these are the same samples, the studies are not independent.",
                    DataWarning,
                )

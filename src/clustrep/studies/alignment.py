"""What looks wrong with tables: a label among the features, names that nobody shares, rows in place of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from clustrep.errors import DataError
from clustrep.sentences import argument
from clustrep.text import listing, plural
from clustrep.types import FloatArray

LABEL_NAME = re.compile(
    r"(true|known|pred(icted)?)?[ _.-]*"
    r"(class(es)?|labels?|clusters?|groups?|sub[ _.-]?types?|types?|targets?|categor(y|ies)|diagnos[ie]s|y)"
    r"[ _.-]*(id|no|nr|number|\d)?",
    re.IGNORECASE,
)

LABEL_VALUES_AT_MOST = 50


class Reading(NamedTuple):
    """How the user wanted files to be read."""

    transpose: bool | Sequence[str] = False
    header: bool | None = None

    def turned(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the studies that were turned the other way round."""
        if isinstance(self.transpose, bool):
            return names if self.transpose else ()
        return self.transpose

    def turning(self, name: str) -> str:
        """Return the argument by which a study was turned."""
        return argument("transpose", True if self.transpose is True else [name])


AS_THEY_ARE = Reading()


def probable_label(X: FloatArray, features: Sequence[str]) -> str | None:
    """Find a feature that is probably a class label: few small integers, named like one or last among real ones."""

    def few_small_integers(column: FloatArray) -> bool:
        if not np.array_equal(column, np.rint(column)) or column.min() < -1 or column.max() > 1000:
            return False
        return 2 <= len(np.unique(column)) <= min(LABEL_VALUES_AT_MOST, len(column) // 2)

    for j, feature in enumerate(features):
        if LABEL_NAME.fullmatch(feature) and few_small_integers(X[:, j]):
            return feature
    if X.shape[1] < 2 or not few_small_integers(X[:, -1]):
        return None
    others_real = np.any(X[:, :-1] != np.rint(X[:, :-1]), axis=0).all()
    return features[-1] if others_real else None


def label_sentence(study: str, feature: str, X: FloatArray, features: Sequence[str]) -> str:
    """Say that a feature is probably a class label, and what to do about it."""
    values = np.unique(X[:, list(features).index(feature)]).astype(int)
    return (
        f"Feature {feature!r} of study {study!r} is probably a class label (values {listing(values)}), not data. "
        f"Use {argument('label', feature)} to keep it aside as the samples' known labels, or "
        f"{argument('label', False)} if it is data."
    )


def check_same_features(
    features: Mapping[str, Sequence[str]], samples: Mapping[str, Sequence[str]], reading: Reading | None
) -> None:
    """Check that the studies share features; if not, show what each has, and what may be the reason."""
    sets = {name: set(names) for name, names in features.items()}
    if set.intersection(*sets.values()):
        return
    lines = []
    for name, own in features.items():
        others = set().union(*(other for key, other in sets.items() if key != name))
        alone = [feature for feature in own if feature not in others]
        lines.append(f"  {name}: {plural(len(own), 'feature')}, {len(alone):,} in no other study: {listing(alone, 4)}")
    shown = lines[:10] + ([f"  and {len(lines) - 10} more studies"] if len(lines) > 10 else [])
    raise DataError("\n".join([f"The studies have no feature in common{_reason(features, samples, reading)}", *shown]))


def _reason(
    features: Mapping[str, Sequence[str]], samples: Mapping[str, Sequence[str]], reading: Reading | None
) -> str:
    n_rows_shared = len(set.intersection(*(set(names) for names in samples.values())))
    if n_rows_shared:
        turned = set() if reading is None else set(reading.turned(list(features)))
        remedy = "transpose them (frame.T)"
        if reading is not None:
            remedy = f"use {argument('transpose', True)}"
        if reading is not None and turned == set(features):
            turning = argument("transpose", True if reading.transpose is True else list(reading.turned(())))
            remedy = f"leave {turning} out"
        return (
            f". But they share {plural(n_rows_shared, 'sample name')}: the tables are probably the wrong way round. "
            f"Rows must be samples, columns features: {remedy}."
        )
    if reading is not None and reading.header and all(_are_numbers(names) for names in features.values()):
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


def _are_numbers(names: Sequence[str]) -> bool:
    return all(re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", name, re.IGNORECASE) for name in names)


def check_orientation(
    features: Mapping[str, Sequence[str]], samples: Mapping[str, Sequence[str]], reading: Reading | None
) -> None:
    """Refuse a table whose rows, rather than its columns, share names with the other studies' columns."""
    for name in features:
        others = set().union(*(set(columns) for key, columns in features.items() if key != name))
        rows_shared = [sample for sample in samples[name] if sample in others]
        columns_shared = sum(feature in others for feature in features[name])
        if len(rows_shared) > columns_shared:
            few = f"only {columns_shared}" if columns_shared else "none"
            raise DataError(
                f"Study {name!r} is probably the wrong way round: {plural(len(rows_shared), 'row')} of its "
                f"{len(samples[name]):,} {'is' if len(rows_shared) == 1 else 'are'} named like features of the other "
                f"studies ({listing(rows_shared, 3)}), "
                f"but {few} of its columns. Rows must be samples, columns features: "
                f"{_turning(name, list(features), reading)}."
            )


def _turning(name: str, names: Sequence[str], reading: Reading | None) -> str:
    if reading is None:
        return "transpose it (frame.T)"
    turned = reading.turned(names)
    if name not in turned:
        return f"use {argument('transpose', [*turned, name])}"
    rest = [other for other in turned if other != name]
    instead = f", or use {argument('transpose', rest)}" if rest and reading.transpose is True else ""
    return f"leave {reading.turning(name)} out{instead}"

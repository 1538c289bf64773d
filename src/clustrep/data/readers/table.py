"""What the readers of all formats share: the table that they return, the request that they obey, names and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_unique
from clustrep.data.readers.source import Beginning
from clustrep.data.study import Label
from clustrep.errors import DataError
from clustrep.text import argument, listing, nearest, option, plural
from clustrep.types import IntArray, Labels

Path: TypeAlias = str | PathLike[str]


class Table(NamedTuple):
    """One study as a file holds it; an axis without names is a `RangeIndex`."""

    name: str
    frame: pd.DataFrame
    labels: Labels | None
    annotations: tuple[str, ...] | None = None  # what `label` may name; None: the columns of the frame
    is_embedding: bool = False  # coordinates that were computed from data, comparable only if computed together
    groups: NDArray[np.object_] | None = None  # units of the samples, where these stand beside the frame
    feature_data: pd.DataFrame | None = None  # a row for each feature, such as its gene
    is_part: bool = False  # of a file that a column divides into studies
    undivided: str = ""  # how to divide a file of AnnData that is one study


class Request(NamedTuple):
    """Options about files: the parameters of `Studies.read`."""

    label: Label = None
    transpose: bool | str | Sequence[str] = False
    header: bool | None = None
    study_key: str | None = None
    rep: str | None = None
    features: Sequence[str] | None = None
    groups: str | None = None
    allow_missing: bool = False
    gower: bool = False
    duplicates: str | None = None
    categorical: Sequence[str] = ()

    @property
    def aside(self) -> tuple[object, ...]:
        """The columns that are no names of samples, because the user has named their role."""
        return tuple(column for column in (self.label, self.groups, self.study_key) if column)

    def transposes(self, study: str) -> bool:
        """Whether the table of this study is to be transposed."""
        return self.transpose if isinstance(self.transpose, bool) else study in self.transpose

    def transpose_argument(self, study: str) -> str:
        """Return the argument that had this study transposed, as the user wrote it."""
        return argument("transpose", True if self.transpose is True else [study])


@dataclass(frozen=True)
class Reader:
    """How files of one format are recognised and read.

    Attributes
    ----------
    kind : str
        A file of the format in a sentence: "a Parquet file".
    files : str
        Several of them: "Parquet files".
    sniff : callable
        Whether the beginning of a file looks like this format.
    read : callable
        Read the studies of a file: of its path, the name of the study, and the user's request.
    takes : frozenset of str
        Which of the parameters "header", "study_key" and "rep" the format obeys.
    orientation : str, optional
        Why the tables are never transposed; None if they may be.
    """

    kind: str
    files: str
    sniff: Callable[[Beginning], bool]
    read: Callable[[Path, str, Request], Iterable[Table]]
    takes: frozenset[str] = frozenset()
    orientation: str | None = None


def rows_by_study(
    columns: Mapping[str, Sequence[Any]], study_key: str, source: str, known: Sequence[str], *, where: str = ""
) -> dict[str, IntArray]:
    """Return which rows each study has that a column names, in the order of their first rows."""
    if study_key not in columns:
        choices = f"; there are {listing(known, 20)}" if known else ""
        raise DataError(
            f"{source} has no column {study_key!r}{where} to tell the studies apart{choices}."
            f"{nearest(study_key, known)}"
        )
    column = [int(value) if isinstance(value, float) and value.is_integer() else value for value in columns[study_key]]
    n_missing = sum(bool(pd.isna(value)) or not str(value).strip() for value in column)
    if n_missing:
        raise DataError(
            f"{source} has {plural(n_missing, 'sample')} without a study: {study_key!r} is missing or blank there. "
            "Leave those samples out, or give them a study."
        )
    codes, values = pd.factorize(np.array([str(value) for value in column], dtype=object))
    return {str(value): np.flatnonzero(codes == code) for code, value in enumerate(values)}


def by_study(
    table: Table, request: Request, source: str, columns: Mapping[str, Sequence[Any]] | None = None
) -> Iterable[Table]:
    """Divide a table into studies by a column of its own, if it has it, or by one beside it, which it must have.

    A column of its own without any value in a study is none of its features.
    """
    key, frame = request.study_key, table.frame
    if key is None or (columns is None and key not in frame.columns):
        return [table]
    if columns is None:
        columns, frame = {key: frame[key].tolist()}, frame.drop(columns=key)
    known = [str(column) for column in (frame.columns if table.annotations is None else table.annotations)]
    studies = []
    for name, rows in rows_by_study(columns, key, source, known).items():
        labels, groups = (None if of is None else of[rows] for of in (table.labels, table.groups))
        part = frame.iloc[rows]
        if table.annotations is None and not isinstance(part.columns, pd.RangeIndex):
            part = part.loc[:, [not (column.isna() | (column == "")).all() for _, column in part.items()]]
        studies.append(table._replace(name=name, frame=part, labels=labels, groups=groups, is_part=True))
    return studies


# ---------------------------------------------------------------------------------------------------------------------
# cells as numbers and labels

MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "?", ".", "-"])

MISSING_LABEL = frozenset(["", "na", "n/a", "#n/a", "nan"])


def number(cell: str) -> float | None:
    """Read a cell as a number; None for text, NaN for a missing value."""
    if cell.lower() in MISSING:
        return float("nan")
    if "_" in cell:
        return None  # 1_000 is a number only in Python; 1_1 may be a name
    try:
        return float(cell)
    except ValueError:
        return None


def as_labels(cells: Sequence[str]) -> Labels:
    """Read cells as labels: numbers where all are, else text; None for a missing label."""
    texts = [None if cell.lower() in MISSING_LABEL else cell for cell in cells]
    numbers = [None if text is None else number(text) for text in texts]
    if all(value is not None and value.is_integer() for value in numbers):
        return np.array(numbers).astype(np.int64)
    if all(text is None or (value is not None and value == value) for value, text in zip(numbers, texts, strict=True)):
        return np.array(numbers, dtype=object)
    return np.array(texts, dtype=object)


# ---------------------------------------------------------------------------------------------------------------------
# names of samples

# Names of a first column that holds the samples' names; those of the second kind only where it holds no fractions.
NAMES_SAMPLES = re.compile(
    r"|unnamed: 0|index|row[ _.-]?names?|samples?|(\w+[ _.-])?(sample|patient|subject|cell|case|donor|array)?s?[ _.-]?"
    r"(id|name|barcode|accession)s?",
    re.IGNORECASE,
)

MAY_NAME_SAMPLES = re.compile(r"(patient|subject|cell|case|donor|array|tumou?r)s?", re.IGNORECASE)

# Those of the first kind that may also be the name of a feature.
MAY_HOLD_MEASUREMENTS = re.compile(r"id|index", re.IGNORECASE)

UNNAMED = ("", "Unnamed: 0")  # as row numbers are written by default, and by pandas when it has read them as data


def has_fraction(cells: Sequence[str]) -> bool:
    """Whether a cell holds a number that is not whole."""
    numbers = [value for value in map(number, cells) if value is not None and np.isfinite(value)]
    return any(not value.is_integer() for value in numbers)


def names_rows(cells: Sequence[str], column: str, *, header: bool, transpose: bool) -> bool:
    """Whether the first column names the rows: by its own name, or because it holds text."""
    if header and (transpose or NAMES_SAMPLES.fullmatch(column)):
        return True
    if header and MAY_NAME_SAMPLES.fullmatch(column):
        return not has_fraction(cells)
    return any(number(cell) is None for cell in cells)


def check_no_measurements(names: Sequence[str], column: str, study: str) -> None:
    """Refuse sample names that may be measurements, such as a refractive index: fractions in a column of that name."""
    if not MAY_HOLD_MEASUREMENTS.fullmatch(column):
        return
    if all(number(name) is not None for name in names) and has_fraction(names):
        raise DataError(
            f"The first column of study {study!r}, {column!r}, may name the samples or be a feature, for it holds "
            f"fractions ({listing(names, 3)}): call it 'sample' if it names them, or else something other than "
            f"{column!r}."
        )


def are_row_numbers(names: Sequence[str]) -> bool:
    """Whether these are the numbers that pandas or R write where rows have no names."""
    return any(list(names) == [str(i + start) for i in range(len(names))] for start in (0, 1))


def check_sample_names(names: Sequence[str], study: str, column: str) -> None:
    """Check that no sample is named twice; a first column that repeats its values may hold the known class."""
    try:
        check_unique(names, "sample", f"Study {study!r}")
    except DataError as error:
        if column and NAMES_SAMPLES.fullmatch(column):
            raise
        advice = (
            f"use {argument('label', column)}" if column else f"give it a name, and use that name as {option('label')}"
        )
        raise DataError(f"{error.sentence} If the first column is the samples' known class, {advice}.") from None

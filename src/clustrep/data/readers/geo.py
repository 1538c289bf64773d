"""Series matrices of GEO, the Gene Expression Omnibus: features in rows, and the samples' characteristics above."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
import pandas as pd

from clustrep.data.readers.source import Beginning, Text, read_text
from clustrep.data.readers.table import Path, Reader, Request, Table, as_labels, as_numbers
from clustrep.data.study import Label
from clustrep.errors import DataError
from clustrep.text import plural, text_sentence
from clustrep.types import FloatArray, Labels

SERIES_MATRIX = re.compile(r"\s*!(series|sample)_", re.IGNORECASE)

# By what is said, such as "er status", then by sample: the values said, each once, in their order.
Characteristics = dict[str, dict[str, list[str]]]


def is_series_matrix(beginning: Beginning) -> bool:
    """Whether a file begins with what GEO says of the series or of its samples."""
    return SERIES_MATRIX.match(beginning.text) is not None


def read_series_matrix(path: Path, study: str, request: Request) -> list[Table]:
    """Read the table of a series matrix, samples by features, with a characteristic of the samples as labels."""
    text = read_text(path)
    begin, end = _table_lines(text, path)
    frame = _expression(text, begin, end, path, study)
    characteristics = _characteristics(
        islice(text.lines(), begin), list(frame.index), path, request.label or request.groups
    )
    labels = _labels(characteristics, request.label, list(frame.index), path)
    groups = _labels(characteristics, request.groups, list(frame.index), path)
    return [Table(study, frame, labels, annotations=tuple(characteristics), groups=groups)]


def _table_lines(text: Text, path: Path) -> tuple[int, int]:
    """Return the numbers of the lines before and behind the table, counted from 0."""
    marks = {
        line.strip().lower(): i
        for i, line in enumerate(text.lines())
        if line.lower().startswith("!series_matrix_table")
    }
    begin, end = marks.get("!series_matrix_table_begin"), marks.get("!series_matrix_table_end")
    if begin is None or end is None:
        raise DataError(
            f"{path} is a GEO series matrix that is cut off: it ends before its table does. Download it again."
        )
    return begin, end


def cells_of(line: str) -> list[str]:
    """Split a line at its tabs; quotation marks are removed."""
    return [_unquoted(cell) for cell in line.split("\t")]


def _unquoted(cell: str) -> str:
    return cell.strip().strip('"').strip()


def _expression(text: Text, begin: int, end: int, path: Path, study: str) -> pd.DataFrame:
    """Read the lines of the table, a header and one line for each feature, as samples by features."""
    lines = enumerate(islice(text.lines(), begin + 1, max(begin + 1, end)), begin + 2)
    numbered_lines = ((number, line.rstrip("\n")) for number, line in lines if line.strip())
    samples = cells_of(next(numbered_lines, (0, ""))[1])[1:]
    features: list[str] = []
    values = array("d")
    for number, line in numbered_lines:
        cells = line.split("\t")
        if len(cells) != len(samples) + 1:
            raise DataError(
                f"{path} has {len(samples) + 1} cells in the header of its table but {len(cells)} in line {number}: "
                "download it again, or correct that line."
            )
        features.append(_unquoted(cells[0]))
        values.frombytes(_numbers(cells[1:], study, samples, features[-1]).tobytes())
    if not features:
        raise DataError(
            f"{path} is a GEO series matrix without values: this series has them in a supplementary file, "
            "as sequencing studies do. Read that one."
        )
    return pd.DataFrame(
        np.frombuffer(values).reshape(len(features), len(samples)).T,
        index=pd.Index(samples, dtype=object),
        columns=pd.Index(features, dtype=object),
        copy=False,
    )


def _numbers(cells: Sequence[str], study: str, samples: Sequence[str], feature: str) -> FloatArray:
    values = as_numbers(np.array(cells, dtype=object))
    if values.dtype == object:
        values = as_numbers(np.array([_unquoted(cell) for cell in cells], dtype=object))
    if values.dtype == object:
        places = [(value, samples[i], feature) for i, value in enumerate(values.tolist()) if isinstance(value, str)]
        raise DataError(text_sentence(places, f"Study {study!r}"))
    return values


def _characteristics(head: Iterable[str], samples: Sequence[str], path: Path, label: Label) -> Characteristics:
    """Read what the head says of the samples, such as "er status: positive"."""
    order = list(samples)
    characteristics: Characteristics = {}
    for number, line in enumerate(head, 1):
        mark, *cells = cells_of(line)
        if mark.lower() == "!sample_geo_accession":
            order = cells
        if mark.lower().startswith("!sample_characteristics_ch"):
            if label and len(cells) != len(order):
                raise DataError(
                    f"{path} has {plural(len(cells), 'characteristic')} in line {number} for "
                    f"{plural(len(order), 'sample')}, so that labels may belong to other samples: download it again, "
                    "or correct that line."
                )
            for sample, cell in zip(order, cells, strict=False):
                name, colon, value = cell.partition(":")
                if colon:
                    values = characteristics.setdefault(name.strip(), {}).setdefault(sample, [])
                    values += [] if value.strip() in values else [value.strip()]
    return characteristics


def _labels(characteristics: Characteristics, label: Label, samples: Sequence[str], path: Path) -> Labels | None:
    if not label or label not in characteristics:
        return None
    values = characteristics[label]
    ambiguous = [sample for sample in samples if len(values.get(sample, ())) > 1]
    if ambiguous:
        raise DataError(
            f"{path} has more than one {label!r} for {plural(len(ambiguous), 'sample')}: {ambiguous[0]!r}. Keep one "
            "of them in the file."
        )
    return as_labels([values.get(sample, [""])[0] for sample in samples])


GEO = Reader(
    kind="a GEO series matrix",
    files="GEO series matrices",
    sniff=is_series_matrix,
    read=read_series_matrix,
    orientation="its samples are made rows already",
)

"""Series matrices of GEO, the Gene Expression Omnibus: features in rows, and the samples' characteristics above."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pandas as pd

from clustrep.data.readers.delimited import Records, read_values
from clustrep.data.readers.source import Text, read_text
from clustrep.data.readers.table import Path, Reader, Request, Table, as_labels
from clustrep.data.study import Label
from clustrep.errors import DataError
from clustrep.text import plural, text_sentence
from clustrep.types import Labels

SERIES_MATRIX = re.compile(r"\s*!(series|sample)_", re.IGNORECASE)

# By name, such as "er status", then by sample: the values, each once, in their order.
Characteristics = dict[str, dict[str, list[str]]]


def read_series_matrix(path: Path, study: str, request: Request) -> list[Table]:
    """Read the table of a series matrix, samples by features, with a characteristic of the samples as labels."""
    text = read_text(path)
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
    frame = _expression(text, begin + 1, max(begin + 1, end), path, study)
    head, samples = islice(text.lines(), begin), list(frame.index)
    characteristics = _characteristics(head, samples, path, request.label or request.groups)
    labels, groups = (_labels(characteristics, name, samples, path) for name in (request.label, request.groups))
    return [Table(study, frame, labels, annotations=tuple(characteristics), groups=groups)]


def cells_of(line: str) -> list[str]:
    """Split a line at its tabs; quotation marks are removed."""
    return [cell.strip().strip('"').strip() for cell in line.split("\t")]


def _expression(text: Text, begin: int, end: int, path: Path, study: str) -> pd.DataFrame:
    """Read the lines of the table, a header and one line for each feature, as samples by features."""

    def lines() -> Iterator[str]:
        return islice(text.lines(), begin, end)

    if len(list(islice(filter(str.strip, lines()), 2))) < 2:
        raise DataError(
            f"{path} is a GEO series matrix without values: this series has them in a supplementary file, "
            "as sequencing studies do. Read that one."
        )
    records = Records(lines, path, "\t", n_lines_before=begin)
    samples, features = records.head[0][1:], records.first[1:]
    if len(samples) + 1 != records.width:
        raise DataError(
            f"{path} has {len(samples) + 1} cells in the header of its table but {records.width} below: download it "
            "again, or correct the header."
        )
    values, texts, _ = read_values(records, 1, header=True, transpose=True)
    if texts:
        places = [(cell, samples[i], features[j]) for j, cells in texts.items() for i, cell in cells.items()]
        raise DataError(text_sentence(places, f"Study {study!r}"))
    return pd.DataFrame(
        values, index=pd.Index(samples, dtype=object), columns=pd.Index(features, dtype=object), copy=False
    )


def _characteristics(head: Iterable[str], samples: Sequence[str], path: Path, label: Label) -> Characteristics:
    """Read the characteristics of samples in the head, such as "er status: positive"."""
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
    sniff=lambda beginning: SERIES_MATRIX.match(beginning.text) is not None,
    read=read_series_matrix,
    orientation="its samples are made rows already",
)

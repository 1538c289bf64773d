"""Tables that say which gene a probe measures: two columns of delimited text, or a platform's annotation from GEO."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from clustrep.checks import check_known
from clustrep.errors import DataError
from clustrep.studies.readers.records import find_delimiter
from clustrep.studies.readers.source import Text, read_text
from clustrep.studies.readers.table import MISSING_LABEL, Path
from clustrep.text import from_spreadsheet

COMMENTS = ("#", "!", "^")  # how lines begin that GEO writes above and below the table of a platform

PROBE_COLUMN = re.compile(r"(probe|probe[ _.-]?set)s?([ _.-]?(id|name)s?)?|id|id[ _.-]ref|features?", re.IGNORECASE)

# Columns of genes; those of symbols come before others.
GENE_COLUMNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"((gene|hgnc|official|approved)[ _.-]?)*symbols?",
        r"genes?([ _.-]?(name|id)s?)?|entrez([ _.-]?\w+)*",
    )
)

# Between several genes in one cell: Affymetrix and GEO write "///", others a semicolon or a bar.
BETWEEN_GENES = re.compile(r"///|[;|]")

NO_GENE = MISSING_LABEL | {"---", "null", "none"}


class ProbeMap(NamedTuple):
    """What a file says of probes."""

    genes_of: dict[str, tuple[str, ...]]  # of each probe: none, one or several
    n_repeated: int  # rows about a probe of which another row has said something


def genes_in(cell: object) -> tuple[str, ...]:
    """Return the genes that a cell names, each once: none where it is empty or says that there is none."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)  # an Entrez number that R keeps as a double
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ()
    names = [from_spreadsheet(name.strip()) for name in BETWEEN_GENES.split(str(cell))]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in NO_GENE))


def read_probe_map(path: Path, genes: str | None) -> ProbeMap:
    """Read probes and genes from the columns that are named so, or else from the first two.

    `genes` names the column of the genes. A probe in several rows has the genes of all of them.
    """
    head, *others = _rows(path)
    probe_column, gene_column, has_header = _columns(head, genes, path)
    genes_of: dict[str, tuple[str, ...]] = {}
    n_repeated = 0
    for cells in others if has_header else [head, *others]:
        probe = from_spreadsheet(cells[probe_column]) if probe_column < len(cells) else ""
        if not probe:
            continue
        n_repeated += probe in genes_of
        cell = cells[gene_column] if gene_column < len(cells) else ""
        genes_of[probe] = tuple(dict.fromkeys([*genes_of.get(probe, ()), *genes_in(cell)]))
    return ProbeMap(genes_of, n_repeated)


def _columns(head: Sequence[str], genes: str | None, path: Path) -> tuple[int, int, bool]:
    """Return the places of probes and genes, and whether the first line is a header."""
    if len(head) < 2:
        raise DataError(f"{path} has one column: it must have one of probes and one of genes.")
    probe_column = next((j for j, name in enumerate(head) if name != genes and PROBE_COLUMN.fullmatch(name)), None)
    if genes is not None:
        check_known(genes, f"column in {path}", head, parameter="genes")
        gene_column: int | None = list(head).index(genes)
    else:
        named = [j for kind in GENE_COLUMNS for j, name in enumerate(head) if kind.fullmatch(name)]
        gene_column = next((j for j in named if j != probe_column), None)
    has_header = probe_column is not None or gene_column is not None
    if probe_column is None:
        probe_column = 1 if gene_column == 0 else 0
    if gene_column is None:
        gene_column = 1 if probe_column == 0 else 0
    return probe_column, gene_column, has_header


def _rows(path: Path) -> list[list[str]]:
    """Return the cells of a table, without the comments of GEO."""
    lines = [line for line in read_text(path).lines() if line.strip() and not line.startswith(COMMENTS)]
    if not lines:
        raise DataError(f"{path} has no table: it must have a column of probes and one of genes.")
    delimiter = find_delimiter(Text("".join(lines[:2]).encode()))
    try:
        rows: list[Sequence[str]] = (
            [line.split() for line in lines] if delimiter is None else list(csv.reader(lines, delimiter=delimiter))
        )
    except csv.Error as error:
        raise DataError(f"{path} can't be read as a table of probes and genes: {error}. Save it as CSV.") from None
    return [[cell.strip() for cell in row] for row in rows]

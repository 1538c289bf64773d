"""From probes to genes: one column for each gene, by what files say of their features or by a table of probes."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from clustrep.checks import check_choice, check_known, check_numbers, check_unique
from clustrep.data.readers.delimited import find_delimiter
from clustrep.data.readers.source import Text, read_text
from clustrep.data.readers.table import MISSING_LABEL, Path, Table
from clustrep.errors import DataError, DataWarning, ParameterError, invalid, warn
from clustrep.text import argument, from_spreadsheet, listing, option, plural
from clustrep.types import FloatArray

Probes: TypeAlias = Literal["variance", "mean"]

PROBES = ("variance", "mean")


class GeneRequest(NamedTuple):
    """Options about probes and genes: parameters of `Studies.read`."""

    genes: str | None = None
    probe_map: Path | None = None
    probes: Probes = "variance"

    @property
    def is_wanted(self) -> bool:
        """Whether features are probes, of which genes are to be made."""
        return self.genes is not None or self.probe_map is not None

    def check(self) -> None:
        """Check the parameters, as far as that is possible before files are read."""
        check_choice(self.probes, "probes", PROBES)
        if self.genes is not None and (not isinstance(self.genes, str) or not self.genes):
            raise invalid("genes", "the name of a column", self.genes)
        if self.probe_map is not None and not isinstance(self.probe_map, str | PathLike):
            raise ParameterError(
                f"probe_map must be the path of a table, got {type(self.probe_map).__name__}.", parameter="probe_map"
            )
        if self.probes != "variance" and not self.is_wanted:
            raise ParameterError(
                f"{argument('probes', self.probes)} is for features that are probes: name their genes by "
                f"{option('genes')} or {option('probe_map')}, or leave it out.",
                parameter="probes",
            )


class Probed(NamedTuple):
    """A table whose features are probes: which gene each of them measures."""

    table: Table
    probes: tuple[str, ...]
    matrix: FloatArray  # (n_samples, n_probes)
    gene_of: dict[str, str]  # of the probes with exactly one, in the order of the features
    n_without: int  # probes without a gene
    n_of_several: int  # probes of several genes

    @property
    def probes_of(self) -> dict[str, list[str]]:
        """The probes of each gene, in the order of the features."""
        probes: dict[str, list[str]] = {}
        for probe, gene in self.gene_of.items():
            probes.setdefault(gene, []).append(probe)
        return probes


def tables_by_gene(tables: Sequence[Table], request: GeneRequest) -> list[Table]:
    """Turn tables of probes into tables of genes; those whose features are genes already stay unchanged.

    Probes without a gene, and probes of several genes, are dropped. Of a gene with several probes all studies take the
    same, if they can: that which most studies have, of these that with the highest variance around each study's mean,
    pooled over the studies, of these the first. Missing values count neither for nor against a probe.
    """
    probe_map = None if request.probe_map is None else read_probe_map(request.probe_map, request.genes)
    entries = [_probed(table, request, probe_map) for table in tables]
    probed = [entry for entry in entries if entry is not None]
    if not probed:
        raise ParameterError(
            f"{argument('genes', request.genes)} is a column of what files of R say of their features, and none of "
            f"these files does: give a table of probes and genes by {option('probe_map')}.",
            parameter="genes",
        )
    order = _by_variance(probed) if request.probes == "variance" else None
    _tell(entries, tables, request, probe_map, order)
    return [
        table if entry is None else table._replace(frame=_frame_by_gene(entry, order), feature_data=None)
        for table, entry in zip(tables, entries, strict=True)
    ]


# ---------------------------------------------------------------------------------------------------------------------
# the gene of a probe


def _probed(table: Table, request: GeneRequest, probe_map: ProbeMap | None) -> Probed | None:
    """Look up the gene of every feature; None where the features are no probes."""
    genes = _genes_in_file(table, request) if probe_map is None else _genes_in_map(table, request, probe_map)
    if genes is None:
        return None
    probes = [str(name) for name in table.frame.columns]
    check_unique(probes, "feature", f"Study {table.name!r}")
    gene_of = {probe: names[0] for probe, names in zip(probes, genes, strict=True) if len(names) == 1}
    if not gene_of:
        raise DataError(
            f"No probe of study {table.name!r} has exactly one gene: {option('genes')} must name the column of genes."
        )
    lengths = [len(names) for names in genes]
    matrix = check_numbers(table.frame.set_axis(probes, axis=1), f"Study {table.name!r}")
    return Probed(table, tuple(probes), matrix, gene_of, lengths.count(0), sum(length > 1 for length in lengths))


def _genes_in_file(table: Table, request: GeneRequest) -> list[tuple[str, ...]] | None:
    if table.feature_data is None:
        return None
    columns = [str(name) for name in table.feature_data.columns]
    check_known(request.genes, f"column about the features of study {table.name!r}", columns, parameter="genes")
    column = table.feature_data.iloc[:, columns.index(str(request.genes))]
    return [genes_in(cell) for cell in column.tolist()]


def _genes_in_map(table: Table, request: GeneRequest, probe_map: ProbeMap) -> list[tuple[str, ...]] | None:
    if isinstance(table.frame.columns, pd.RangeIndex):
        raise DataError(
            f"Study {table.name!r} does not name its features, so {request.probe_map} can't say their genes."
        )
    features = [str(name) for name in table.frame.columns]
    if any(feature in probe_map.genes_of for feature in features):
        return [probe_map.genes_of.get(feature, ()) for feature in features]
    genes = {gene for names in probe_map.genes_of.values() for gene in names}
    if any(feature in genes for feature in features):
        return None
    raise DataError(
        f"No feature of study {table.name!r} ({listing(features, 3)}) is a probe or a gene of {request.probe_map}, "
        f"whose probes are {listing(probe_map.genes_of, 3)}: use the table of the studies' platform."
    )


# ---------------------------------------------------------------------------------------------------------------------
# one column a gene

Order: TypeAlias = Callable[[str], tuple[float, ...]]  # of a probe: the least stands for its gene


def _by_variance(probed: Sequence[Probed]) -> Order:
    """Order probes by the number of studies that have them, then by pooled variance, then by their place."""
    squares: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    n_studies: Counter[str] = Counter()
    for entry in probed:
        there = np.isfinite(entry.matrix)
        n_there = there.sum(axis=0)
        values = np.where(there, entry.matrix, 0.0).astype(float)
        deviations = np.where(there, values - values.sum(axis=0) / np.maximum(n_there, 1), 0.0)
        sums = np.square(deviations).sum(axis=0)
        for j, probe in enumerate(entry.probes):
            n_studies[probe] += 1
            counts[probe] += int(n_there[j])
            squares[probe] += float(sums[j])
    place = {probe: i for i, probe in enumerate(n_studies)}

    def order(probe: str) -> tuple[float, ...]:
        return -n_studies[probe], -squares[probe] / max(counts[probe], 1), place[probe]

    return order


def _chosen(entry: Probed, order: Order) -> dict[str, str]:
    """Return the probe that stands for each gene in a study."""
    return {gene: min(probes, key=order) for gene, probes in entry.probes_of.items()}


def _frame_by_gene(entry: Probed, order: Order | None) -> pd.DataFrame:
    """Return samples by genes: the chosen probe of each, or, without an order, the mean of all its probes."""
    place = {probe: j for j, probe in enumerate(entry.probes)}
    if order is not None:
        chosen = _chosen(entry, order)
        table = entry.matrix[:, [place[probe] for probe in chosen.values()]]
        return pd.DataFrame(table, index=entry.table.frame.index, columns=pd.Index(chosen, dtype=object))
    columns = [entry.matrix[:, [place[probe] for probe in probes]].mean(axis=1) for probes in entry.probes_of.values()]
    genes = pd.Index(entry.probes_of, dtype=object)
    return pd.DataFrame(np.column_stack(columns), index=entry.table.frame.index, columns=genes)


# ---------------------------------------------------------------------------------------------------------------------
# the note


def _tell(
    entries: Sequence[Probed | None],
    tables: Sequence[Table],
    request: GeneRequest,
    probe_map: ProbeMap | None,
    order: Order | None,
) -> None:
    """Say what became of probes, unless each measures one gene and each gene has one."""
    probed = [entry for entry in entries if entry is not None]
    notes = []
    for what, count_of in (
        ("without a gene", {entry.table.name: entry.n_without for entry in probed}),
        ("of several genes", {entry.table.name: entry.n_of_several for entry in probed}),
    ):
        if any(count_of.values()):
            counts = listing(f"{name} {count:,}" for name, count in count_of.items() if count)
            notes.append(f"probes {what} were dropped: {counts}")
    if several := {gene for entry in probed for gene, probes in entry.probes_of.items() if len(probes) > 1}:
        how = "their mean stands" if order is None else "the one with the highest variance stands"
        notes.append(f"{how} for each of {plural(len(several), 'gene')} with several probes")
    chosen = {pair for entry in probed for pair in (_chosen(entry, order).items() if order else ())}
    n_different = sum(count > 1 for count in Counter(gene for gene, _ in chosen).values())
    if n_different:  # as on other platforms
        notes.append(f"{plural(n_different, 'gene')} have different probes in different studies")
    if probe_map is not None and probe_map.n_repeated:
        notes.append(f"{plural(probe_map.n_repeated, 'repeated probe')} in {request.probe_map}")
    if unprobed := [table.name for table, entry in zip(tables, entries, strict=True) if entry is None]:
        notes.append(f"features were left unchanged: {listing(unprobed)}")
    if notes:
        sizes = [f"{entry.table.name} {entry.table.frame.shape[1]:,} to {len(entry.probes_of):,}" for entry in probed]
        warn(f"Genes were made of probes ({listing(sizes)}): {'; '.join(notes)}.", DataWarning)


# ---------------------------------------------------------------------------------------------------------------------
# tables that say which gene a probe measures: delimited text, or a platform's annotation from GEO

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
    """A map of probes, as read from a file."""

    genes_of: dict[str, tuple[str, ...]]  # of each probe: none, one or several
    n_repeated: int  # rows about a probe that an earlier row has


def genes_in(cell: object) -> tuple[str, ...]:
    """Return the genes that a cell names, each once: none where it is empty or means none."""
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
    probe_column = int(gene_column == 0) if probe_column is None else probe_column
    return probe_column, int(probe_column == 0) if gene_column is None else gene_column, has_header


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

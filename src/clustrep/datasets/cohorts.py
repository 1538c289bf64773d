"""The three public breast cancer cohorts on the PAM50 genes, from the files that GEO gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from clustrep._formats import read_tables
from clustrep._tables import read_text
from clustrep._validation import check_choice, listing, plural
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.studies import Studies
from clustrep.study import Study

SERIES = {"mainz": ("GSE11121",), "transbig": ("GSE7390",), "vdx": ("GSE2034", "GSE5327")}
PLATFORM = "GPL96"
LOGGED_AT_MOST = 50.0  # log2 of a scanner's 16 bits is 16 at most
PROBES = ("variance", "mean")

# Parker et al. (2009), Journal of Clinical Oncology 27, by today's symbols.
# fmt: off
PAM50 = (
    "ACTR3B", "ANLN", "BAG1", "BCL2", "BIRC5", "BLVRA", "CCNB1", "CCNE1", "CDC20", "CDC6",
    "CDH3", "CENPF", "CEP55", "CXXC5", "EGFR", "ERBB2", "ESR1", "EXO1", "FGFR4", "FOXA1",
    "FOXC1", "GPR160", "GRB7", "KIF2C", "KRT14", "KRT17", "KRT5", "MAPT", "MDM2", "MELK",
    "MIA", "MKI67", "MLPH", "MMP11", "MYBL2", "MYC", "NAT1", "NDC80", "NUF2", "ORC6",
    "PGR", "PHGDH", "PTTG1", "RRM2", "SFRP1", "SLC39A6", "TMEM45B", "TYMS", "UBE2C", "UBE2T",
)
# fmt: on
OLDER_SYMBOLS = {
    "API4": "BIRC5",
    "C10orf3": "CEP55",
    "CDCA1": "NUF2",
    "FKHL7": "FOXC1",
    "HNF3A": "FOXA1",
    "HSPC150": "UBE2T",
    "KNSL6": "KIF2C",
    "KNTC2": "NDC80",
    "LIV-1": "SLC39A6",
    "ORC6L": "ORC6",
    "STMY3": "MMP11",
}


class Files(NamedTuple):
    """The files that make the cohorts."""

    series: Mapping[str, Path]  # by accession
    annotation: Path


def load_pam50_cohorts(
    source: str | PathLike[str] | Sequence[str | PathLike[str]], *, probes: Literal["variance", "mean"] = "variance"
) -> Studies:
    """Load the cohorts Mainz, Transbig and VDX on the PAM50 genes, from files downloaded from GEO.

    The studies are mainz (GSE11121), transbig (GSE7390) and vdx (GSE2034 and GSE5327, joined), all measured on the
    array HG-U133A (GPL96). A series with values above 50 is not on the log scale: its log2 is taken, where values below
    1 count as 1. Of the fifty genes, the array measures fewer; a warning says which are missing.

    Parameters
    ----------
    source : path or sequence of paths
        A folder with five files, or those files: the series matrices, such as GSE11121_series_matrix.txt.gz, and the
        platform's annotation, such as GPL96.annot.gz or GPL96-57554.txt. They are known by the accessions in their
        names; gzipped or not.
    probes : {"variance", "mean"}
        What to do with several probes of a gene: take the one with the highest variance, around the mean of each cohort
        and pooled over the cohorts, so that it is the same in all; or the mean of all. A probe of several genes serves
        only those that have no probe of their own.

    Notes
    -----
    The files are at https://www.ncbi.nlm.nih.gov/geo/, by their accessions. Genes have today's symbols, also where the
    annotation has older ones (ORC6L, KNTC2, CDCA1, …).
    """
    check_choice(probes, "probes", PROBES)
    files = _files(source)
    genes_of = _annotation(files.annotation)
    expression = {
        name: pd.concat([_series(files.series[accession]) for accession in accessions], join="inner")
        for name, accessions in SERIES.items()
    }
    measured = set.intersection(*(set(frame.columns) for frame in expression.values()))
    probes_of = _probes_by_gene({probe: genes for probe, genes in genes_of.items() if probe in measured})
    if not probes_of:
        raise DataError(
            f"No probe that all series have is one of a PAM50 gene in {files.annotation}: the series must be measured "
            f"on HG-U133A, and the annotation must be that of {PLATFORM}."
        )
    if probes == "variance":
        used = [probe for several in probes_of.values() for probe in several]
        variance = pd.concat([frame[used] - frame[used].mean() for frame in expression.values()]).var().to_dict()
        probes_of = {gene: [max(several, key=lambda probe: variance[probe])] for gene, several in probes_of.items()}
    missing = [gene for gene in PAM50 if gene not in probes_of]
    if missing:
        lost = plural(len(missing), "PAM50 gene")
        warn(f"{lost} of 50 left out, for want of a probe in these files: {listing(missing, 50)}.", DataWarning)
    return Studies(
        [
            Study(pd.DataFrame({gene: frame[several].mean(axis=1) for gene, several in probes_of.items()}), name)
            for name, frame in expression.items()
        ]
    )


# ---------------------------------------------------------------------------------------------------------------------
# files


def _files(source: object) -> Files:
    """Find the files by the accessions in their names; every one is needed, and once."""
    if isinstance(source, str | PathLike):
        folder = Path(source)
        if not folder.is_dir():
            raise DataError(f"{folder} is not a folder: pass the folder with the files from GEO, or a list of them.")
        where, candidates = f"{folder} holds", sorted(path for path in folder.iterdir() if path.is_file())
    elif isinstance(source, Iterable):
        where, candidates = "Among these is", [_as_path(path) for path in source]
    else:
        raise ParameterError(f"source must be a folder or a list of paths, got {type(source).__name__}.")
    wanted = [accession for accessions in SERIES.values() for accession in accessions]
    found = {accession: _named(candidates, accession) for accession in [*wanted, PLATFORM]}
    missing = [accession for accession, paths in found.items() if not paths]
    if missing:
        raise DataError(
            f"{where} no file of {listing(missing)}: download the series matrices of {', '.join(wanted)} and the "
            f"annotation of {PLATFORM} from https://www.ncbi.nlm.nih.gov/geo/, and keep their names."
        )
    for accession, paths in found.items():
        if len(paths) > 1:
            raise DataError(f"There are {len(paths)} files of {accession} ({listing(paths)}): pass a list with one.")
    return Files({accession: found[accession][0] for accession in wanted}, found[PLATFORM][0])


def _as_path(path: object) -> Path:
    if not isinstance(path, str | PathLike):
        raise ParameterError(f"source must be a folder or a list of paths, got {type(path).__name__} in it.")
    return Path(path)


def _named(paths: Iterable[Path], accession: str) -> list[Path]:
    """Those with this accession at the beginning; of a series, whose other files begin so too, the matrix."""
    kind = "" if accession == PLATFORM else r".*series_matrix"
    pattern = re.compile(rf"{accession}(?!\d){kind}.*\.(txt|annot)(\.gz)?", re.IGNORECASE)
    return [path for path in paths if pattern.fullmatch(path.name)]


def _series(path: Path) -> pd.DataFrame:
    """Read a series matrix, samples by probes, on the log scale."""
    (table,) = read_tables([path], [path.name], label=None)
    if table.annotations is None:
        raise DataError(f"{path} is not a GEO series matrix: it should begin with lines such as !Series_title.")
    if table.frame.max().max() <= LOGGED_AT_MOST:
        return table.frame
    return table.frame.clip(lower=1.0).transform(np.log2)


def _annotation(path: Path) -> dict[str, list[str]]:
    """Read which genes of the PAM50 each probe measures; probes of other genes are left out."""
    lines = [line for line in read_text(path).split("\n") if line.strip() and not line.startswith(("#", "!", "^"))]
    header = [cell.strip().strip('"').lower() for cell in lines[0].split("\t")] if lines else []
    if not {"id", "gene symbol"} <= set(header):
        raise DataError(
            f"{path} is not an annotation table: it must be tab separated, with columns ID and Gene Symbol; "
            f"it has {listing(header) or 'none'}."
        )
    probe, symbol = header.index("id"), header.index("gene symbol")
    genes_of = {}
    for line in lines[1:]:
        cells = [cell.strip().strip('"') for cell in line.split("\t")]
        if len(cells) > max(probe, symbol):
            symbols = [OLDER_SYMBOLS.get(name.strip(), name.strip()) for name in cells[symbol].split("///")]
            if set(symbols) & set(PAM50):
                genes_of[cells[probe]] = list(dict.fromkeys(symbols))
    return genes_of


# ---------------------------------------------------------------------------------------------------------------------
# genes


def _probes_by_gene(genes_of: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Turn the annotation round; a probe of several genes serves those without one of their own."""
    probes_of = {}
    for gene in PAM50:
        its_own = [probe for probe, genes in genes_of.items() if list(genes) == [gene]]
        shared = [probe for probe, genes in genes_of.items() if gene in genes]
        if its_own or shared:
            probes_of[gene] = its_own or shared
    return probes_of

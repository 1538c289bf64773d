"""Three public breast cancer cohorts on the PAM50 genes, from files of GEO, the Gene Expression Omnibus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_unique
from clustrep.data.readers.geo import GEO, cells_of
from clustrep.data.readers.source import read_text
from clustrep.data.readers.table import Request
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.datasets.benchmark import GENES
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.text import listing, plural
from clustrep.types import BoolArray, FloatArray

SERIES = {"mainz": ("GSE11121",), "transbig": ("GSE7390",), "vdx": ("GSE2034", "GSE5327")}
PLATFORM = "GPL96"
TABLE_BEGIN = "!series_matrix_table_begin"
LOGGED_AT_MOST = 50.0  # log2 of a scanner's 16 bits is 16 at most
SAME = 0.01  # on the log2 scale: intensities of 8 and more that were rounded to a tenth

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
    """The files from which the cohorts are read."""

    series: Mapping[str, Path]  # by accession
    annotation: Path


def load_pam50_cohorts(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    patients: Studies | None = None,
) -> Studies:
    """Load the cohorts Mainz, Transbig and VDX on the PAM50 genes, from files downloaded from GEO.

    All were measured on the array HG-U133A (GPL96). Of several probes of a gene, the one with the highest variance is
    taken, around the mean of each cohort and pooled over the cohorts, so that it is the same in all. A probe of several
    genes is used only for genes without a probe of their own. A series with values above 50 is not on the log scale:
    its log2 is taken, after values below 1 are set to 1.

    With `patients`, as `load_breast` returns them, a sample gets the label of the patient with the same values of ESR1,
    ERBB2 and AURKA, or else of the patient whose name is in the sample's title; the empty text where none fits.
    """
    if patients is not None:
        _check_patients(patients)
    files = _files(source)
    genes_of = _annotation(files.annotation)
    series = {accession: _series(path) for accession, path in files.series.items()}
    expression = {
        name: pd.concat([series[accession] for accession in accessions], join="inner")
        for name, accessions in SERIES.items()
    }
    probe_of = _chosen_probes(genes_of, expression, files.annotation)
    studies = []
    for name, frame in expression.items():
        genes = {gene: frame[probe] for gene, probe in probe_of.items()}
        labels = None
        if patients is not None:
            titles = [_titles(files.series[accession], series[accession].index.tolist()) for accession in SERIES[name]]
            labels = _labels_of_patients(frame, list(chain.from_iterable(titles)), patients[name])
        studies.append(Study(pd.DataFrame(genes), name, labels=labels))
    return Studies(studies)


# ---------------------------------------------------------------------------------------------------------------------
# files


def _files(source: object) -> Files:
    """Find the files by the accessions in their names; exactly one file is needed of each."""
    if isinstance(source, str | PathLike):
        folder = Path(source)
        if not folder.is_dir():
            raise DataError(f"{folder} is not a folder: pass the folder with the files from GEO, or a list of them.")
        where, candidates = f"{folder} holds", sorted(path for path in folder.iterdir() if path.is_file())
    elif isinstance(source, Iterable):
        where, candidates = "Among these is", [_as_path(path) for path in source]
    else:
        raise ParameterError(
            f"source must be a folder or a list of paths, got {type(source).__name__}.", parameter="source"
        )
    wanted = [accession for accessions in SERIES.values() for accession in accessions]
    paths_of = {accession: _named(candidates, accession) for accession in [*wanted, PLATFORM]}
    missing = [accession for accession, paths in paths_of.items() if not paths]
    if missing:
        raise DataError(
            f"{where} no file of {listing(missing)}: download the series matrices of {', '.join(wanted)} and the "
            f"annotation of {PLATFORM} from https://www.ncbi.nlm.nih.gov/geo/, and keep their names."
        )
    for accession, paths in paths_of.items():
        if len(paths) > 1:
            raise DataError(f"There are {len(paths)} files of {accession} ({listing(paths)}): pass a list with one.")
    return Files({accession: paths_of[accession][0] for accession in wanted}, paths_of[PLATFORM][0])


def _as_path(path: object) -> Path:
    if not isinstance(path, str | PathLike):
        raise ParameterError(
            f"source must be a folder or a list of paths, got {type(path).__name__} in it.", parameter="source"
        )
    return Path(path)


def _named(paths: Iterable[Path], accession: str) -> list[Path]:
    """Return the files whose names begin with an accession; of those of a series, only the matrix."""
    kind = "" if accession == PLATFORM else r".*series_matrix"
    pattern = re.compile(rf"{accession}(?!\d){kind}.*\.(txt|annot)(\.gz)?", re.IGNORECASE)
    return [path for path in paths if pattern.fullmatch(path.name)]


def _series(path: Path) -> pd.DataFrame:
    """Read a series matrix, samples by probes, on the log scale."""
    (table,) = GEO.read(path, path.name, Request())
    if table.annotations is None:
        raise DataError(f"{path} is not a GEO series matrix: it should begin with lines such as !Series_title.")
    check_unique(list(table.frame.columns), "probe", str(path))
    if table.frame.max().max() <= LOGGED_AT_MOST:
        return table.frame
    return table.frame.clip(lower=1.0).transform(np.log2)


def _titles(path: Path, samples: Sequence[str]) -> list[str]:
    """Read the titles of these samples of a series, in any order of its head; "" for a sample without a title."""
    head = takewhile(lambda line: line.strip().lower() != TABLE_BEGIN, read_text(path).lines())
    rows = {mark.lower(): cells for mark, *cells in map(cells_of, head)}
    titled = dict(zip(rows.get("!sample_geo_accession", samples), rows.get("!sample_title", []), strict=False))
    return [titled.get(sample, "") for sample in samples]


def _annotation(path: Path) -> dict[str, list[str]]:
    """Read which genes each probe measures; probes of none of the PAM50 genes are omitted."""
    text = enumerate(read_text(path).lines(), start=1)
    lines = [(i, line) for i, line in text if line.strip() and not line.startswith(("#", "!", "^"))]
    header = [cell.lower() for cell in cells_of(lines[0][1])] if lines else []
    if not {"id", "gene symbol"} <= set(header):
        raise DataError(
            f"{path} is not an annotation table: it must be tab separated, with columns ID and Gene Symbol; "
            f"it has {listing(header) or 'none'}."
        )
    probe, symbol = header.index("id"), header.index("gene symbol")
    genes_of: dict[str, list[str]] = {}
    for i, line in lines[1:]:
        cells = cells_of(line)
        if len(cells) <= max(probe, symbol):
            raise DataError(
                f"{path} has {len(header)} columns in its header but {plural(len(cells), 'cell')} in line {i}: "
                "download it again, or correct that line."
            )
        symbols = [OLDER_SYMBOLS.get(name.strip(), name.strip()) for name in cells[symbol].split("///")]
        if set(symbols) & set(PAM50):
            if cells[probe] in genes_of:
                raise DataError(
                    f"{path} has the probe {cells[probe]!r} twice, again in line {i}: download it again, or remove "
                    "one of the lines."
                )
            genes_of[cells[probe]] = list(dict.fromkeys(symbols))
    return genes_of


# ---------------------------------------------------------------------------------------------------------------------
# genes


def _chosen_probes(
    genes_of: Mapping[str, Sequence[str]], expression: Mapping[str, pd.DataFrame], annotation: Path
) -> dict[str, str]:
    """Choose the probe of each gene, from those that all cohorts measure."""
    measured = set.intersection(*(set(frame.columns) for frame in expression.values()))
    probes_of = _probes_by_gene({probe: genes for probe, genes in genes_of.items() if probe in measured})
    if not probes_of:
        raise DataError(
            f"No probe that all series have is one of a PAM50 gene in {annotation}: the series must be measured "
            f"on HG-U133A, and the annotation must be that of {PLATFORM}."
        )
    missing = [gene for gene in PAM50 if gene not in probes_of]
    if missing:
        omitted = plural(len(missing), "PAM50 gene")
        warn(
            f"{omitted} of 50 omitted, because no probe in these files measures them: {listing(missing, 50)}.",
            DataWarning,
        )
    return _without_twins(_most_variable(probes_of, expression))


def _probes_by_gene(genes_of: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """List the probes of each gene: those of this gene alone, or if there are none, those of several genes."""
    probes_of = {}
    for gene in PAM50:
        specific = [probe for probe, genes in genes_of.items() if list(genes) == [gene]]
        shared = [probe for probe, genes in genes_of.items() if gene in genes]
        if specific or shared:
            probes_of[gene] = specific or shared
    return probes_of


def _most_variable(probes_of: Mapping[str, Sequence[str]], expression: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Keep the probe of each gene that varies most within the cohorts."""
    used = list(dict.fromkeys(probe for probes in probes_of.values() for probe in probes))
    variance = pd.concat([frame[used] - frame[used].mean() for frame in expression.values()]).var().to_dict()
    return {gene: max(probes, key=lambda probe: variance[probe]) for gene, probes in probes_of.items()}


def _without_twins(probe_of: Mapping[str, str]) -> dict[str, str]:
    """Keep the first of several genes with the same probe: equal columns would count twice."""
    kept: dict[str, str] = {}
    for gene, probe in probe_of.items():
        twin = next((other for other, its_probe in kept.items() if its_probe == probe), None)
        if twin is None:
            kept[gene] = probe
        else:
            warn(f"{gene} omitted: its values would come from the same probe as those of {twin}.", DataWarning)
    return kept


# ---------------------------------------------------------------------------------------------------------------------
# patients


def _check_patients(patients: object) -> None:
    """Check that `patients` are the three cohorts, with labels and the three genes."""
    if not isinstance(patients, Studies):
        raise ParameterError(f"patients must be Studies or None, got {type(patients).__name__}.", parameter="patients")
    names = tuple(SERIES)
    missing = [name for name in names if name not in patients.names]
    if missing:
        raise DataError(f"patients must hold the studies {listing(names)}; there is no {listing(missing)}.")
    if any(patients[name].labels is None for name in names):
        raise DataError("patients must have known labels, as from load_breast('PAM50').")
    lacking = [gene for gene in GENES.values() if gene not in patients.features]
    if lacking:
        raise DataError(f"patients must have the features {listing(GENES.values())}; there is no {listing(lacking)}.")


def _labels_of_patients(measured: pd.DataFrame, titles: Sequence[str], patients: Study) -> NDArray[np.str_]:
    """Give every sample the label of its patient, by values before titles; "" if it matches none, or several."""
    is_patient = np.zeros((len(measured), len(patients)), dtype=bool)  # (n_samples, n_patients)
    if set(GENES) <= set(measured.columns):
        known = patients.select(list(GENES.values())).X
        values = measured[list(GENES)].to_numpy(dtype=float)
        by_value = [_only(_same_values(scaled, known)) for scaled in (values, _on_the_scale_of(known, values))]
        is_patient = max(by_value, key=np.count_nonzero)
    rest = np.ix_(~is_patient.any(axis=1), ~is_patient.any(axis=0))
    is_patient[rest] = _only(_same_names(titles, patients.samples)[rest])
    is_matched = np.asarray(is_patient.any(axis=1))
    if not is_matched.all():
        unmatched = plural(int((~is_matched).sum()), "sample")
        warn(
            f"{unmatched} of {len(is_matched)} in {patients.name} without a label: no patient, or more than one, has "
            "the values of the three genes, or the name.",
            DataWarning,
        )
    return np.where(is_matched, np.asarray(patients.labels)[is_patient.argmax(axis=1)].astype(str), "")


def _only(fits: BoolArray) -> BoolArray:
    """Keep the pairs of a sample and a patient that fit each other and nobody else."""
    only: BoolArray = fits & (fits.sum(axis=0) == 1) & (fits.sum(axis=1) == 1)[:, None]
    return only


def _same_values(values: FloatArray, known: FloatArray) -> BoolArray:
    return np.asarray((np.abs(values[:, None] - known) <= SAME).all(axis=2))


def _on_the_scale_of(known: FloatArray, values: FloatArray) -> FloatArray:
    """Give every gene the median and the interquartile range that it has among the patients."""
    low, middle, high = np.nanquantile(values, [0.25, 0.5, 0.75], axis=0)
    known_low, known_middle, known_high = np.quantile(known, [0.25, 0.5, 0.75], axis=0)
    stretch = np.divide(known_high - known_low, high - low, out=np.ones_like(high), where=high > low)
    scaled: FloatArray = known_middle + (values - middle) * stretch
    return scaled


def _same_names(titles: Sequence[str], names: Sequence[str]) -> BoolArray:
    """Tell which titles contain, or are, which patient's name, with or without the study's prefix.

    Within a longer title a number alone is not a name: "stage 3" does not contain VDX_3.
    """
    fits = np.zeros((len(titles), len(names)), dtype=bool)
    short = [name.rpartition("_")[2] for name in names]
    for i, title in enumerate(titles):
        words = {title.strip(), *(word for word in re.split(r"\W+", title) if not word.isdigit())}
        fits[i] = [name in words or last in words for name, last in zip(names, short, strict=True)]
    return fits

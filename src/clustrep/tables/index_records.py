"""What is known about every index of a single study: names, direction, bounds, what it needs.

Results, figures, the report, the command line and `validate` read these records. What computes an index is in
`clustrep.within`: readers of contingency tables in `table_readers`, everything else in `indices`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Hennig (2007), and the defaults of R's fpc: at most the first, a cluster is lost; above the second, it is recovered.
DISSOLVED, RECOVERED = 0.5, 0.75


class Fits(StrEnum):
    """Which fits an index is computed from; indices with the same ones share them."""

    SUBSAMPLES = "subsamples"
    FEATURE_SUBSETS = "feature subsets"
    BOOTSTRAP = "bootstrap"
    JITTER = "jitter"
    HALF_SPLITS = "half-splits"
    PAIRS = "pairs of bootstrap samples"
    STUDY = "the study as it is"
    NONE = "none"


@dataclass(frozen=True)
class IndexRecord:
    """What is known about an index.

    Attributes
    ----------
    name : str
        What users pass as `index` or in `indices`, and what tables show.
    long_name : str
        How it is written in sentences and figures.
    fits : Fits
        What it is computed from, by default.
    higher_is_better : bool
    bounds : tuple of float
        The smallest and the largest value that it can have, relative where it can be.
    per_cluster : bool
        Whether it has a value for every cluster; else for whole partitions, or the data, alone.
    reference : str
        Where it was proposed.
    adjusted : bool
        Whether it is relative to the value of random labels.
    has_relative : bool
        Whether it is a count that can be divided by the number of points; `validate` does.
    needs_clusterer : bool
        Whether a clusterer must find the clusters again; else existing labels suffice.
    of_partition : bool
        Whether it judges a partition; else the data.
    thresholds : tuple of float or None
        At most the first, a cluster is lost; above the second, it is recovered.
    """

    name: str
    long_name: str
    fits: Fits
    higher_is_better: bool
    bounds: tuple[float, float]
    per_cluster: bool
    reference: str
    adjusted: bool = False
    has_relative: bool = False
    needs_clusterer: bool = True
    of_partition: bool = True
    thresholds: tuple[float, float] | None = None

    def title(self, *, relative: bool) -> str:
        """Return the name in sentences, and whether the values are relative."""
        return f"{self.long_name}, relative" if relative and self.has_relative else self.long_name

    @property
    def better(self) -> str:
        """The direction in a word."""
        return "higher" if self.higher_is_better else "lower"


# To add an index, add a record here, and what computes it in within/table_readers.py or within/indices.py. Tables show
# indices in this order.
INDICES: dict[str, IndexRecord] = {
    record.name: record
    for record in (
        IndexRecord(
            name="matching",
            long_name="minimal matching distance",
            fits=Fits.SUBSAMPLES,
            higher_is_better=False,
            bounds=(0.0, 1.0),
            per_cluster=False,
            reference="von Luxburg (2010)",
            has_relative=True,
        ),
        IndexRecord(
            name="inclusion",
            long_name="Smolkin–Ghosh inclusion",
            fits=Fits.FEATURE_SUBSETS,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Smolkin and Ghosh (2003)",
        ),
        IndexRecord(
            name="jaccard",
            long_name="Jaccard coefficient",
            fits=Fits.BOOTSTRAP,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Hennig (2007)",
            thresholds=(DISSOLVED, RECOVERED),
        ),
        IndexRecord(
            name="r",
            long_name="R index",
            fits=Fits.JITTER,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="McShane et al. (2002)",
        ),
        IndexRecord(
            name="d",
            long_name="D index",
            fits=Fits.JITTER,
            higher_is_better=False,
            bounds=(0.0, float("inf")),
            per_cluster=True,
            reference="McShane et al. (2002)",
            has_relative=True,
        ),
        IndexRecord(
            name="prediction_strength",
            long_name="prediction strength",
            fits=Fits.HALF_SPLITS,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Tibshirani and Walther (2005)",
            needs_clusterer=False,
        ),
        IndexRecord(
            name="in_group",
            long_name="in-group proportion",
            fits=Fits.STUDY,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Kapp and Tibshirani (2007)",
            needs_clusterer=False,
        ),
        IndexRecord(
            name="instability",
            long_name="bootstrap instability",
            fits=Fits.PAIRS,
            higher_is_better=False,
            bounds=(0.0, 1.0),
            per_cluster=False,
            reference="Fang and Wang (2012)",
            needs_clusterer=False,
        ),
        IndexRecord(
            name="relative_validation",
            long_name="relative validation",
            fits=Fits.HALF_SPLITS,
            higher_is_better=False,
            bounds=(0.0, float("inf")),
            per_cluster=False,
            reference="Lange et al. (2004)",
            adjusted=True,
            needs_clusterer=False,
        ),
        IndexRecord(
            name="pac",
            long_name="ambiguous pairs (PAC)",
            fits=Fits.SUBSAMPLES,
            higher_is_better=False,
            bounds=(0.0, 1.0),
            per_cluster=False,
            reference="Șenbabaoğlu et al. (2014)",
        ),
        IndexRecord(
            name="consensus",
            long_name="cluster consensus",
            fits=Fits.SUBSAMPLES,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Monti et al. (2003)",
        ),
        IndexRecord(
            name="assignment",
            long_name="assignment consistency",
            fits=Fits.SUBSAMPLES,
            higher_is_better=True,
            bounds=(0.0, 1.0),
            per_cluster=True,
            reference="Sorooshyari, Rivas and Tibshirani (2026)",
        ),
        IndexRecord(
            name="test",
            long_name="p-value of the test for clusters",
            fits=Fits.NONE,
            higher_is_better=False,
            bounds=(0.0, 1.0),
            per_cluster=False,
            reference="McShane et al. (2002)",
            needs_clusterer=False,
            of_partition=False,
        ),
    )
}

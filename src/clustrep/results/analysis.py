"""A whole analysis: which clusterer and k, which studies agree, which clusters hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from clustrep._types import FloatArray
from clustrep.results.choice import FALSE_FINDING, Choice
from clustrep.results.common import Saved, freeze
from clustrep.results.comparison import Candidate, Comparison
from clustrep.results.counterparts import Counterparts
from clustrep.results.local import LocalReplicability
from clustrep.results.null import NullReference
from clustrep.results.relations import StudyRelations
from clustrep.results.replicability import Replicability

HOLDS, WEAK, NOT_ABOVE, NOT_COMPARED = (
    "holds",
    "holds weakly",
    "no better than data without clusters",
    "not compared with data without clusters",
)
# A cluster above data without clusters holds if its score is at least half-way from chance, 0, to identity, 1.
HALF_WAY = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Saved):
    """Everything that `analyse` found out.

    Attributes
    ----------
    comparison : Comparison
        All clusterers and numbers of clusters.
    reference : NullReference or None
        The comparison beside data without clusters.
    local : tuple of LocalReplicability
        Of the configuration in focus: every training study on every other.
    local_references : tuple of NullReference
        The same beside data without clusters, in the same order.
    counterparts : Counterparts or None
        Which cluster is which, in the configuration in focus.
    coordinates : ndarray, (number of samples in all studies, 2)
        Where to draw the samples, study by study.
    coordinate_names : tuple of str
    warnings : tuple of str
        What was warned of on the way.
    """

    comparison: Comparison
    reference: NullReference | None
    local: tuple[LocalReplicability, ...]
    local_references: tuple[NullReference, ...]
    counterparts: Counterparts | None
    coordinates: FloatArray
    coordinate_names: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The studies."""
        return self.comparison.names

    @property
    def agreement(self) -> str:
        """The agreement that decides: the first."""
        return self.comparison.agreements[0]

    @property
    def provenance(self) -> dict[str, Any]:
        """How the comparison was made."""
        return self.comparison.provenance

    @cached_property
    def choice(self) -> Choice:
        """Which clusterer and k, and how sure that is."""
        return self.comparison.choice(self.reference)

    @property
    def focus(self) -> Candidate | None:
        """The configuration that is looked at closely; None where there is none."""
        return self.choice.focus

    @cached_property
    def replicability(self) -> Replicability | None:
        """All pairs of studies in the configuration in focus."""
        focus = self.focus
        return None if focus is None else self.comparison.replicability(focus.clusterer, focus.n_clusters)

    @cached_property
    def relations(self) -> StudyRelations | None:
        """Which studies agree; None with fewer than three, or without a configuration to look at."""
        result = self.replicability
        if result is None or len(self.names) < 3 or np.isnan(np.diagonal(result.mean)).all():
            return None
        return result.relations() if self.agreement != "mi" else None

    @property
    def failures(self) -> dict[str, int]:
        """How many scores are missing, by cause; of the comparison and of what follows from it."""
        counts: dict[str, int] = {}
        for part in (self.comparison, *self.local, *([self.counterparts] if self.counterparts else [])):
            for cause, count in part.failures.items():
                counts[cause] = counts.get(cause, 0) + count
        return counts

    # -----------------------------------------------------------------------------------------------------------------
    # tables

    def scores(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every clusterer, k, agreement and pair of studies, beside data without clusters."""
        frame = self.comparison.to_frame(confidence_level)
        if self.reference is None:
            return frame
        against = self.reference.to_frame(confidence_level).drop(columns="observed")
        return frame.merge(against, how="left", on=["clusterer", "k", "agreement", "train", "test"])

    def samples(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every sample and other study: train, sample, cluster, test, scores, and where it is drawn."""
        columns = ["train", "sample", "cluster", "test", "estimate", "mean", "sd", "low", "high", "x", "y"]
        frames = []
        for one in self.local:
            frame = one.to_frame(confidence_level)
            frame["train"], frame["test"] = one.train, one.test
            frame["cluster"] = cluster_names(self.counterparts, one.train, frame["cluster"])
            frame["x"], frame["y"] = self.coordinates_of(one.train).T
            frames.append(frame[columns])
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def coordinates_of(self, study: str) -> FloatArray:
        """Where the samples of one study are drawn, (n_samples, 2)."""
        sizes = [self.provenance["studies"][name]["samples"] for name in self.names]
        ends = np.cumsum(sizes)
        s = self.names.index(study)
        return self.coordinates[ends[s] - sizes[s] : ends[s]]

    def clusters(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster and other study: does it hold there, and what is its counterpart.

        Columns: train, cluster, size, test, estimate, mean, sd, low, high; beside data without clusters null_mean,
        null_low, null_high, excess, pvalue, and qvalue over all rows; verdict; and counterpart, overlap, overlap_low,
        overlap_high, found.
        """
        return cluster_table(self.local, self.local_references, self.counterparts, confidence_level)

    def __repr__(self) -> str:
        return f"Analysis of {', '.join(self.names)}\n{self.choice}"


def cluster_table(
    local: Sequence[LocalReplicability],
    references: Sequence[NullReference | None] = (),
    counterparts: Counterparts | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Put clusters, data without clusters and counterparts side by side: see `Analysis.clusters`."""
    frames = []
    for i, one in enumerate(local):
        frame = one.by_cluster(confidence_level)
        reference = references[i] if references else None
        if reference is not None:
            against = reference.to_frame(confidence_level)
            frame = pd.concat([frame, against.drop(columns=["cluster", "observed", "qvalue"])], axis=1)
        frame.insert(0, "train", one.train)
        frame.insert(3, "test", one.test)
        frame["cluster"] = cluster_names(counterparts, one.train, frame["cluster"])
        frames.append(frame)
    if not frames:
        return pd.DataFrame(
            columns=["train", "cluster", "size", "test", "estimate", "mean", "sd", "low", "high", "verdict"]
        )
    table = pd.concat(frames, ignore_index=True)
    if "pvalue" in table:
        known = table["pvalue"].notna()
        table["qvalue"] = np.nan
        table.loc[known, "qvalue"] = false_discovery_control(table.loc[known, "pvalue"])
    qvalues = table["qvalue"] if "qvalue" in table else [np.nan] * len(table)
    table["verdict"] = [_verdict(float(q), float(mean)) for q, mean in zip(qvalues, table["mean"], strict=True)]
    if counterparts is not None:
        partners = counterparts.to_frame(confidence_level).drop(columns="size")
        partners = partners.rename(columns={"low": "overlap_low", "high": "overlap_high"})
        table = table.merge(partners, how="left", on=["train", "cluster", "test"])
    return table


def cluster_names(counterparts: Counterparts | None, study: str, labels: Any) -> list[str]:
    """Name a study's clusters after their labels, and after known labels where the study has any."""
    if counterparts is None or study not in counterparts.names:
        return [str(label) for label in labels]
    s = counterparts.names.index(study)
    named = {name.split(" (")[0]: str(name) for name in counterparts.clusters[s] if name}
    return [named.get(str(label), str(label)) for label in labels]


def _verdict(qvalue: float, mean: float) -> str:
    if np.isnan(qvalue):
        return NOT_COMPARED
    if qvalue > FALSE_FINDING:
        return NOT_ABOVE
    return HOLDS if mean >= HALF_WAY else WEAK

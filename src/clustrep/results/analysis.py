"""A whole analysis: which clusterer and k, which studies agree, which clusters hold."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from clustrep.checks import check_known, freeze
from clustrep.failures import Failures
from clustrep.provenance import Provenance
from clustrep.remembered import cached_property
from clustrep.results.base import FALSE_FINDING, Saved
from clustrep.results.choice import Candidate, Choice
from clustrep.results.cluster_tree import ClusterTree
from clustrep.results.comparison import Comparison
from clustrep.results.groups import Separation
from clustrep.results.headline import Evidence, Said, headline_of
from clustrep.results.local_scores import LocalReplicability
from clustrep.results.matches import Counterparts
from clustrep.results.null_scores import NullReference
from clustrep.results.obstacles import obstacle_to
from clustrep.results.pairwise import Replicability
from clustrep.results.presence_words import Presence
from clustrep.results.relations import StudyDifferences, StudyRelations, relations_if_any
from clustrep.results.shared_numbers import renamed, renamed_list, shared_names
from clustrep.results.verdict import SEPARATED, STRUCTURED, Verdict, separation_of, verdict_of
from clustrep.tables.agreement import is_adjusted
from clustrep.tables.noise import NOISE_NAME
from clustrep.types import FloatArray

HOLDS, WEAK, NOT_ABOVE, UNSURE, TOO_FEW, UNTESTED, NOISE, NO_SCORE, NOT_COMPARED = (
    "holds",
    "holds weakly",
    "no better than data without clusters",
    "can't tell: above data without clusters only before adjusting",
    "can't tell: too few simulated collections",
    "not tested: the clustering is not above data without clusters",
    "noise",
    "no score",
    "not compared with data without clusters",
)
PRESENCE = ("train", "cluster", "test", "word")
GROUPS = ("study", "sample", "cluster", "group")
NO_CLUSTERS = ("train", "cluster", "size", "test", "estimate", "mean", "sd", "low", "high", "verdict")
IS_NOISE = rf"^{NOISE_NAME}( \(.*\))?$"
# A cluster above data without clusters holds if its score is at least half-way from chance, 0, to identity, 1: for
# agreements that have these two ends.
HALF_WAY = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Saved):
    """The results of `analyse`: a comparison, its choice, and the clusters of the configuration in focus.

    Attributes
    ----------
    comparison : Comparison
        All clusterers and numbers of clusters.
    reference : NullReference or None
        The comparison beside data without clusters.
    local : tuple of LocalReplicability
        Of the configuration in focus: every training study on every other.
    local_references : tuple of NullReference
        The same beside data without clusters, in the same order; empty without a null.
    counterparts : Counterparts or None
        Which cluster of one study corresponds to which of another, in the configuration in focus.
    coordinates : ndarray, (number of samples in all studies, 2)
        Positions of the samples in figures, study by study: see `coordinates_of`.
    coordinate_names : tuple of str
        The names of the two axes.
    known_labels : ndarray of str, (number of samples in all studies,)
        Known labels of the samples, as text, study by study; "" where none are known: see `known_labels_of`.
    warnings : tuple of str
        Warnings that were given during the analysis, where they were recorded.
    separations : tuple of Separation
        The gaps between clusters, for every clusterer.
    differences : StudyDifferences or None
        Which study lacks a cluster that the others have, or has none, in the configuration in focus.
    presence_result : Presence or None
        Whether every cluster is present in every other study.
    tree : ClusterTree or None
        Clusters within the separated clusters; None where these were not looked for.
    embedded : Comparison or None
        The same configurations in an embedding that is learned on every training study alone, where the analysis is of
        one embedding of all studies together: the page shows both scores. See `Report`.

    Notes
    -----
    The configuration in focus is that of `verdict`. A cluster holds in another study where its local score R̂ is
    above data without clusters (q-value at most 0.05) and R̂ and the mean over resamples are at least 0.5, halfway from
    chance to identity; it holds weakly where it is above them with a lower score. An agreement that is not adjusted for
    chance has no such half, and a cluster above data without clusters holds.

    See Also
    --------
    analyse : The function that returns it.
    Comparison, Choice, LocalReplicability, Counterparts, NullReference : Its parts.
    """

    comparison: Comparison
    reference: NullReference | None
    local: tuple[LocalReplicability, ...]
    local_references: tuple[NullReference, ...]
    counterparts: Counterparts | None
    coordinates: FloatArray
    coordinate_names: tuple[str, ...]
    known_labels: NDArray[np.str_]
    warnings: tuple[str, ...] = ()
    separations: tuple[Separation, ...] = ()
    differences: StudyDifferences | None = None
    presence_result: Presence | None = None
    tree: ClusterTree | None = None
    embedded: Comparison | None = None

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
    def provenance(self) -> Provenance:
        """How the comparison was made."""
        return self.comparison.provenance

    @cached_property
    def choice(self) -> Choice:
        """Which clusterer and k, and how sure that is."""
        return self.comparison.choice(self.reference)

    @cached_property
    def verdict(self) -> Verdict:
        """To what degree there are groups, how many, and which configuration shows them."""
        return verdict_of(self.choice, self.separations)

    @property
    def degree(self) -> str | None:
        """To what degree there are groups: "separated", "structured" or "one piece"; None where nothing was tested."""
        return self.verdict.degree

    @property
    def n_clusters(self) -> int | None:
        """The chosen number of clusters, 1 for one piece."""
        return self.verdict.n_clusters

    @property
    def focus(self) -> Candidate | None:
        """The configuration that is looked at closely; None where there is none."""
        return self.verdict.focus

    @cached_property
    def headline(self) -> tuple[Said, ...]:
        """The answer in sentences: what it is, how sure that is, why, and what to do next."""
        return headline_of(
            Evidence(
                self.verdict, self.choice, self.separations, obstacle_to(self.comparison, self.focus), self.presence()
            )
        )

    @property
    def separation_in_focus(self) -> Separation | None:
        """The gaps of the clusterer in focus; None where gaps were not looked for."""
        return separation_of(self.verdict, self.separations)

    @cached_property
    def replicability(self) -> Replicability | None:
        """All pairs of studies in the configuration in focus."""
        focus = self.focus
        return None if focus is None else self.comparison.replicability(focus.clusterer, focus.n_clusters)

    @cached_property
    def replicabilities(self) -> tuple[Replicability, ...]:
        """All pairs of studies in every configuration, by the agreement that decides; that in focus first."""
        focus = self.replicability
        others = [
            self.comparison.replicability(clusterer, k)
            for clusterer, k in zip(self.comparison.clusterers, self.comparison.n_clusters, strict=True)
            if focus is None or (clusterer, k) != (focus.clusterer, focus.n_clusters)
        ]
        return tuple(others if focus is None else [focus, *others])

    @cached_property
    def relations(self) -> StudyRelations | None:
        """Which studies agree; None with fewer than three, or without a configuration to look at."""
        return None if self.replicability is None else relations_if_any(self.replicability)

    @property
    def failures(self) -> Failures:
        """How many values failed, by cause: scores of the comparison, and resamples of what follows from it."""
        parts: list[Any] = [self.comparison, *self.local, *([self.counterparts] if self.counterparts else [])]
        return Failures.merge([part.failures for part in parts])

    # -----------------------------------------------------------------------------------------------------------------
    # tables

    def scores(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every clusterer, k, agreement and pair of studies, beside data without clusters."""
        frame = self.comparison.to_frame(confidence_level)
        if self.reference is None:
            return frame
        against = self.reference.to_frame(confidence_level).drop(columns="observed")
        return frame.merge(against, how="left", on=["clusterer", "k", "agreement", "train", "test"])

    def summary(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every clusterer, k and agreement, over all pairs of studies: what the choice rests on.

        Columns: clusterer, k, agreement, mean, low, high (over resamples), trivial, failed; for the agreement that
        decides probability_best and rival; beside data without clusters observed (R̂), null_mean, excess, pvalue, and
        adjusted.
        """
        return summary_of(self.comparison, self.choice, self.reference, confidence_level)

    def samples(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every sample and other study: train, sample, cluster, test, scores, and where it is drawn."""
        columns = ["train", "sample", "cluster", "test", "estimate", "mean", "sd", "low", "high", "x", "y"]
        frames = []
        for local in self.local:
            frame = local.to_frame(confidence_level)
            frame["train"], frame["test"] = local.train, local.test
            frame["cluster"] = self._names(local.train, frame["cluster"])
            frame["x"], frame["y"] = self.coordinates_of(local.train).T
            frames.append(frame[columns])
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def coordinates_of(self, study: str) -> FloatArray:
        """Return the positions of one study's samples in figures, (n_samples, 2)."""
        return self.coordinates[self._rows_of(study)]

    def known_labels_of(self, study: str) -> NDArray[np.str_] | None:
        """Return the known labels of one study's samples, as text; None where it has none."""
        labels = self.known_labels[self._rows_of(study)]
        return labels if (labels != "").any() else None

    def clusters_of(self, study: str) -> list[str] | None:
        """Return the name of every sample's cluster, as `clusters` has it; None where the study was not followed."""
        for local in self.local:
            if local.train == study:
                return self._names(study, local.labels.tolist())
        return None

    @cached_property
    def shared_names(self) -> dict[tuple[str, str], str]:
        """What clusters are called, by their study and the name that the clusterer's own number gives them.

        Counterparts have the same number in all studies, as in `presence`; empty where that is not known.
        """
        if self.counterparts is None or self.presence_result is None:
            return {}
        return shared_names(self.counterparts, self.presence_result)

    def _names(self, study: str, labels: Any) -> list[str]:
        return renamed_list(cluster_names(self.counterparts, study, labels), study, self.shared_names)

    def _rows_of(self, study: str) -> slice:
        """Return where the samples of one study are among those of all studies."""
        check_known(study, "study", self.names, parameter="study")
        sizes = [self.provenance.studies[name].samples for name in self.names]
        begin = sum(sizes[: self.names.index(study)])
        return slice(begin, begin + self.provenance.studies[study].samples)

    def clusters(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every cluster and other study: does it hold there, and what is its counterpart.

        Columns: train, cluster, size, test, estimate, mean, sd, low, high; beside data without clusters null_mean,
        null_low, null_high, excess, pvalue, and qvalue over all rows but noise; verdict; and counterpart, overlap,
        overlap_low, overlap_high, found. A cluster holds where its estimate is above data without clusters (q-value at
        most 5 %), and estimate and mean are at least 0.5; nothing is tested where the clustering is not above them.
        """
        focus = self.focus
        untested = self.reference is not None and (focus is None or not self.choice.is_above(focus))
        table = cluster_table(self.local, self.local_references, self.counterparts, confidence_level, untested=untested)
        return renamed(table, self.shared_names)

    def presence(self) -> pd.DataFrame:
        """One row for every cluster and other study: train, cluster, test, word.

        The word is "present", "absent", "split", "merged" or "can't tell"; rows of "new" samples are about samples of
        the test study that are like no cluster of the training study. Clusters are named after the samples' known
        labels, where there are any. Empty where it was not computed.
        """
        if self.presence_result is None:
            return pd.DataFrame(columns=list(PRESENCE))
        frame = self.presence_result.to_frame()
        names = {study: self._presence_names(self.presence_result, study) for study in frame["train"].unique()}
        clusters = zip(frame["train"], frame["cluster"].astype(str), strict=True)
        return frame.assign(cluster=[names[study].get(cluster, cluster) for study, cluster in clusters])

    def groups(self) -> pd.DataFrame:
        """One row for every sample: study, sample, cluster, group.

        The cluster is that of the sample's own study, as in `presence`; the group is the separated one that all studies
        together have, missing for noise and where there are no gaps. Samples of studies whose clusters were not
        followed are numbered, because results do not keep their names. Empty where there are neither groups nor
        structure, and where the clusterer that was chosen finds the number of clusters by itself.
        """
        presence, separation = self.presence_result, self.verdict.separation
        if self.degree not in (SEPARATED, STRUCTURED) or presence is None:
            return pd.DataFrame(columns=list(GROUPS))
        samples = {local.train: local.samples for local in self.local}
        frames = []
        for study in self.names:
            labels, names = presence.labels_of(study).tolist(), self._presence_names(presence, study)
            clusters = [NOISE if label < 0 else names.get(str(label), str(label)) for label in labels]
            numbered = [str(i + 1) for i in range(len(labels))]
            frames.append(pd.DataFrame({"study": study, "sample": samples.get(study, numbered), "cluster": clusters}))
        table = pd.concat(frames, ignore_index=True)
        groups = pd.Series(-1 if separation is None else separation.labels, table.index, dtype="Int64")
        return table.assign(group=groups.mask(groups < 0))

    def to_anndata(self, adata: Any, study_key: str, *, key: str = "clustrep") -> Any:
        """Write clusters, scores and verdicts of all cells into the AnnData that was analysed, and return it.

        Parameters
        ----------
        adata : AnnData
            The one that the studies were taken from, with the same cells in the same order. It is changed.
        study_key : str
            The column of obs that names the study, as in `Studies.from_anndata`.
        key : str
            What the names of all that is written begin with.

        Returns
        -------
        AnnData
            `adata`, with, in obs, ``clustrep_cluster`` (as in `clusters`; missing where a study was not followed),
            ``clustrep_local`` (the mean over other studies of the cell's local score), ``clustrep_verdict`` (in how
            many other studies its cluster holds) and ``clustrep_separation`` (its group, where groups are separated);
            after ``recursive=True`` also ``clustrep_subcluster``, the smallest cluster of the tree that it is in.
            In obsm, ``clustrep_local`` has the local score in every other study. In uns, ``clustrep`` has the answer
            in words and the tables `summary`, `scores`, `clusters` and `presence`, and ``clustrep_cluster_colors`` the
            colours, as scanpy expects them.

        See Also
        --------
        Studies.from_anndata : Takes the studies from an AnnData.

        Examples
        --------
        >>> import anndata
        >>> import numpy as np
        >>> from sklearn.cluster import KMeans
        >>> from clustrep import Studies, analyse
        >>> X = np.random.default_rng(0).normal(size=(120, 2)) + 9 * (np.arange(120) % 2)[:, None]
        >>> adata = anndata.AnnData(X)
        >>> adata.obs["lab"] = ["first"] * 60 + ["second"] * 60
        >>> studies = Studies.from_anndata(adata, "lab")
        >>> analysis = analyse(KMeans(n_init=2), studies, n_clusters=2, n_resamples=3, null=None, rng=0)
        >>> analysis.to_anndata(adata, "lab").obs["clustrep_separation"].value_counts().tolist()
        [60, 60]
        """
        from clustrep.results.annotated import annotate

        return annotate(adata, self, study_key, key)

    def _presence_names(self, presence: Presence, study: str) -> dict[str, str]:
        """Name the clusters of one study as in `presence`, after the most frequent known label of their samples."""
        known = self.known_labels_of(study)
        if known is None or self.presence_result is None:
            return {}
        labels = pd.Series(known).groupby(presence.labels_of(study).astype(str))
        return {str(name): f"{name} ({values.mode()[0]})" for name, values in labels if str(name) != "-1"}

    def __repr__(self) -> str:
        sentences = [said.text for said in self.headline]
        tree = [] if self.tree is None else [repr(self.tree)]
        return "\n".join([f"Analysis of {', '.join(self.names)}", *sentences, *tree])


def summary_of(
    comparison: Comparison, choice: Choice, reference: NullReference | None, confidence_level: float = 0.95
) -> pd.DataFrame:
    """Put a comparison, its choice and data without clusters side by side: see `Analysis.summary`."""
    table = comparison.summary(confidence_level).drop(columns="eligible").rename(columns={"score": "mean"})
    decisive = choice.to_frame()[["clusterer", "k", "probability_best", "rival"]].assign(agreement=choice.agreement)
    table = table.merge(decisive, how="left", on=["clusterer", "k", "agreement"])
    if reference is None:
        return table
    against = reference.summary().drop(columns="qvalue")
    return table.merge(against, how="left", on=["clusterer", "k", "agreement"])


def cluster_table(
    local: Sequence[LocalReplicability],
    references: Sequence[NullReference | None] = (),
    counterparts: Counterparts | None = None,
    confidence_level: float = 0.95,
    *,
    untested: bool = False,
) -> pd.DataFrame:
    """Put clusters, data without clusters and counterparts side by side: see `Analysis.clusters`."""
    frames = []
    for i, result in enumerate(local):
        frame = result.by_cluster(confidence_level)
        reference = references[i] if references else None
        if reference is not None:
            against = reference.to_frame(confidence_level)
            frame = pd.concat([frame, against.drop(columns=["cluster", "observed", "qvalue"])], axis=1)
            frame["smallest"] = 1 / (1 + len(reference.distribution))
        frame.insert(0, "train", result.train)
        frame.insert(3, "test", result.test)
        frame["cluster"] = cluster_names(counterparts, result.train, frame["cluster"])
        frame["adjusted"] = is_adjusted(result.agreement)
        frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=NO_CLUSTERS)
    table = pd.concat(frames, ignore_index=True)
    if "pvalue" in table:
        family = table["pvalue"].notna() & (table["cluster"] != NOISE)
        table["qvalue"] = np.nan
        table.loc[family, "qvalue"] = false_discovery_control(table.loc[family, "pvalue"])
    table["verdict"] = [UNTESTED if untested else _verdict(row) for row in table.to_dict("records")]
    table = table.drop(columns=["smallest", "adjusted"], errors="ignore")
    if counterparts is not None:
        partners = counterparts.to_frame(confidence_level).drop(columns="size")
        partners = partners.rename(columns={"low": "overlap_low", "high": "overlap_high"})
        partners[["cluster", "counterpart"]] = partners[["cluster", "counterpart"]].replace(IS_NOISE, NOISE, regex=True)
        table = table.merge(partners, how="left", on=["train", "cluster", "test"])
    return table


def cluster_names(counterparts: Counterparts | None, study: str, labels: Any) -> list[str]:
    """Name a study's clusters after their labels, and after known labels where the study has any."""
    if counterparts is None or study not in counterparts.names:
        return [NOISE if str(label) == NOISE_NAME else str(label) for label in labels]
    s = counterparts.names.index(study)
    named = {name.split(" (")[0]: str(name) for name in counterparts.clusters[s] if name}
    return [NOISE if str(label) == NOISE_NAME else named.get(str(label), str(label)) for label in labels]


def _verdict(row: dict[Hashable, Any]) -> str:
    """Say whether a cluster holds: by its score as the studies are, and by the mean over resamples."""
    if row["cluster"] == NOISE:
        return NOISE
    if np.isnan(row["estimate"]) or np.isnan(row["mean"]):
        return NO_SCORE
    if np.isnan(row.get("qvalue", np.nan)):
        return NOT_COMPARED
    if row["qvalue"] > FALSE_FINDING:
        if row["pvalue"] <= row["smallest"] * (1 + 1e-9):
            return TOO_FEW
        return UNSURE if row["pvalue"] <= FALSE_FINDING else NOT_ABOVE
    weak = row["adjusted"] and min(row["estimate"], row["mean"]) < HALF_WAY
    return WEAK if weak else HOLDS

"""A whole analysis: the findings, and the scores of all clusterers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.agreement.agreements import adjusted_rand_index
from clustrep.algorithms.choice import Candidate, Choice, obstacle_to
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.headline import CAUTION, NEXT, SURE, Said, headline_of, sensitivity_sentence
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_known
from clustrep.data.values import completed
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import one_thread
from clustrep.files.saved import Saved
from clustrep.findings.annotations import Annotations, annotations_of
from clustrep.findings.cluster_tree import ClusterTree
from clustrep.findings.clustering_tree import ClusteringTree
from clustrep.findings.result import INCONCLUSIVE, Findings
from clustrep.findings.verdict import focus_of
from clustrep.null.null_scores import NullReference
from clustrep.plots.coordinates import EMBEDDINGS, in_two_dimensions
from clustrep.provenance import Provenance
from clustrep.text import notebook_html
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.data.studies import Studies


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Saved):
    """The results of `analyse`: the findings, and the scores of all clusterers.

    Attributes
    ----------
    findings : Findings
        Which clusters there are, in which studies, and the verdict: every statement is a view of it.
    comparison : Comparison
        All clusterers and numbers of clusters, on the aligned studies. Of a single study, its two random halves.
    reference : NullReference or None
        The scores beside their null distributions; None where clusters are separated, or without a null model.
    local : tuple of LocalReplicability
        Of the configuration in focus: every training study on every other.
    coordinates : ndarray, (n_samples, 2)
        Positions of all samples in figures, study by study: see `coordinates_of`.
    coordinate_names : tuple of str
        The names of the two axes.
    known_labels : ndarray of str, (n_samples,)
        Known labels of the samples, as text, study by study; "" where none are known: see `known_labels_of`.
    warnings : tuple of str
        Warnings that were given during the analysis, where they were recorded.
    tree : ClusterTree or None
        Clusters within the separated clusters; None where these were not looked for.
    clustering_tree : ClusteringTree or None
        How the clusters of one study divide as their number grows, and which replicate in the other studies; None
        without local scores, or with a single number of clusters.
    annotations : Annotations or None
        The clusters beside known labels, and beside all that `annotated` was given; None where nothing is known.
    alternatives : dict of str to int
        How many separated clusters there are with other scalings and numbers of clusters, 1 without any; empty where
        these were not tried.
    embedded : Comparison or None
        The same configurations in an embedding that is learned on every training study alone, where the analysis is of
        one embedding of all studies together: the page shows both scores. See `Report`.

    See Also
    --------
    analyse : The function that returns it.
    Findings, Comparison, Choice, LocalReplicability, NullReference : Its parts.
    """

    findings: Findings
    comparison: Comparison
    reference: NullReference | None
    local: tuple[LocalReplicability, ...]
    coordinates: FloatArray
    coordinate_names: tuple[str, ...]
    known_labels: NDArray[np.str_]
    warnings: tuple[str, ...] = ()
    tree: ClusterTree | None = None
    embedded: Comparison | None = None
    clustering_tree: ClusteringTree | None = None
    annotations: Annotations | None = None
    alternatives: dict[str, int] = field(default_factory=dict)
    _studies: Studies | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The studies."""
        return self.findings.names

    @property
    def verdict(self) -> str:
        """One of "separated", "continuous structure", "no evidence of clusters" and "inconclusive"."""
        return self.findings.verdict

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters; 1 without evidence of any, None where the verdict is inconclusive."""
        return None if self.verdict == INCONCLUSIVE else self.findings.n_clusters

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
    def focus(self) -> Candidate | None:
        """The configuration that is looked at closely; None where there is none."""
        return focus_of(self.findings, self.choice)

    @cached_property
    def headline(self) -> tuple[Said, ...]:
        """The answer in sentences: what it is, how sure that is, why, and what to do next."""
        obstacle = obstacle_to(self.comparison, self.focus)
        annotated = () if self.annotations is None else self.annotations.sentences or self._labels_beside_best
        said = headline_of(self.findings, self.choice, obstacle, self.replicability, annotated)
        is_sensitive, sentence = sensitivity_sentence(self.findings, self.alternatives)
        more = [Said(CAUTION if is_sensitive else SURE, sentence)] if sentence else []
        place = len(said) - (said[-1].kind == NEXT)
        return (*said[:place], *more, *said[place:])

    @property
    def _labels_beside_best(self) -> tuple[str, ...]:
        """Compare known labels with the partition of each study by the configuration in focus, without clusters."""
        ari = {}
        for local in self.local if self.findings.n_clusters < 2 else ():
            if (labels := self.known_labels_of(local.train)) is not None:
                ari[local.train] = adjusted_rand_index(local.labels[labels != ""], labels[labels != ""])
        if self.focus is None or not ari:
            return ()
        low, high = f"{min(ari.values()):z.2f}", f"{max(ari.values()):z.2f}"
        spread = low if low == high else f"{low} to {high}"
        return (
            f"No clusters are established. The best partition of each study by itself ({self.focus.label}) agrees with "
            f"the known labels with ARI {spread}.",
        )

    @cached_property
    def replicability(self) -> Replicability | None:
        """All pairs of studies in the configuration in focus."""
        focus = self.focus
        return None if focus is None else self.comparison.replicability(focus.clusterer, focus.n_clusters)

    @property
    def failures(self) -> Failures:
        """How many values failed, by cause: scores of the comparison, and resamples of what follows from it."""
        parts: list[Any] = [self.comparison, *self.local]
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
        """One row for every sample and other study: train, sample, cluster, test, scores, and where it is drawn.

        The cluster is that of the findings.
        """
        columns = ["train", "sample", "cluster", "test", "estimate", "mean", "sd", "low", "high", "x", "y"]
        labels, frames = self.findings.labels, []
        for local in self.local:
            frame = local.to_frame(confidence_level)
            frame["train"], frame["test"], frame["cluster"] = local.train, local.test, labels[local.train]
            frame["x"], frame["y"] = self.coordinates_of(local.train).T
            frames.append(frame[columns])
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def labels(self) -> pd.DataFrame:
        """One row for every sample: study, sample, cluster (A, B, C…; "?" where it has none)."""
        findings = self.findings
        study = np.repeat(np.array(findings.names, dtype=object), findings.sizes)
        cluster = np.concatenate(list(findings.labels.values()))
        return pd.DataFrame({"study": study, "sample": findings.samples.tolist(), "cluster": cluster.tolist()})

    def coordinates_of(self, study: str) -> FloatArray:
        """Return the positions of one study's samples in figures, (n_samples, 2)."""
        return self.coordinates[self._rows_of(study)]

    def known_labels_of(self, study: str) -> NDArray[np.str_] | None:
        """Return the known labels of one study's samples, as text; None where it has none."""
        labels = self.known_labels[self._rows_of(study)]
        return labels if (labels != "").any() else None

    def _rows_of(self, study: str) -> slice:
        """Return where the samples of one study are among those of all studies."""
        check_known(study, "study", self.names, parameter="study")
        place = self.names.index(study)
        ends = np.cumsum(self.findings.sizes)
        return slice(int(ends[place] - self.findings.sizes[place]), int(ends[place]))

    def annotated(self, table: Any, *, survival: tuple[str, str] | None = None) -> Analysis:
        """Return the same with clusters compared with annotations of the samples: see `Findings.annotations`.

        Parameters
        ----------
        table : DataFrame, or mapping of study name to DataFrame
            A row for each sample, and a column for each annotation.
        survival : (str, str), optional
            The columns of times and of events.

        Returns
        -------
        Analysis
            With the annotations in `annotations`, in the headline and on the page, beside known labels.
        """
        known = self.known_labels.tolist() if (self.known_labels != "").any() else None
        return replace(self, annotations=annotations_of(self.findings, table, survival, known))

    def placed(self, embedding: str) -> Analysis:
        """Return the same with samples placed in figures by principal components ("pca") or t-SNE ("tsne").

        Samples with one or two features are placed by these. A result that was read from a file has no features, and
        keeps its coordinates.
        """
        check_choice(embedding, "embedding", EMBEDDINGS)
        if self._studies is None:
            raise ParameterError(
                "embedding can't be chosen for a result that was read from a file: leave it out.", parameter="embedding"
            )
        coordinates, names = place_samples(self._studies, embedding)
        return replace(self, coordinates=coordinates, coordinate_names=names)

    def plot(self, ax: Axes | None = None, *, by: str = "cluster", embedding: str | None = None) -> Any:
        """Draw all samples as they were compared: after alignment and scaling.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        by : {"cluster", "study", "label"}, default="cluster"
            Coloured and shaped by cluster, or by known label; or a map for every study, coloured by cluster: returns an
            array of axes.
        embedding : {"pca", "tsne"}, default=None
            How samples with more than two features are placed: see `placed`. By default as `coordinates` has them,
            which `analyse` makes of principal components.
        """
        if embedding is not None:
            return self.placed(embedding).plot(ax, by=by)
        from clustrep.findings.plot import draw_samples, draw_studies
        from clustrep.plots.canvas import refuse_axes

        check_choice(by, "by", ("cluster", "study", "label"))
        clusters = np.concatenate(list(self.findings.labels.values()))
        if by == "study":
            refuse_axes(ax, by)
            return draw_studies(self.coordinates, self.names, self.findings.sizes, clusters)
        groups = clusters if by == "cluster" else np.where(self.known_labels == "", "unknown", self.known_labels)
        return draw_samples(self.coordinates, self.coordinate_names, groups, are_clusters=by == "cluster", ax=ax)

    def to_anndata(
        self, adata: Any, study_key: str | None = None, *, key_added: str = "clustrep", copy: bool = False
    ) -> Any:
        """Write clusters, statuses and scores of all cells into the AnnData that was analysed.

        Parameters
        ----------
        adata : AnnData
            The one that the studies were taken from, with the same cells in the same order.
        study_key : str, default=None
            The column of obs that names the study, as in `Studies.from_anndata`. By default the only column that
            names every study as often as the analysis has samples of it.
        key_added : str, default="clustrep"
            What the names of all that is written begin with.
        copy : bool, default=False
            Whether a copy is written to, instead of `adata` itself.

        Returns
        -------
        AnnData
            `adata`, or its copy, with, in obs, ``clustrep_cluster`` (A, B, C… of the findings; missing where a study
            cannot be matched), ``clustrep_status`` (of that cluster in the cell's study) and ``clustrep_local`` (the
            mean over other studies of the cell's local score); after ``recursive=True`` also ``clustrep_subcluster``,
            the smallest cluster of the tree that it is in. In obsm, ``clustrep_local`` has the local score in every
            other study. In uns, ``clustrep`` has the verdict, the headline and the tables `findings`, `clusters`,
            `studies`, `summary` and `scores`, and ``clustrep_cluster_colors`` the colours, as scanpy expects them.

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
        >>> analysis = analyse(KMeans(n_init=2), studies, n_clusters=2, n_resamples=3, n_null=0, rng=0)
        >>> analysis.to_anndata(adata, "lab").obs["clustrep_cluster"].value_counts().tolist()
        [60, 60]
        """
        from clustrep.analysis.annotated import annotate

        return annotate(adata, self, study_key, key_added, copy=copy)

    def __repr__(self) -> str:
        sentences = [said.text for said in self.headline]
        table = self.findings.statuses()
        tree = [] if self.tree is None else [repr(self.tree)]
        return "\n".join([f"Analysis of {', '.join(self.names)}", *sentences, table.to_string(), *tree])

    def _repr_html_(self) -> str:
        return notebook_html([said.text for said in self.headline], self.findings.statuses().reset_index())


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


def place_samples(studies: Studies, embedding: str = "pca") -> tuple[FloatArray, tuple[str, str]]:
    """Place all samples in two dimensions together, (number of samples, 2), and name these."""
    X = np.concatenate([completed(study.X) for study in studies.values()]).astype(float)
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), (studies.features[0], "")
    if X.shape[1] == 2:
        return X, (studies.features[0], studies.features[1])
    if embedding == "tsne":
        return in_two_dimensions(X, embedding)
    from sklearn.decomposition import PCA

    with one_thread():
        axes = PCA(2, random_state=0)
        placed = axes.fit_transform(X)
    first, second = axes.explained_variance_ratio_
    names = (f"first principal component ({first:.0%})", f"second principal component ({second:.0%})")
    return np.asarray(placed), names

"""Separated clusters: which density valleys between clusters are found again in studies that did not define them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from clustrep.agreement.cluster_indices import matching_of, pairs_of
from clustrep.agreement.contingency import NOISE, numbered, tables_of
from clustrep.algorithms.replicability import check_several
from clustrep.checks import check_n_clusters
from clustrep.data.studies import Studies, StudiesLike, as_studies
from clustrep.data.study import check_complete
from clustrep.data.values import completed
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Failed, Rng, Stream, make_generator, one_thread, seed_of
from clustrep.fitting.fingerprint import facts_of, identity_of
from clustrep.fitting.parameters import (
    Clusterer,
    Configuration,
    check_clusterer,
    configurations_of,
    n_clusters_parameter,
    name_of,
    takes_missing,
    with_starts,
)
from clustrep.fitting.resample import Source, provenance_of_run
from clustrep.fitting.setting import ClusteringPlan, Setting
from clustrep.provenance import Provenance
from clustrep.resampling.strategies import Rerun
from clustrep.separation.result import Separation
from clustrep.separation.valleys import (
    FILLED_NEARBY,
    LEFT,
    MIDDLE,
    RIGHT,
    WithinPieces,
    centres_of,
    gabriel_edges,
    join_pieces,
    near_counts,
    nearest_centre,
    place_in_windows,
    poorer_sides,
    spread_ties,
    valley_depth,
    valley_pvalue,
)
from clustrep.statistics import holm
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

EVERYTHING = "all studies"
# Pools are fitted from this number of random starts where that is cheap: a poor local optimum hides density valleys.
STARTS = 30
CHEAP = 5_000_000  # values times starts


def density_valleys(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    n_clusters: Any = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    n_landmarks: int | None = None,
) -> Separation:
    """Find clusters whose density valleys are found again in studies that did not define them.

    For every study, the clusterer learns pieces on the other studies, pooled. Features are divided by their spread
    within these pieces, up to 15 features with their correlations. Along the line between the centres of two
    neighbouring pieces, three windows of equal width are fixed before the held-out study is looked at: around either
    centre and around the middle. If the density along the line has one mode, the middle window holds at least as much
    as the poorer outer one, so a count M of the middle that is too small against the count P of the poorer side,

        p = P( Binomial(M + P, 1/2) ≤ M ),

    is evidence of a density valley, for every shape with one mode: skewed, flat or heavy-tailed. Counts are added over
    held-out studies. Pieces without a density valley between them are joined; what remains apart are the separated
    clusters.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Any: of its clusters only the centres are used. Samples that it calls noise, −1, define no cluster.
    studies : Studies, mapping of str to array-like, or sequence of array-like of shape (n_samples, n_features)
        At least two, on one scale.
    n_clusters : int or several, default=None
        Numbers of pieces to try; None: the clusterer's own.
    rng : int, Generator, SeedSequence or None, default=None
        The seed.
    n_jobs, n_landmarks
        As in `replicability`.

    Returns
    -------
    Separation
        `pvalue`, of shape (n_tried,), for every number of pieces; `n_separated` (1 where there is no density valley);
        `to_frame()` with a row for every pair of neighbouring pieces; `plot()`.

    See Also
    --------
    null_reference : Whether there is more structure than unimodal data have, with or without density valleys.
    analyse : Both, and what follows for the choice of k.

    Notes
    -----
    The test of one pair in one study is exact. The p-value of a number of pieces sums over all pairs and studies; the
    study's own shift, the width of the tube around a line and the overlap of windows make it approximate. How often
    unimodal data are called "separated" was simulated for many kinds of data: docs/exam.md.

    Of the clusterings that show clusters, the one is chosen that predicts the samples of held-out studies best: the
    mean log-likelihood under normal clusters of one covariance, with places, shares and covariance learned from the
    other studies (Smyth 2000). Of those within one standard error, one with valleys between all pieces is preferred.
    Pools are fitted from at least 30 random starts (`n_init`) where that is cheap, because a poor local optimum hides
    density valleys.

    Clusters closer than about 3.5 standard deviations hardly have a density valley and are rarely found. Discrete
    features are spread first, so that the distance between a feature's own values is no density valley. Curved continua
    have density valleys along their chords; a second look between the facing halves of the pieces rejects most of them,
    not all.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
       6, 65-70. The adjustment over pairs of pieces.
    .. [2] Hartigan, J. A. and Hartigan, P. M. (1985). The dip test of unimodality. Annals of Statistics 13(1), 70-84.
       The classical test of one mode against several, within one study and along one feature.
    .. [3] Smyth, P. (2000). Model selection for probabilistic clustering using cross-validated likelihood. Statistics
       and Computing 10(1), 63-72.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> studies = [rng.normal(size=(80, 2)) + rng.integers(0, 2, 80)[:, None] * [6, 0] for _ in range(3)]
    >>> result = density_valleys(KMeans(n_init=3), studies, n_clusters=range(2, 5), rng=0)
    >>> result.n_separated
    2
    """
    checked = check_several(as_studies(studies))
    check_clusterer(clusterer)
    has_number = n_clusters is not None and n_clusters_parameter(clusterer) is not None
    numbers = check_n_clusters(n_clusters) if has_number else None
    configurations = configurations_of(name_of(clusterer), clusterer, numbers)
    (result,) = separations(checked, [configurations], Source.of(Rerun(), rng, n_landmarks), n_jobs)
    return result


def separations(
    studies: Studies,
    clusterers: Sequence[Sequence[Configuration]],
    source: Source,
    n_jobs: int | None,
    share: float = 1.0,
) -> list[Separation]:
    """Look for density valleys by several clusterers; p-values are adjusted over all numbers of pieces of all of them.

    They are also divided by `share`, the part of the level that these studies have in a tree of tests.
    """
    if not all(takes_missing(each.clusterer) for configurations in clusterers for each in configurations):
        check_complete(tuple(studies.values()))
    by_name = [studies[name] for name in sorted(studies)]  # whatever their order
    X = np.concatenate([completed(study.X) for study in by_name]).astype(float)
    X = spread_ties(X, make_generator(seed_of(source.root, Stream.TIES, EVERYTHING, FULL_STUDY)))
    study_of = np.repeat(np.arange(len(by_name)), [len(study) for study in by_name])
    pools = [by_name[0].with_samples_of(by_name[1:], EVERYTHING)]
    for h, held_out in enumerate(by_name):
        first, *rest = [study for s, study in enumerate(by_name) if s != h]
        pools.append(first.with_samples_of(rest, f"all but {held_out.name}"))
    given = [configuration for configurations in clusterers for configuration in configurations]
    starts = min(STARTS, CHEAP // X.size)
    configurations = [replace(each, clusterer=with_starts(each.clusterer, starts)) for each in given]
    plan = PoolPlan(Setting.prepare(source, pools, configurations, each_alone=True))
    by_pool = run(plan, range(len(pools)), n_jobs)  # (n_pools, n_configurations)
    n_tried = sum(configuration.n_clusters != 1 for configuration in configurations)
    with one_thread():
        cuts = [cut_of(X, study_of, labels, max(n_tried, 1) / share) for labels in zip(*by_pool, strict=True)]
    # Where each sample, in the order of the studies as given, stands in the pool.
    order = np.concatenate([np.flatnonzero(study_of == sorted(studies).index(name)) for name in studies])
    results, begin = [], 0
    for members in clusterers:
        provenance = provenance_of_run(source, tuple(studies.values()), members)
        results.append(_result(studies, members, cuts[begin : begin + len(members)], order, provenance))
        begin += len(members)
    return results


@dataclass(frozen=True, eq=False)
class PoolPlan(ClusteringPlan["list[IntArray | Failed]"]):
    """Learn every configuration from one pool of studies: all of them, or all but one."""

    description = "density valleys"
    unit = "pools of studies"

    @property
    def facts(self) -> dict[str, str]:
        """What labels follow from, apart from the configurations."""
        return facts_of(self.setting.source, self.setting.studies)

    @property
    def parts(self) -> tuple[str, ...]:
        """One part for each configuration."""
        return tuple(identity_of(configuration.clusterer) for configuration in self.configurations)

    def only(self, places: Sequence[int]) -> PoolPlan:
        """Return a plan with some of the configurations."""
        setting, chosen = self.setting, [self.configurations[place] for place in places]
        return PoolPlan(Setting.prepare(setting.source, setting.studies, chosen, each_alone=True))

    def split_value(self, value: list[IntArray | Failed]) -> list[list[IntArray | Failed]]:
        """Divide labels by configuration."""
        return [[labels] for labels in value]

    def join_values(self, values: Sequence[list[IntArray | Failed]]) -> list[IntArray | Failed]:
        """Put the labels of all configurations together."""
        return [labels for value in values for labels in value]

    def replicate(self, number: int) -> list[IntArray | Failed]:
        """Return the labels of the pool's samples by every configuration."""
        labels: list[IntArray | Failed] = []
        for learner in self.setting.learners:
            (learned,) = learner.learn([self.setting.resample(number, FULL_STUDY)])
            for member in range(len(learner.members)):
                labelled = learned.labels(member, [self.setting.places[number]])
                labels.append(labelled if isinstance(labelled, Failed) else numbered(labelled.at(0).labels))
        return labels


# ---------------------------------------------------------------------------------------------------------------------
# one number of pieces


def _renamed(reference: IntArray, labels: IntArray, n_pieces: int) -> IntArray:
    """Give pieces the names of the reference's pieces with which they share most samples; −1 without a partner."""
    known = (reference >= 0) & (labels >= 0)
    shape = (n_pieces, int(labels.max(initial=0)) + 1)
    table = tables_of(reference[None, known], labels[known], None, shape)[0]
    rows, columns = matching_of(table)
    names = np.full(shape[1] + 1, NOISE)  # the last is noise itself
    names[columns] = rows
    return names[labels]


@dataclass(frozen=True, eq=False)
class Cut:
    """The density valleys between the pieces of one clustering.

    Attributes
    ----------
    labels : ndarray of int, shape (n_samples,)
        The piece of every sample; −1 for noise.
    cluster_of_piece : ndarray of int, shape (n_pieces,)
        Which pieces belong together, before the facing halves were looked at; 0 where nothing is significant.
    pvalue, adjusted : float
        Is there any density valley; `adjusted` for all clusterings that were tried.
    depth : float
        1 − middle / poorer side, over all pairs of neighbouring pieces.
    near_depth : float
        The same between the facing halves of pieces of different clusters; NaN where it was not needed.
    strength : float
        Prediction strength across studies, of the worst piece.
    log_likelihoods : ndarray of shape (n_samples,)
        Of every sample, under clusters that were learned without its study; NaN where that failed.
    n_separated : int
        The number of clusters; 1 unless it is significant and the middle between the facing halves is empty.
    edges : ndarray of int, shape (n_edges, 2)
        The pairs of neighbouring pieces.
    counts : ndarray of int, shape (n_edges, S, 3)
        Held-out samples in the left, middle and right window, by study.
    sides : ndarray of int, shape (n_edges,)
        The counts of the poorer sides, with which the middles are compared.
    edge_pvalues : ndarray of shape (n_edges,)
        Of every pair by itself.
    positions : ndarray of shape (n_samples, n_edges)
        Where samples lie along the lines: centres at −1.5 and 1.5, NaN outside the tube.
    """

    labels: IntArray
    cluster_of_piece: IntArray
    pvalue: float
    adjusted: float
    depth: float
    near_depth: float
    strength: float
    log_likelihoods: FloatArray
    n_separated: int
    edges: IntArray
    counts: IntArray
    sides: IntArray
    edge_pvalues: FloatArray
    positions: FloatArray

    @property
    def n_pieces(self) -> int:
        """The number of pieces."""
        return len(self.cluster_of_piece)

    @property
    def joined(self) -> int:
        """The number of clusters, before the facing halves were looked at."""
        return int(self.cluster_of_piece.max(initial=0)) + 1

    @property
    def evidence(self) -> float:
        """Return the mean log-likelihood of held-out samples; −inf without clusters, or where a pool failed."""
        mean = float(self.log_likelihoods.mean()) if self.n_separated > 1 else -np.inf
        return -np.inf if np.isnan(mean) else mean


def cut_of(X: FloatArray, study: IntArray, by_pool: Sequence[IntArray | Failed], multiplicity: float) -> Cut:
    """Look for valleys between the pieces of one clustering; p-values are multiplied by `multiplicity`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples of all studies, ties spread.
    study : ndarray of int, shape (n_samples,)
        The position of every sample's study.
    by_pool : sequence of ndarray
        The pieces of all samples, −1 for noise; then those learned without the first study, without the second, …
    """
    reference, *folds = by_pool
    if isinstance(reference, Failed):
        reference, folds = np.full(len(X), NOISE), [reference] * len(folds)
    m = int(reference.max()) + 1
    # By held-out study, the training samples' pieces, under the reference's names.
    by_fold = {
        h: _renamed(reference[study != h], labels, m)
        for h, labels in enumerate(folds)
        if not isinstance(labels, Failed)
    }
    edges = gabriel_edges(centres_of(X, reference, m)) if m > 1 else np.empty((0, 2), dtype=np.int64)
    members = np.zeros((len(X), len(edges), 3), dtype=bool)
    positions, predicted = np.full((len(X), len(edges)), np.nan), np.full(len(X), NOISE)
    log_likelihoods = np.full(len(X), np.nan)
    for h, fold in by_fold.items():
        held_out = study == h
        shares = np.bincount(fold[fold >= 0], minlength=m) / len(fold)
        centres = centres_of(X[~held_out], fold, m)
        predicted[held_out] = nearest_centre(X[held_out], centres)
        metric = WithinPieces.of(X[~held_out], fold, m)
        places, centres = metric.whitened(X[held_out]), metric.whitened(centres)
        members[held_out], positions[held_out] = place_in_windows(places, centres, edges, shares)
        log_likelihoods[held_out] = _log_likelihoods(places, centres, shares) - metric.log_determinant
    counts = np.array([members[study == h].sum(axis=0) for h in range(len(folds))])  # (S, n_edges, 3)
    poorer = np.array([poorer_sides(counts[:, e]) for e in range(len(edges))], dtype=np.int64).reshape(-1, len(counts))
    in_side = np.where(poorer.T[study] == LEFT, members[:, :, LEFT], members[:, :, RIGHT])
    in_middle = members[:, :, MIDDLE]
    middle, side = in_middle.sum(axis=0), in_side.sum(axis=0)
    pvalue = valley_pvalue(in_middle, in_side)
    adjusted = min(1.0, multiplicity * pvalue)
    cluster_of_piece: IntArray = np.zeros(max(m, 1), dtype=np.int64)
    if adjusted <= FALSE_FINDING:
        cluster_of_piece = join_pieces(m, edges, middle, side)
    joined, near_depth = int(cluster_of_piece.max()) + 1, np.nan
    if joined > 1 and joined >= m - 1:  # a finer cut of a continuum has many pieces without a density valley
        near_depth = _near_depth(X, study, by_fold, edges, cluster_of_piece)
    n_separated = joined if near_depth >= 1 - FILLED_NEARBY else 1
    return Cut(
        labels=reference,
        cluster_of_piece=cluster_of_piece,
        pvalue=pvalue,
        adjusted=adjusted,
        depth=1 - middle.sum() / side.sum() if side.sum() else np.nan,
        near_depth=near_depth,
        strength=_strength(reference, predicted, study, m),
        log_likelihoods=log_likelihoods,
        n_separated=n_separated,
        edges=edges,
        counts=np.moveaxis(counts, 0, 1),
        sides=side,
        edge_pvalues=np.array([valley_pvalue(in_middle[:, [e]], in_side[:, [e]]) for e in range(len(edges))]),
        positions=positions,
    )


def _strength(reference: IntArray, predicted: IntArray, study: IntArray, m: int) -> float:
    """Return the prediction strength across studies, of the worst of m pieces.

    Of the pairs of samples of one study in one part, it is the share that is still in one part when the parts are
    learned from the other studies.
    """
    known = (reference >= 0) & (predicted >= 0)
    rows_of = [known & (study == h) for h in range(int(study.max()) + 1)]
    tables = [tables_of(reference[None, rows], predicted[rows], None, (m, m))[0] for rows in rows_of]
    pairs, together = (counts.sum(axis=0) for counts in pairs_of(np.array(tables, dtype=float)))
    return float(np.min(together / np.maximum(pairs, 1.0), where=pairs > 0, initial=1.0))


def _log_likelihoods(X: FloatArray, centres: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the log-likelihood of every sample, up to a constant, under normal clusters of unit variance."""
    there = np.flatnonzero(shares)
    squared = (X**2).sum(axis=1)[:, None] - 2 * X @ centres[there].T + (centres[there] ** 2).sum(axis=1)
    return np.asarray(logsumexp(np.log(shares[there]) - squared / 2, axis=1))


def _near_depth(
    X: FloatArray, study: IntArray, by_fold: Mapping[int, IntArray], edges: IntArray, cluster_of_piece: IntArray
) -> float:
    """Return the depth of the valley between the facing halves of pieces of different clusters."""
    between = edges[cluster_of_piece[edges[:, 0]] != cluster_of_piece[edges[:, 1]]]
    turned = cluster_of_piece[between[:, 0]] > cluster_of_piece[between[:, 1]]
    between[turned] = between[turned][:, ::-1]
    m = len(cluster_of_piece)
    counts = np.array(
        [
            near_counts(WithinPieces.of(X[study != h], fold, m).whitened(X), study != h, fold, between, m)
            for h, fold in by_fold.items()
        ]
    )
    side = counts[np.arange(len(counts)), poorer_sides(counts)].sum()
    return 1 - float(counts[:, MIDDLE].sum() / side) if side else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# the result


def choose(cuts: Sequence[Cut]) -> int | None:
    """Return the cut that shows the clusters; None where there are none.

    Of the significant cuts with at most one pair of pieces joined, that with the smallest p-value must be empty between
    facing halves. Of those that are, the one is taken that predicts held-out samples best: p-values and the numbers of
    density valleys prefer cuts that are too fine, prediction strength those that are too coarse (decision 0010). Among
    those that predict as well, within one standard error, cuts are preferred that have valleys between all pieces.
    """
    candidates = [
        i
        for i, cut in enumerate(cuts)
        if cut.adjusted <= FALSE_FINDING and cut.joined > 1 and cut.joined >= cut.n_pieces - 1
    ]
    if not candidates or cuts[min(candidates, key=lambda i: cuts[i].pvalue)].n_separated == 1:
        return None
    shown = [i for i in candidates if cuts[i].n_separated > 1]
    best = cuts[max(shown, key=lambda i: cuts[i].evidence)]

    def preferred(i: int) -> tuple[bool, float]:
        if np.isinf(cuts[i].evidence):
            return False, -np.inf
        worse = best.log_likelihoods - cuts[i].log_likelihoods
        is_as_good = worse.mean() <= worse.std() / np.sqrt(len(worse))
        return is_as_good and cuts[i].n_separated == cuts[i].n_pieces, cuts[i].evidence

    return max(shown, key=preferred)


def clusters_of_chosen(cuts: Sequence[Cut], chosen: int) -> IntArray:
    """Return the cluster of every piece: pieces stay apart where a cut into fewer was tried and explains less."""
    cut = cuts[chosen]
    fewer_tried = any(other.n_pieces == cut.joined for other in cuts)
    return np.arange(cut.n_pieces) if fewer_tried else cut.cluster_of_piece


# What a result has of every number of pieces.
OF_CUTS = ("pvalue", "adjusted", "depth", "near_depth", "strength", "evidence")


def _result(
    studies: Studies, members: Sequence[Configuration], cuts: Sequence[Cut], order: IntArray, provenance: Provenance
) -> Separation:
    chosen = choose(cuts)
    labels: Any = np.zeros(len(order), dtype=np.int64)
    if chosen is not None:
        cut, clusters = cuts[chosen], clusters_of_chosen(cuts, chosen)
        labels = np.asarray(np.where(cut.labels >= 0, clusters[np.maximum(cut.labels, 0)], NOISE)[order])
    ranks = np.argsort(sorted(range(len(studies)), key=lambda s: studies.names[s]))  # of studies, by name
    depths = [
        [valley_depth(int(m), int(s)) for m, s in zip(cut.counts[:, :, MIDDLE].sum(axis=1), cut.sides, strict=True)]
        for cut in cuts
    ]
    n_edges = [len(cut.edges) for cut in cuts]
    return Separation(
        clusterer=members[0].name,
        names=studies.names,
        sizes=np.array([len(study) for study in studies.values()]),
        n_clusters=tuple(configuration.n_clusters for configuration in members),
        **{name: np.array([getattr(cut, name) for cut in cuts]) for name in OF_CUTS},
        n_separated_by_k=np.array([cut.n_separated for cut in cuts]),
        complete=np.array([cut.n_separated > 1 and cut.n_separated == cut.n_pieces for cut in cuts]),
        chosen=-1 if chosen is None else chosen,
        labels=labels,
        pieces=np.stack([cut.labels[order] for cut in cuts]),
        edge_cut=np.repeat(np.arange(len(cuts)), n_edges),
        edges=np.concatenate([cut.edges for cut in cuts]),
        edge_counts=np.concatenate([cut.counts[:, ranks] for cut in cuts]),
        edge_sides=np.concatenate([cut.sides for cut in cuts]),
        edge_depths=np.array([row for rows in depths for row in rows], dtype=float).reshape(-1, 3),
        edge_pvalues=np.concatenate([cut.edge_pvalues for cut in cuts]),
        edge_adjusted=np.concatenate([holm(cut.edge_pvalues) for cut in cuts]),
        edge_is_open=np.concatenate([np.diff(cut.cluster_of_piece[cut.edges])[:, 0] != 0 for cut in cuts]),
        positions=np.concatenate([cut.positions[order].T for cut in cuts]).astype(np.float32),
        provenance=provenance,
    )

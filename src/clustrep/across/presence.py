"""Each cluster of each study in every other study: present, absent, split or merged; and samples that are new there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import betainc

from clustrep.across.gaps import LEFT, MIDDLE, RIGHT, gabriel_edges, gap_pvalue, place_in_windows, spread_ties
from clustrep.across.likeness import (
    SAME_CUT,
    Clusters,
    count_strays,
    distances_either_way,
    find_shift,
    is_rare,
    links,
    same_in_cut,
    with_groups,
    word_of,
)
from clustrep.across.own_groups import FEWEST, log_odds_of_filled, own_groups
from clustrep.across.replicability import check_several
from clustrep.across.separation import EVERYTHING
from clustrep.checks import check_integer
from clustrep.clustering.landmarks import Sketch
from clustrep.clustering.parameters import Clusterer, check_clusterer, n_clusters_parameter, name_of, with_n_clusters
from clustrep.clustering.sample import Configuration, Source, provenance_of_run
from clustrep.clustering.sketch import learn_from_landmarks
from clustrep.engine.engines import EngineLike
from clustrep.engine.replicates import (
    FULL_STUDY,
    Failed,
    Rng,
    Stream,
    attempt,
    make_generator,
    one_thread,
    seed_of,
)
from clustrep.engine.run import Plan, on_engine, run
from clustrep.errors import ParameterError
from clustrep.resampling import Rerun
from clustrep.results.base import FALSE_FINDING
from clustrep.results.groups import Separation
from clustrep.results.presence_words import CANT_TELL, NEW, PRESENT, SPLIT, Presence
from clustrep.studies.collection import StudiesLike, as_studies
from clustrep.studies.missing_values import completed
from clustrep.studies.study import Study
from clustrep.tables.contingency import tables_of
from clustrep.tables.noise import NOISE, numbered
from clustrep.types import FloatArray, IntArray


@on_engine
def presence(
    clusterer: Clusterer,
    studies: StudiesLike,
    groups: Separation | int,
    *,
    n_clusters: int | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Presence:
    """Classify each cluster of each study by its presence in every other study.

    Every study has its own number of clusters: the separated groups that it has, joined where its own samples fill the
    gap between two of them; or those of the clusterer with a larger number, where a gap within a group is found again
    in samples that were left out. Clusters of two studies are compared by the distance of their centres, in standard
    deviations of the training cluster.

    - present: one cluster of the test study is like it, and like no other
    - absent: none is, and its share is less than half of that in the training study (exact binomial test)
    - split: two or more clusters of the test study, with a gap between them, are like it or lie on both sides of it
    - merged: it shares a cluster of the test study with a neighbour
    - can't tell: none is like it, but the test study is too small to say that it is absent
    - new: samples of a cluster of the test study that is like no cluster of the training study

    Where no study has a gap, clusters are a cut of one piece: a cluster is present where the test study's own cut
    repeats it, and otherwise one can't tell. A study on which the clusterer fails has no clusters there.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        Without a parameter for the number of clusters it is used as it is in every study.
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, on one scale.
    groups : Separation or int
        The groups of the same studies, or the number of clusters of a cut.
    n_clusters : int, optional
        The number of clusters of a cut, where no study has a gap; by default the clusterer as it is.
    rng : int, Generator, SeedSequence or None
        The seed.
    n_jobs, engine
        As in `replicability`.

    Returns
    -------
    Presence
        `.to_frame()` with a row for every cluster and other study, `.table()` clusters × studies.

    See Also
    --------
    separation : the groups that all studies together have.

    Notes
    -----
    How often the words are right was simulated: `make presence-calibration`. A gap within a single study needs more
    samples than one that many studies share: with less than about 40 samples in a cluster, or more features than
    samples in it, a split is rarely found and the cluster is called present. Studies must not be scaled one by one
    where some lack a cluster: their means would move.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.across.separation import separation
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0, 0], [6, 0], [0, 6]])
    >>> kinds = {"a": 3, "b": 3, "c": 2}
    >>> studies = {name: rng.normal(size=(80, 2)) + centres[rng.integers(0, k, 80)] for name, k in kinds.items()}
    >>> groups = separation(KMeans(n_init=3), studies, n_clusters=range(2, 5), rng=0)
    >>> result = presence(KMeans(n_init=3), studies, groups, rng=0)
    >>> result.to_frame().query("train == 'a'")["word"].value_counts().to_dict()
    {'present': 5, 'absent': 1}
    """
    checked = check_several(as_studies(studies))
    check_clusterer(clusterer)
    if isinstance(groups, Separation):
        _check_same_studies(groups, checked.names, [len(study) for study in checked.values()])
    else:
        n_clusters = check_integer(groups, "groups")
    if n_clusters is not None:
        check_integer(n_clusters, "n_clusters")
    source = Source.of(Rerun(), rng)
    configuration = Configuration(name_of(clusterer), clusterer)
    learner = clusterer if source.transformer is None else _after_transformer(clusterer, source.transformer)
    plan = OwnClustersPlan.of([checked[name] for name in sorted(checked)], learner, groups, n_clusters, source.root)
    plan = replace(plan, sketch=source.sketch)
    own_clusters = _with_gaps_of_others(plan, run(plan, range(len(checked)), n_jobs))
    by_gaps = any(groups.max() > 0 for groups in [*plan.groups, *(study.groups for study in own_clusters)])
    with one_thread():
        clusters = _clusters(plan, own_clusters, by_gaps)
        rows = [
            row
            for s, train in enumerate(checked)
            for t, test in enumerate(checked)
            if s != t
            for row in _rows(s, t, (train, test), clusters[train], clusters[test], by_gaps)
        ]
    return Presence(
        clusterer=configuration.name,
        names=checked.names,
        sizes=np.array([len(study) for study in checked.values()]),
        n_clusters=np.array([len(clusters[name].clusters.sizes) for name in checked]),
        by_gaps=by_gaps,
        labels=np.concatenate([clusters[name].shown for name in checked]),
        train=np.array([row.train for row in rows], dtype=np.int64),
        test=np.array([row.test for row in rows], dtype=np.int64),
        cluster=np.array([row.cluster for row in rows], dtype=np.int64),
        word=np.array([row.word for row in rows], dtype=np.str_),
        partner=np.array([row.partner for row in rows], dtype=np.str_),
        n_like=np.array([row.n_like for row in rows], dtype=np.int64),
        expected=np.array([row.expected for row in rows]),
        gap_pvalue=np.array([row.gap_pvalue for row in rows]),
        provenance=provenance_of_run(source, tuple(checked.values()), [configuration], n_clusters=n_clusters),
    )


def _after_transformer(clusterer: Clusterer, transformer: Any) -> Clusterer:
    from clustrep.clustering.prepared import with_transformer

    return with_transformer(clusterer, transformer)


def _check_same_studies(groups: Separation, names: Sequence[str], sizes: Sequence[int]) -> None:
    if groups.names != tuple(names) or groups.sizes.tolist() != list(sizes):
        raise ParameterError(
            "groups must be the separation of the same studies in the same order: it is of "
            f"{dict(zip(groups.names, groups.sizes.tolist(), strict=True))}, the studies are "
            f"{dict(zip(names, sizes, strict=True))}.",
            parameter="groups",
        )


# ---------------------------------------------------------------------------------------------------------------------
# the clusters of every study


class Own(NamedTuple):
    """What a study's own clusters are, with gaps and without."""

    groups: IntArray  # (n,): by gaps
    pvalue: float  # of the gaps that split a group in this study; NaN where none did
    cut: list[IntArray]  # by study: the clusters of all samples, with the number of a cut; empty where it failed


@dataclass(frozen=True, eq=False)
class OwnClustersPlan(Plan[Own]):
    """Find the clusters of one study; replicates are studies, in the order of their names."""

    studies: list[Study]
    spread: list[FloatArray]  # the same, without ties
    groups: list[IntArray]  # by study: groups of all studies together
    reference: list[IntArray]  # by study: clusters of all studies together, in a cut; the groups where it is not known
    clusterer: Clusterer
    n_clusters: int | None  # of a cut
    root: int
    sketch: Sketch | None = None

    description = "presence"

    @classmethod
    def of(
        cls, studies: list[Study], clusterer: Clusterer, groups: Separation | int, n_clusters: int | None, root: int
    ) -> OwnClustersPlan:
        """Put everything in the order of the studies' names; missing values are completed."""
        studies = [study.with_table(completed(study.X)) for study in studies]
        ends = np.cumsum([len(study) for study in studies])[:-1]
        X = np.concatenate([study.X for study in studies]).astype(float)
        spread = np.split(spread_ties(X, make_generator(seed_of(root, Stream.TIES, EVERYTHING, FULL_STUDY))), ends)
        of_groups: list[IntArray] = [np.zeros(len(study), dtype=np.int64) for study in studies]
        reference = of_groups
        if isinstance(groups, Separation):
            of_groups = reference = _by_study(groups, groups.labels, studies)
            if n_clusters in groups.n_clusters:
                reference = _by_study(groups, groups.pieces[groups.place_of(n_clusters)], studies)
        return cls(studies, spread, of_groups, reference, clusterer, n_clusters, root)

    def replicate(self, number: int) -> Own:
        """Find the clusters of one study."""
        name, X = self.studies[number].name, self.spread[number]
        others = [s for s in range(len(self.studies)) if s != number]
        has_number = n_clusters_parameter(self.clusterer) is not None
        order = make_generator(seed_of(self.root, Stream.SPLIT, name, FULL_STUDY)).permutation(len(X))

        def cut_in(rows: FloatArray, k: int, call: int) -> IntArray | None:
            return next(iter(self.fit(rows, name, call, k, [rows])), None)

        groups, pvalue = own_groups(
            X,
            self.groups[number],
            np.concatenate([self.spread[s] for s in others]),
            np.concatenate([self.groups[s] for s in others]),
            cut_in if has_number else None,
            order,
        )
        raw, tables = self.studies[number].X, [study.X for study in self.studies]
        cut_number = self.n_clusters if has_number else None
        cut: list[IntArray] = [np.zeros(len(table), dtype=np.int64) for table in tables]
        if cut_number != 1:
            cut = self.fit(raw, name, FULL_STUDY, cut_number, tables)
        return Own(groups, pvalue, cut)

    def fit(
        self, rows: FloatArray, name: str, call: int, n_clusters: int | None, tables: Sequence[FloatArray]
    ) -> list[IntArray]:
        """Fit the clusterer to rows, and return the labels of tables; nothing where it fails."""
        clusterer = self.clusterer if n_clusters is None else with_n_clusters(self.clusterer, n_clusters)
        seed = seed_of(self.root, Stream.FIT, name, call, n_clusters)
        function = attempt(learn_from_landmarks, clusterer, rows, seed, self.sketch)
        if isinstance(function, Failed):
            return []
        labels = attempt(lambda: [function.labels(table) for table in tables])
        if isinstance(labels, Failed):
            return []
        return np.split(numbered(np.concatenate(labels)), np.cumsum([len(table) for table in tables])[:-1])


def _with_gaps_of_others(plan: OwnClustersPlan, own_clusters: Sequence[Own]) -> list[Own]:
    """Look in every study for the gaps that only other studies showed so far: there, less evidence is enough."""
    if n_clusters_parameter(plan.clusterer) is None:
        return list(own_clusters)
    with one_thread():
        clusters = [Clusters.of(X, study.groups) for X, study in zip(plan.spread, own_clusters, strict=True)]
        result = []
        for t, study in enumerate(own_clusters):
            refined = [s for s, other in enumerate(own_clusters) if s != t and not np.isnan(other.pvalue)]
            more = max((_gaps_of(clusters[s], clusters[t]) for s in refined), default=0)
            if more:
                raw, k = plan.studies[t].X, int(study.groups.max()) + 1 + more
                labels = next(iter(plan.fit(raw, plan.studies[t].name, FULL_STUDY, k, [raw])), None)
                if labels is not None and labels.min() >= 0 and np.bincount(labels, minlength=k).min() >= FEWEST:
                    study = study._replace(groups=labels)
            result.append(study)
    return result


def _gaps_of(train: Clusters, test: Clusters) -> int:
    """Count the gaps of a training study that are likelier there than not within single clusters of a test study."""
    linked = links(train, test)
    count = 0
    for j in range(len(test.sizes)):
        members = np.flatnonzero(linked[:, j])
        if len(members) < 2:
            continue
        edges = members[gabriel_edges(train.centres[members])]
        within = test.X[test.labels == j]  # what lies elsewhere may seem to fill the gap
        windows = place_in_windows(within, train.centres, edges, train.sizes / len(train.X))
        group = np.arange(len(train.sizes))
        for (a, b), counts in zip(edges, windows.members.sum(axis=0), strict=True):
            side = int(min(counts[LEFT], counts[RIGHT]))
            if side == 0 or log_odds_of_filled(int(counts[MIDDLE]), side) > 0:
                group[group == group[b]] = group[a]
        count += len(np.unique(group[members])) - 1
    return count


def _by_study(groups: Separation, labels: IntArray, studies: Sequence[Study]) -> list[IntArray]:
    """Put labels of all samples in the order of these studies."""
    parts = dict(zip(groups.names, np.split(labels, np.cumsum(groups.sizes)[:-1]), strict=True))
    return [parts[study.name] for study in studies]


class Shown(NamedTuple):
    """The clusters of one study under the numbers that are shown."""

    clusters: Clusters
    numbers: IntArray  # (k,): of each cluster
    called: IntArray  # (k,): the same as shown, by the clustering of all studies together that is in focus
    n_groups: int  # numbers below it are groups of all studies together; 0 where these are not separated
    pvalue: float  # of the gaps that split a group in this study
    elsewhere: dict[str, IntArray]  # by study: the samples' clusters by this study's function, in a cut

    @property
    def shown(self) -> IntArray:
        """The cluster of every sample; −1 for noise."""
        return np.append(self.called, NOISE)[self.clusters.labels]


def _clusters(plan: OwnClustersPlan, own_clusters: Sequence[Own], by_gaps: bool) -> dict[str, Shown]:
    """Number the clusters of every study like the clusters of all studies together that they share most with."""
    n_groups = max(int(groups.max(initial=0)) for groups in plan.groups) + 1
    n_reference = max(int(pieces.max(initial=0)) for pieces in plan.reference) + 1
    result = {}
    for s, (study, clusters) in enumerate(zip(plan.studies, own_clusters, strict=True)):
        failed = not by_gaps and not clusters.cut
        labels = clusters.groups if by_gaps else np.full(len(study), NOISE) if failed else clusters.cut[s]
        kept = np.unique(labels[labels >= 0])
        most = max(int(cut.max(initial=-1)) for cut in [labels, *clusters.cut])
        renumber = np.full(most + 2, NOISE)  # the last is noise itself
        renumber[kept] = np.arange(len(kept))
        labels = renumber[labels]
        elsewhere = {}
        if not by_gaps and not failed:
            elsewhere = {plan.studies[t].name: renumber[cut] for t, cut in enumerate(clusters.cut)}
        reference = plan.groups[s] if by_gaps else plan.reference[s]
        numbers = _numbers(labels, reference, n_groups)
        shown = Clusters.of(plan.spread[s], labels)
        called = _numbers(labels, plan.reference[s], n_reference)
        result[study.name] = Shown(shown, numbers, called, n_groups if n_groups > 1 else 0, clusters.pvalue, elsewhere)
    return result


def _numbers(labels: IntArray, reference: IntArray, n_reference: int) -> IntArray:
    """Return the reference cluster that each cluster is, one to one; those without one are numbered after them."""
    k = int(labels.max(initial=-1)) + 1
    known = (labels >= 0) & (reference >= 0)
    n_reference = max(n_reference, int(reference.max(initial=0)) + 1)
    table = tables_of(labels[None, known], reference[known], None, (k, n_reference))[0]
    numbers = np.full(k, -1)
    rows, columns = linear_sum_assignment(-table)
    shared = table[rows, columns] > 0
    numbers[rows[shared]] = columns[shared]
    numbers[numbers < 0] = n_reference + np.arange((numbers < 0).sum())
    return numbers


# ---------------------------------------------------------------------------------------------------------------------
# words


class Row(NamedTuple):
    """The presence of one cluster in one study, or the samples that are new there."""

    train: int
    test: int
    cluster: int
    word: str
    partner: str
    n_like: int
    expected: float
    gap_pvalue: float


def _rows(s: int, t: int, names: tuple[str, str], train: Shown, test: Shown, by_gaps: bool) -> list[Row]:
    rows = rows_of_groups(s, t, train, test) if by_gaps else _rows_of_cut(s, t, names, train, test)
    return sorted(rows, key=lambda row: (row.cluster < 0, row.cluster))


def rows_of_groups(s: int, t: int, train: Shown, test: Shown) -> list[Row]:
    """Find a word for every cluster of a training study in a test study, and the samples that are new there."""
    a, b = train.clusters, test.clusters
    n = len(b.X)
    shift = find_shift(a, b)
    linked = links(a, b)
    same_group = (train.numbers[:, None] == test.numbers) & (train.numbers < train.n_groups)[:, None]
    linked = with_groups(linked, distances_either_way(a, b, shift), same_group)
    rows = []
    for i, number in enumerate(train.called):
        partners = np.flatnonzero(linked[i])
        n_like = int(b.sizes[partners].sum()) if len(partners) else count_strays(a, i, b, shift)
        share = a.sizes[i] / len(a.X)
        word = word_of(linked, i, is_rare(n_like, n, share))
        pvalue = test.pvalue if word == SPLIT else gap_to_neighbour(a, i, b)
        rows.append(Row(s, t, int(number), word, _listed(test.called[partners]), n_like, n * share, pvalue))
    new = np.flatnonzero(~linked.any(axis=0))
    if len(new):
        rows.append(Row(s, t, NOISE, NEW, _listed(test.called[new]), int(b.sizes[new].sum()), 0.0, np.nan))
    return rows


def _listed(numbers: IntArray) -> str:
    return ", ".join(str(number) for number in sorted(numbers.tolist()))


def gap_to_neighbour(train: Clusters, i: int, test: Clusters) -> float:
    """Return the p-value of a gap, in the test study, between training cluster i and its nearest neighbour."""
    if len(train.sizes) < 2:
        return np.nan
    squared = ((train.centres - train.centres[i]) ** 2).sum(axis=1)
    squared[i] = np.inf
    edge = np.array([[i, int(squared.argmin())]])
    members = place_in_windows(test.X, train.centres, edge, train.sizes / len(train.X)).members
    counts = members.sum(axis=0)[0]
    if min(counts[LEFT], counts[RIGHT]) == 0:
        return np.nan
    poorer = LEFT if counts[LEFT] <= counts[RIGHT] else RIGHT
    return gap_pvalue(members[:, :, MIDDLE], members[:, :, poorer])


def _rows_of_cut(s: int, t: int, names: tuple[str, str], train: Shown, test: Shown) -> list[Row]:
    """Compare two cuts of the test study's samples: a cluster is present where more than half of it is repeated."""
    by_train = train.elsewhere.get(names[1])
    rows = []
    for i, number in enumerate(train.called):
        n, share = len(test.clusters.X), train.clusters.sizes[i] / len(train.clusters.X)
        if by_train is None or not len(test.numbers):
            rows.append(Row(s, t, int(number), CANT_TELL, "", 0, n * share, np.nan))
            continue
        j, shared, either = same_in_cut(by_train, test.clusters.labels, i)
        word = PRESENT if is_repeated(shared, either) else CANT_TELL
        partner = str(test.called[j]) if j >= 0 else ""
        n_like = int((by_train == i).sum())
        rows.append(
            Row(s, t, int(number), word, partner, n_like, n * share, gap_to_neighbour(train.clusters, i, test.clusters))
        )
    return rows


def is_repeated(shared: int, either: int) -> bool:
    """Whether the Jaccard overlap of two clusters is above SAME_CUT with 95 % confidence: exact binomial test."""
    # P(Binomial(either, SAME_CUT) >= shared)
    return shared > 0 and bool(betainc(shared, either - shared + 1, SAME_CUT) <= FALSE_FINDING)

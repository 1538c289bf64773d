"""From studies to findings: coordinates, clusters of each study, matching, statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.data.values import completed
from clustrep.execution.run import run
from clustrep.execution.seeds import Failed, Stream, make_generator, one_thread, seed_of
from clustrep.findings.coordinates import AS_GIVEN, coordinates_of, within_sd, without_extremes
from clustrep.findings.model import Model, model_of
from clustrep.findings.own import OwnClusters, Propose
from clustrep.findings.result import INCONCLUSIVE, SEPARATED, Findings, letters, nothing_established
from clustrep.findings.status import entries_of, is_continuous, status_by_counts, with_splits, without_tails
from clustrep.fitting.parameters import Configuration, configurations_of, with_starts
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.separation.separation import PoolPlan
from clustrep.summaries import FALSE_FINDING, quiet, tails
from clustrep.types import BoolArray, FloatArray, IntArray

# Every partition is the best of this many random starts at least: a poor local optimum hides valleys.
STARTS = 10
# Neighbours among which batch mixing is measured, as in scib-metrics (perplexity 30), and samples of a study that are
# asked.
MIXING_NEIGHBOURS, MOST_ASKED = 90, 500
# Neighbours are at most this part of all samples: among all of them, any study is perfectly mixed.
PART_ASKED = 10
# A shift below this many sd is rounding.
NO_SHIFT = 1e-9
NOT_TESTED = "no cluster is separated, and the scores were not compared with a null model; run again with one"


def find_clusters(
    studies: Studies,
    configurations: Sequence[Configuration],
    source: Source,
    *,
    scale: str = "auto",
    labels: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Findings:
    """Find the clusters of all studies: whether they are separated, and which study has which.

    The answer does not depend on the order of studies, samples or features, nor on the names of features: studies are
    taken by name, features by their spread within studies, samples by their values. Where no clusters are separated,
    the verdict is left to the null model: see `analyse`.

    Parameters
    ----------
    studies : Studies
        One or more.
    configurations : sequence of Configuration
        The clusterers whose partitions are tested for density valleys.
    source : Source
        Of the seed.
    scale : {"auto", "none", "pooled"}, default="auto"
        See `coordinates_of`.
    labels : mapping of study to labels, optional
        Known clusters instead of those that each study shows by itself.
    n_jobs : int, optional
    """
    names = sorted(studies)
    by_name = [studies[name] for name in names]
    tables = [completed(study.X).astype(float) for study in by_name]
    columns = _order_of_features(tables, studies.features)
    tables = [table[:, columns] for table in tables]
    orders = [np.lexsort(table.T[::-1]) for table in tables]
    seed = int(make_generator(seed_of(source.root, Stream.TIES, "findings", 0)).integers(2**31))
    attempts = attempts_of(configurations)
    with one_thread():
        rng = make_generator(np.random.SeedSequence(seed))
        sorted_tables = [X[order] for X, order in zip(tables, orders, strict=True)]
        every = coordinates_of(sorted_tables, "auto" if scale == "auto" else "none", rng)
        known = (
            None if labels is None else [_known(labels[name], order) for name, order in zip(names, orders, strict=True)]
        )
        for attempt in attempts:
            propose = proposer(attempt, source, n_jobs)
            models = [model_of(each, propose, seed, known) for each in every]
            best = best_of(models)
            model = replace(best, pvalue=min(1.0, len(attempts) * len(models) * best.pvalue))
            is_separated = model.n_clusters > 1 and model.pvalue <= FALSE_FINDING
            if is_separated:
                break
        return _findings(studies, names, tables, orders, columns, model, is_separated=is_separated)


def attempts_of(configurations: Sequence[Configuration]) -> list[Sequence[Configuration]]:
    """Return the configurations, and coarser ones for a second attempt: how many clusters a study has is not known.

    A clusterer with a number of clusters is then asked for two; one with a resolution, which cuts the finer the more
    samples there are, is helped by k-means. Otherwise a cluster could be missed because no partition was coarse enough.
    """
    from sklearn.cluster import KMeans

    coarser: list[Configuration] = []
    for name in dict.fromkeys(each.name for each in configurations):
        of_name = [each for each in configurations if each.name == name]
        numbers = [each.n_clusters for each in of_name if each.n_clusters is not None]
        if not numbers and hasattr(of_name[0].clusterer, "resolution"):
            coarser += configurations_of("k-means", KMeans(), (2,))
        elif numbers and min(numbers) > 2:
            coarser += configurations_of(name, of_name[0].clusterer, (2,))
    return [configurations, coarser] if coarser else [configurations]


def proposer(configurations: Sequence[Configuration], source: Source, n_jobs: int | None) -> Propose:
    """Return a function from tables to their partitions by every configuration."""
    members = [
        replace(each, clusterer=with_starts(each.clusterer, _fewest_starts(each.clusterer))) for each in configurations
    ]

    def propose(tables: Sequence[FloatArray], *, first: int = 0) -> Any:
        pools = [Study(np.ascontiguousarray(table), f"table {i}") for i, table in enumerate(tables, first)]
        return run(PoolPlan(Setting.prepare(source, pools, members, each_alone=True)), range(len(pools)), n_jobs)

    return propose


def _fewest_starts(clusterer: Any) -> int:
    """Return how many random starts a clusterer needs: a mixture that starts at a k-means partition needs no others."""
    parameters = clusterer.get_params() if hasattr(clusterer, "get_params") else {}
    starts = {value for name, value in parameters.items() if name.rpartition("__")[2] == "init_params"}
    return 1 if starts == {"kmeans"} else STARTS


def best_of(models: Sequence[Model]) -> Model:
    """Return the model with separated clusters and the smallest p-value; where these are 0, most clusters."""
    return min(models, key=lambda model: (model.n_clusters == 1, model.pvalue, -model.n_clusters))


def _order_of_features(tables: Sequence[FloatArray], names: Sequence[str]) -> IntArray:
    """Order features by their spread within studies, which no shift changes, then by name: rounding decides nothing."""
    study = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    spread = [float(f"{sd:.9g}") for sd in within_sd(np.concatenate(tables), study)]
    return np.lexsort((np.array(names, dtype=str), np.array(spread)))


def _known(labels: Any, order: IntArray) -> OwnClusters:
    """Number known clusters by their first samples: their names decide nothing."""
    _, first, number = np.unique(np.asarray(labels)[order], return_index=True, return_inverse=True)
    return OwnClusters(0.0, np.argsort(np.argsort(first))[number])


def _findings(
    studies: Studies,
    names: Sequence[str],
    tables: Sequence[FloatArray],
    orders: Sequence[IntArray],
    columns: IntArray,
    model: Model,
    *,
    is_separated: bool,
) -> Findings:
    """Put the model into the order of the studies and samples as they were given."""
    n_studies, n_features = len(names), len(columns)
    sizes = np.array([len(study) for study in studies.values()])
    place_of = [names.index(name) for name in studies.names]  # of the studies as given, among those by name
    own = [model.own[s] for s in place_of]
    common: dict[str, Any] = {
        "names": studies.names,
        "samples": np.array([sample for study in studies.values() for sample in study.samples], dtype=str),
        "sizes": sizes,
        "pvalue": model.pvalue,
        "own_clusters": np.array([each.n_clusters for each in own]),
        "own_pvalue": np.array([each.pvalue for each in own]),
        "detectable": np.nan,
    }
    if is_separated:
        model = model if model.is_known else with_splits(without_tails(model))
        entries = entries_of(model)
        # The valleys that were found are those of the studies by themselves; the joint clusters must show one, too, and
        # not be pieces of a bent continuum.
        is_separated = bool((entries.valley_p <= FALSE_FINDING).any()) and (model.is_known or not is_continuous(model))
    if not is_separated:
        return Findings(
            **common,
            verdict=INCONCLUSIVE,
            reason=NOT_TESTED,
            **nothing_established(sizes),
            shift=np.full(n_studies, np.nan),
            scale=np.full(n_studies, np.nan),
            offset=np.zeros((n_studies, n_features)),
            divisor=np.ones(n_features),
            mixing=np.full(n_studies, np.nan),
            alignment="Studies were compared as given.",
        )
    by_size = np.argsort(-entries.counts.sum(axis=1), kind="stable")
    number = np.argsort(by_size)
    codes = []
    for s in place_of:
        place = model.places[s]
        own_codes = np.full(len(place.labels), -1) if place.undetermined else number[place.labels]
        back = np.empty_like(own_codes)
        back[orders[s]] = own_codes
        codes.append(back)
    divisor = _divisor(model, studies, codes)
    aligned = [None if (place := model.places[s]).undetermined or place.shift is None else place for s in place_of]
    lengths, central = _shifts(model, place_of, aligned)
    scales = np.array([np.nan if place is None else place.scale for place in aligned])
    given = [completed(study.X).astype(float) / divisor for study in studies.values()]
    offset, is_aligned = _offsets(given, codes, np.nan_to_num(scales, nan=1.0), ~np.isnan(lengths), central)
    lengths = np.where(is_aligned, np.where(lengths < NO_SHIFT, 0.0, lengths), np.nan)
    scales = np.where(is_aligned, scales, np.nan)
    nothing = np.full((len(by_size), n_studies), np.nan)
    return Findings(
        **common,
        verdict=SEPARATED,
        reason="",
        letters=tuple(letters(len(by_size))),
        codes=np.concatenate(codes),
        status=entries.status[by_size][:, place_of],
        valley_depth=entries.valley_depth[by_size][:, place_of],
        valley_p=entries.valley_p[by_size][:, place_of],
        replicability=nothing,
        low=nothing,
        high=nothing,
        shift=lengths,
        scale=scales,
        offset=offset,
        divisor=divisor,
        mixing=_mixing(model)[place_of],
        alignment="",
    )


def _shifts(model: Model, place_of: Sequence[int], aligned: Sequence[Any]) -> tuple[FloatArray, int]:
    """Return how far the clusters of every study lie from those of the most central one, (n_studies,), and which it is.

    The most central study has the smallest sum of distances to the others; of several, it is the largest one.
    """
    middle = model.centres.mean(axis=0)
    unknown = np.full(len(middle), np.nan)
    moved = [unknown if place is None else place.shift + (place.scale - 1) * middle for place in aligned]
    where = np.array(moved)  # (n_studies, n_coordinates)
    between = np.linalg.norm(where[:, None] - where, axis=-1)  # (n_studies, n_studies)
    known = np.flatnonzero(np.isfinite(where[:, 0]))
    if not len(known):
        return np.full(len(where), np.nan), 0
    central = min(
        known, key=lambda s: (round(np.nansum(between[s]), 9), -len(model.X[place_of[int(s)]]), place_of[int(s)])
    )
    return np.asarray(between[central]), int(central)


def _divisor(model: Model, studies: Studies, codes: Sequence[IntArray]) -> FloatArray:
    """Return what features are divided by: their spread within the clusters of each study, or nothing.

    The spread within studies, by which clusters were found, depends on how far apart they are, and on composition.
    """
    tables = [completed(study.X).astype(float) for study in studies.values()]
    if model.coordinates.scaling == AS_GIVEN:
        return np.ones(tables[0].shape[1])
    study = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    cluster = np.concatenate(codes)
    return within_sd(without_extremes(np.concatenate(tables), study), (cluster.max() + 2) * study + cluster)


def _offsets(
    tables: Sequence[FloatArray], codes: Sequence[IntArray], scales: FloatArray, known: Any, central: int
) -> tuple[FloatArray, BoolArray]:
    """Return by how much every study lies off in every feature, and whether that is known.

    It is the mean over the clusters that it shares with others, two at least; the central study stays in place.

    tables : features divided by their divisor; so is the offset, (n_studies, n_features)
    """
    n_clusters = max(int(code.max(initial=0)) for code in codes) + 1
    means = np.full((len(tables), n_clusters, tables[0].shape[1]), np.nan)
    for s, (X, code) in enumerate(zip(tables, codes, strict=True)):
        for c in np.unique(code[code >= 0]):
            means[s, c] = X[code == c].mean(axis=0)
    offset = np.zeros((len(tables), tables[0].shape[1]))
    there = ~np.isnan(means[:, :, 0]) & np.asarray(known)[:, None]
    shared = there.astype(int) @ there.T
    np.fill_diagonal(shared, 0)
    there &= (shared > 1).any(axis=1)[:, None]  # one shared cluster cannot tell a shift from another cluster
    there &= there.sum(axis=0) > 1  # a cluster of one study alone says nothing about its shift
    several = there.sum(axis=1) > 1
    if not several.any():
        return offset, several
    # means = offset of the study + scale · joint place of the cluster: least squares, with the central study in place
    rows, places = np.nonzero(there)
    design = np.zeros((len(rows), len(tables) + n_clusters))
    design[np.arange(len(rows)), rows] = 1.0
    design[np.arange(len(rows)), len(tables) + places] = scales[rows]
    design[:, central] = 0.0
    solution = np.linalg.lstsq(design, means[rows, places], rcond=None)[0]
    offset[several] = solution[: len(tables)][several]
    return offset, several


def _mixing(model: Model) -> FloatArray:
    """Return the integration LISI of every study, after alignment: the median over its samples, from 0 to 1.

    1 is what neighbours drawn at random from all samples have: it depends on the sizes of the studies.
    """
    from sklearn.neighbors import NearestNeighbors

    n_studies = len(model.places)
    if n_studies < 2:
        return np.full(n_studies, np.nan)
    moved = []
    for X, place in zip(model.X, model.places, strict=True):
        moved.append(X if place.shift is None or place.undetermined else (X - place.shift) / place.scale)
    every, study = np.concatenate(moved), model.coordinates.study
    n_neighbors = min(MIXING_NEIGHBOURS, max(len(every) // PART_ASKED, 1))
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(every)
    overall = np.bincount(study, minlength=n_studies) / len(every)
    # The mean of the squared shares among neighbours that are drawn at random: what perfect mixing gives.
    largest = 1 / (overall**2 + overall * (1 - overall) / n_neighbors).sum()
    mixing = np.empty(n_studies)
    for s in range(n_studies):
        rows = np.flatnonzero(study == s)[:: max(1, int((study == s).sum() // MOST_ASKED))]
        shares = (
            np.array(
                [
                    np.bincount(study[near], minlength=n_studies)
                    for near in search.kneighbors(every[rows], return_distance=False)
                ]
            )
            / n_neighbors
        )
        mixing[s] = np.clip((np.median(1 / (shares**2).sum(axis=1)) - 1) / (largest - 1), 0.0, 1.0)
    return mixing


# ---------------------------------------------------------------------------------------------------------------------
# fields that follow from the scores


def partition_of(
    studies: Studies, configuration: Configuration, source: Source, n_jobs: int | None
) -> list[IntArray] | None:
    """Return the labels of every study's samples, learned from all studies pooled; None if the clusterer fails."""
    tables = [completed(study.X).astype(float) for study in studies.values()]
    ((labels,),) = proposer([configuration], source, n_jobs)([np.concatenate(tables)])
    if isinstance(labels, Failed):
        return None
    return np.split(labels, np.cumsum([len(table) for table in tables])[:-1])


def with_partition(findings: Findings, labels: Sequence[IntArray]) -> Findings:
    """Return findings whose clusters are those of a partition of all studies pooled."""
    n_clusters = max(int(of_study.max(initial=-1)) for of_study in labels) + 1
    counts = np.array([np.bincount(of_study[of_study >= 0], minlength=n_clusters) for of_study in labels]).T
    by_size = np.argsort(-counts.sum(axis=1), kind="stable")
    number = np.append(np.argsort(by_size), -1)  # the last is noise
    nothing = np.full(counts.shape, np.nan)
    return replace(
        findings,
        letters=tuple(letters(n_clusters)),
        codes=np.concatenate([number[of_study] for of_study in labels]),
        status=status_by_counts(counts, findings.sizes)[by_size],
        valley_depth=nothing,
        valley_p=nothing,
        replicability=nothing,
        low=nothing,
        high=nothing,
    )


def with_replicability(findings: Findings, local: Sequence[LocalReplicability]) -> Findings:
    """Return findings with the local replicability of every cluster in every study: the mean over the other studies.

    Only studies that have all clusters take part: the clusterer is asked for all of them, and cuts others in pieces.
    For the same reason separated clusters are scored by partitions into as many clusters only. Without clusters, there
    is nothing to replicate.
    """
    if findings.n_clusters < 2:
        return findings
    shape = (findings.n_clusters, len(findings.names))
    mean, low, high = (np.full(shape, np.nan) for _ in range(3))
    codes = dict(zip(findings.names, np.split(findings.codes, np.cumsum(findings.sizes)[:-1]), strict=True))
    complete = {name for s, name in enumerate(findings.names) if (findings.counts[:, s] > 0).all()}
    if findings.verdict == SEPARATED:
        number = {result.train: len({*result.labels.tolist()} - {-1}) for result in local}  # without noise
        complete = {name for name in complete if number.get(name) == findings.n_clusters}
    for s, name in enumerate(findings.names):
        results = [result for result in local if result.train == name in complete and result.test in complete]
        if not results:
            continue
        for c in np.unique(codes[name][codes[name] >= 0]):
            inside = codes[name] == c
            with quiet():
                by_test = [np.nanmean(result.distribution[:, inside], axis=1) for result in results]
                scores = np.nanmean(by_test, axis=0)  # (n_resamples,)
                mean[c, s] = np.nanmean(scores)
                low[c, s], high[c, s] = np.nanquantile(scores, tails(0.95))
    return replace(findings, replicability=mean, low=low, high=high)

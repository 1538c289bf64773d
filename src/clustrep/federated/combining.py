"""`combine`: the scores of all sites together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from clustrep.algorithms.comparison import Comparison
from clustrep.errors import DataError, DataWarning, warn
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import FULL_STUDY
from clustrep.federated.disclosure import entries_of
from clustrep.federated.files import GapTable, SiteScores
from clustrep.federated.inquiry import Inquiry, resampling_of
from clustrep.federated.joint import Combined, SiteClusters, SiteGaps, SiteTables
from clustrep.federated.reading import check_same_question, read_files
from clustrep.fitting.parameters import describe
from clustrep.null.null_reference import best_explained
from clustrep.null.null_scores import NullReference, NullScores
from clustrep.provenance import Provenance, StudyRecord
from clustrep.separation.valleys import LEFT, MIDDLE, RIGHT, poorer_sides
from clustrep.statistics import binomial_tail, holm
from clustrep.summaries import quiet
from clustrep.text import listing
from clustrep.types import FloatArray


def combine(scores: Sequence[SiteScores | str | PathLike[str]]) -> Combined:
    """Put the scores of all sites together.

    For partners who trust each other: files of scores can reveal samples, and their origin is not verified (see Notes).

    Parameters
    ----------
    scores : sequence of files or of SiteScores
        What every site said of the others' functions: at least two, in the order that the result is to have.

    Returns
    -------
    Combined
        `.comparison` is what `compare` of the pooled studies returns, bit for bit, unless sites withheld functions,
        rounded scores or kept their draws secret.

    See Also
    --------
    learn, score : What every site does.
    Report : One page about it.

    Notes
    -----
    Scores of a training and a test site are computed at the test site; here they are only put into matrices. What sites
    withheld is missing from these, counted among the failures, and listed in `.withheld`.

    Files are not signed, and the range of scores is not checked: a file in another site's name with ARI = 50 is
    accepted, and so is an old file. docs/federated.md lists what files of scores reveal.

    References
    ----------
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 and 3.3.2.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep import compare
    >>> from clustrep.federated import learn, score
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1)
    >>> functions = [learn(KMeans(4, n_init=3), study, n_resamples=5, rng=0) for study in studies.values()]
    >>> together = combine([score(study, functions) for study in studies.values()]).comparison
    >>> pooled = compare(KMeans(4, n_init=3), studies, n_resamples=5, rng=0)
    >>> bool((together.distribution == pooled.distribution).all())
    True
    """
    files = read_files(scores, SiteScores, "scores")
    if len(files) < 2:
        raise DataError("scores must hold the files of at least two sites, got 1.")
    inquiry = check_same_question(files)
    _check_files_fit(files)
    sites = _Sites(inquiry, tuple(files))
    comparison = sites.comparison()
    return Combined(
        comparison=comparison,
        clusters=sites.clusters(comparison.provenance),
        gaps=sites.gaps(comparison.provenance),
        reference=sites.reference(comparison),
        tables=sites.tables(comparison.provenance),
        withheld=sites.withheld(),
    )


def _check_files_fit(files: Sequence[SiteScores]) -> None:
    """Check that every site scored the same functions of every other, in the same way."""
    first, names = files[0], [file.study for file in files]
    for file in files:
        for what in ("agreements", "diagonal"):
            here, there = getattr(first, what), getattr(file, what)
            if here != there:
                raise DataError(
                    f"The scores of {first.study!r} and {file.study!r} differ in {what}, {here} and {there}: score "
                    "again with the same options at every site."
                )
        lacking = [name for name in names if name != file.study and name not in file.trains]
        if lacking:
            raise DataError(
                f"The scores of {file.study!r} lack the functions of {listing(map(repr, lacking))}: score again there, "
                "with the functions of all other sites."
            )
        further = [name for name in file.trains if name not in names]
        if further:
            warn(
                f"{file.study!r} scored functions of {listing(map(repr, further))}, of which there is no file of "
                "scores: these are left out.",
                DataWarning,
            )
    for name in names:
        _check_one_version(name, files)


def _check_one_version(name: str, files: Sequence[SiteScores]) -> None:
    digests = {file.study: file.train_digests[file.trains.index(name)] for file in files if file.study != name}
    if len(set(digests.values())) > 1:
        raise DataError(
            f"{listing(map(repr, digests))} scored different files of the functions of {name!r}: send all of them the "
            "same file, and score again."
        )


@dataclass(frozen=True, eq=False)
class _Sites:
    inquiry: Inquiry
    files: tuple[SiteScores, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(file.study for file in self.files)

    def _pairs(self, field: str, shape: tuple[int, ...], fill: Any, dtype: Any) -> Any:
        """Put the columns of all sites into matrices (..., train, test)."""
        S = len(self.files)
        pairs = np.full((*shape, S, S), fill, dtype=dtype)
        for t, file in enumerate(self.files):
            values = getattr(file, field)
            for s, name in enumerate(self.names):
                if s != t:
                    pairs[..., s, t] = values[..., file.trains.index(name)]
                elif values.shape[-1] == len(file.trains) + 1:
                    pairs[..., t, t] = values[..., -1]
        return pairs

    def _causes(self) -> Any:
        shape = self.files[0].failed.shape[:-1]
        numbers = self._pairs("failed", shape, 0, np.int64)
        causes = np.full(numbers.shape, "", dtype=object)
        for t, file in enumerate(self.files):
            names = np.array(["", *file.causes], dtype=object)
            causes[..., t] = names[numbers[..., t]]
        return causes

    def comparison(self) -> Comparison:
        """Return the scores of all pairs of sites."""
        first = self.files[0]
        scores = self._pairs("scores", first.scores.shape[:-1], np.nan, float)
        trivial = self._pairs("trivial", first.trivial.shape[:-1], False, bool)
        failed, causes = Failures.number(self._causes())
        clusters_found = np.stack([file.clusters_found for file in self.files], axis=-1)
        configurations = self.inquiry.configurations
        result = Comparison(
            names=self.names,
            agreements=first.agreements,
            clusterers=tuple(configuration.name for configuration in configurations),
            n_clusters=tuple(configuration.n_clusters for configuration in configurations),
            estimate=scores[:, :, FULL_STUDY],
            distribution=scores[:, :, 1:],
            trivial=trivial[:, 1:],
            clusters_found=clusters_found[:, 1:],
            failed=failed,
            causes=causes,
            provenance=self._provenance(),
        )
        S = len(self.files)
        n_scores = failed.size if first.diagonal else failed.size // S * (S - 1)
        nothing_left = bool(np.isnan(result.distribution).all())
        Failures.count(failed, causes, n_scores).report("score", nothing_left=nothing_left)
        return result

    def _provenance(self) -> Provenance:
        inquiry = self.inquiry
        studies = {file.study: StudyRecord(file.n_samples, len(inquiry.features), inquiry.scale) for file in self.files}
        return Provenance(
            seed=inquiry.seed,
            resampling=describe(resampling_of(inquiry.resampling)),
            accelerate=inquiry.accelerate,
            parameters={"n_resamples": inquiry.n_resamples, "diagonal": self.files[0].diagonal, "noise": "label"},
            clusterers=tuple(configuration.record for configuration in inquiry.configurations),
            studies=studies,
            versions=_versions([file.versions for file in self.files]),
        )

    def clusters(self, provenance: Provenance) -> SiteClusters:
        """Return the scores of single clusters, in the order of configurations, training and test sites."""
        rows = [
            (table, file.study)
            for c in range(len(self.inquiry.clusterers))
            for name in self.names
            for file in self.files
            for table in file.clusters
            if (table.configuration, table.train) == (c, name)
        ]
        configurations = self.inquiry.configurations
        per_cluster = [(table, test, i) for table, test in rows for i in np.flatnonzero(table.sizes)]
        of = [configurations[table.configuration] for table, _, _ in per_cluster]
        n_resamples = self.inquiry.n_resamples
        return SiteClusters(
            agreement=self.files[0].agreements[0],
            train=tuple(table.train for table, _, _ in per_cluster),
            test=tuple(test for _, test, _ in per_cluster),
            clusterers=tuple(configuration.name for configuration in of),
            n_clusters=tuple(configuration.n_clusters for configuration in of),
            cluster=np.array([i for _, _, i in per_cluster], dtype=np.int64),
            size=np.array([table.sizes[i] for table, _, i in per_cluster], dtype=np.int64),
            estimate=np.array([table.estimate[i] for table, _, i in per_cluster], dtype=float),
            distribution=np.array([table.distribution[:, i] for table, _, i in per_cluster]).reshape(-1, n_resamples),
            provenance=provenance,
        )

    def gaps(self, provenance: Provenance) -> SiteGaps | None:
        """Add the counts of all test sites for every pair of neighbouring clusters; None where no site counted."""
        rows: list[tuple[str, int, Any, FloatArray]] = []
        for name in self.names:
            for c in range(len(self.inquiry.clusterers)):
                tables = [
                    table
                    for file in self.files
                    for table in file.gaps
                    if (table.train, table.configuration) == (name, c)
                ]
                if any(not np.array_equal(table.edges, tables[0].edges) for table in tables):
                    raise DataError(
                        f"The counts between clusters of {name!r} are of other pairs of clusters at one site than at "
                        "another: score again with the same file and the same clustrep at every site."
                    )
                if tables:
                    rows += [(name, c, tables[0].edges[e], counts) for e, counts in enumerate(_by_edge(tables))]
        if not rows:
            return None
        counts = np.array([counts.sum(axis=0) for *_, counts in rows])
        side = np.array([_poorer(counts) for *_, counts in rows])
        pvalues = np.array([binomial_tail(m, s) for m, s in zip(counts[:, MIDDLE], side, strict=True)])
        of = [self.inquiry.configurations[c] for _, c, _, _ in rows]
        return SiteGaps(
            train=tuple(name for name, *_ in rows),
            clusterers=tuple(configuration.name for configuration in of),
            n_clusters=tuple(configuration.n_clusters for configuration in of),
            edges=np.array([edge for _, _, edge, _ in rows]),
            counts=counts,
            side=side,
            pvalue=pvalues,
            adjusted=holm(pvalues),
            provenance=provenance,
        )

    def reference(self, comparison: Comparison) -> NullReference | None:
        """Put the scores beside those on data without clusters; None where no site simulated any."""
        inquiry = self.inquiry
        if not inquiry.null:
            return None
        shape = self.files[0].null_scores.shape[:-1]
        scores = self._pairs("null_scores", shape, np.nan, float)  # (M, N, C, A, S, S)
        trivial = self._pairs("trivial", self.files[0].trivial.shape[:-1], False, bool)[:, FULL_STUDY]  # (C, S, S)
        observed = np.where(trivial[:, None] & ~np.isnan(comparison.estimate), 0.0, comparison.estimate)
        with quiet():
            separateness = self._mean_over_pairs("separateness")
            simulated = self._mean_over_pairs("null_separateness")
        provenance = comparison.provenance
        parameters = {"n": inquiry.n_null, "null": listing(inquiry.null), "statistic": "estimate"}
        parameters["of"] = comparison._fingerprint
        recorded = Provenance(
            seed=inquiry.seed,
            resampling=provenance.resampling,
            accelerate=inquiry.accelerate,
            parameters=parameters,
            clusterers=provenance.clusterers,
            studies=provenance.studies,
            versions=provenance.versions,
        )
        return best_explained(
            [
                NullReference.of(
                    comparison,
                    "estimate",
                    NullScores(observed, separateness),
                    NullScores(scores[m], simulated[m]),
                    model,
                    recorded,
                )
                for m, model in enumerate(inquiry.null)
            ]
        )

    def _mean_over_pairs(self, field: str) -> FloatArray:
        shape = getattr(self.files[0], field).shape[:-1]
        return np.asarray(np.nanmean(self._pairs(field, shape, np.nan, float), axis=(-2, -1)))

    def withheld(self) -> tuple[str, ...]:
        """Return what sites withheld or changed, of their functions and of their scores, each once."""
        learned = [
            f"{name}: {entry}"
            for file in self.files
            for name, log in zip(file.trains, file.train_logs, strict=True)
            for entry in entries_of(log)
        ]
        scored = [f"{file.study}: {entry}" for file in self.files for entry in file.disclosure_log]
        return tuple(dict.fromkeys([*learned, *scored]))

    def tables(self, provenance: Provenance) -> SiteTables | None:
        """Return the contingency tables of all sites, cell by cell; None where no site gave any."""
        cells = [
            (table.train, file.study, self.inquiry.configurations[table.configuration], *place, table.counts[place])
            for file in self.files
            for table in file.tables
            if table.train in self.names
            for place in np.ndindex(table.counts.shape)
        ]
        if not cells:
            return None
        train, test, of, cluster, test_cluster, count = zip(*cells, strict=True)
        return SiteTables(
            train=train,
            test=test,
            clusterers=tuple(configuration.name for configuration in of),
            n_clusters=tuple(configuration.n_clusters for configuration in of),
            cluster=np.array(cluster, dtype=np.int64),
            test_cluster=np.array(test_cluster, dtype=np.int64),
            count=np.array(count, dtype=np.int64),
            provenance=provenance,
        )


def _by_edge(tables: Sequence[GapTable]) -> FloatArray:
    """Stack the counts of all test sites, (n_edges, n_sites, 3)."""
    return np.stack([table.counts for table in tables], axis=1)


def _poorer(counts: Any) -> int:
    """Return the count of the sides that the middle is compared with, given a row (left, middle, right) per site."""
    sides = poorer_sides(counts)
    return int(np.where(sides == LEFT, counts[:, LEFT], counts[:, RIGHT]).sum())


def _versions(of_sites: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the versions of packages; where sites differ, all of them."""
    packages = dict.fromkeys(package for versions in of_sites for package in versions)
    return {
        package: " / ".join(dict.fromkeys(str(versions.get(package, "unknown")) for versions in of_sites))
        for package in packages
    }

"""`learn`: the clustering functions of one site, for others to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.algorithms.compare import configurations_to_compare
from clustrep.checks import check_choice, check_integer
from clustrep.data.study import Study
from clustrep.data.values import SCALES_OF_ONE
from clustrep.errors import DataError, ParameterError
from clustrep.execution.context import config
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Rng, root_entropy
from clustrep.federated.disclosure import Disclosure, LogEntry, rare_values
from clustrep.federated.extraction import check_may_travel
from clustrep.federated.files import VERSION, Shelf, SiteFunctions
from clustrep.federated.inquiry import Inquiry, resampling_of, written_estimator, written_resampling
from clustrep.federated.null import SimulatedSite, Simulator
from clustrep.federated.releasing import LearnedFunction, LearnPlan
from clustrep.fitting.parameters import Clusterer, Configuration
from clustrep.fitting.resample import PointSet, Source
from clustrep.fitting.setting import Setting
from clustrep.null.models import NULLS, UNIMODAL, UNIMODAL_MODELS
from clustrep.provenance import installed_versions
from clustrep.resampling.strategies import Resampling, check_resampling, resampling_for
from clustrep.summaries import label
from clustrep.text import argument, listing


def learn(
    clusterers: Clusterer | Sequence[Clusterer] | Mapping[str, Clusterer],
    study: Study,
    *,
    n_clusters: Any = None,
    n_resamples: int = 100,
    resampling: Resampling | None = None,
    units: Mapping[str, str] | None = None,
    null: str | None = None,
    n_null: int = 199,
    disclosure: Disclosure | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> SiteFunctions:
    """Learn the clustering functions of one study, so that other sites can score them without its table.

    For partners who trust each other: the file can reveal samples to a partner who tries (see Notes).

    Algorithm 2 compares, on a test study, the function learned there with the function learned on a training study.
    The test site therefore needs functions, not samples, and returns scores, not labels: sites `learn`, `score` each
    other's functions and `combine` the scores. A draw depends on the seed, the study's name and the replicate's number
    alone, so every site draws for itself, and the combined result is `compare` of the pooled studies, bit for bit.

    Parameters
    ----------
    clusterers : clusterer, sequence of clusterers, or mapping of name to clusterer
        Those whose function consists of means: KMeans, MiniBatchKMeans, BisectingKMeans, GaussianMixture, Birch; or
        any of scikit-learn's in `Induced(clusterer, classifier=...)` with `NearestCentroid()`,
        `LinearDiscriminantAnalysis()` or `DecisionTreeClassifier(min_samples_leaf=...)`. What gives a point the label
        of the nearest sample is refused.
    study : Study
        The site's own. Its name must differ from those of all other sites.
    n_clusters : int or several, optional
        Numbers of clusters to try, from 2.
    n_resamples : int
        Number of resamples.
    resampling : Bootstrap, Subsample, Jitter, or a sum of these, optional
        By default `Bootstrap(distinct=True)`; `Subsample(0.8)` where this study has more features than samples. Name it
        where sites differ in that.
    units : mapping of feature to unit, optional
        Declared units; sites that declare others are told.
    null : str, optional
        Also learn from simulated data without clusters: "unimodal" or a model of `null_reference`. Every site
        simulates from the moments of its study.
    n_null : int
        How many simulated studies, for each model.
    disclosure : Disclosure, optional
        What the file stores. By default no numbers of clusters with fewer than 10 samples.
    rng : int, Generator, SeedSequence or None
        The seed, the same at all sites.
    n_jobs
        As in `replicability`.

    Returns
    -------
    SiteFunctions
        `.save(path)` writes it to one file; printed, it lists its contents, for the person who must approve it.

    See Also
    --------
    score : What a site says of the functions of others.
    combine : The scores of all sites together.
    compare : The same where studies may be pooled.

    Notes
    -----
    The bits are those of the pooled run as long as features are fewer than twice the samples of all studies together;
    beyond that the pooled run works in fewer coordinates, which rounds differently.

    Where a cluster of size s₁ with mean m₁ and a cluster of another function, s₂ and m₂, differ by one sample, that
    sample is s₁m₁ − s₂m₂. Of files of k-means with k = 2 to 6, secret draws and clusters of at least 10 of 120 samples,
    162 of 200 gave at least one sample exactly. Versions of a file can be differenced in the same way, and means of 100
    resamples with public draws gave all of 120 samples to an attacker with their clusters. docs/federated.md lists
    the attacks that were tried, with their rates. A data protection officer decides.

    References
    ----------
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 and 3.3.2.
    Dinur and Nissim (2003). Revealing information while preserving privacy. PODS.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.federated import combine, score
    >>> from clustrep.datasets import simulate_cohorts
    >>> alpha, beta = simulate_cohorts(n_cohorts=2, missing={}, shifted={}, rng=1).values()
    >>> question = dict(n_clusters=range(2, 5), n_resamples=10, rng=0)
    >>> of_alpha, of_beta = (learn(KMeans(n_init=3), study, **question) for study in (alpha, beta))
    >>> combine([score(alpha, [of_beta]), score(beta, [of_alpha])]).comparison.best().n_clusters
    4
    """
    rules = Disclosure() if disclosure is None else disclosure
    if not isinstance(rules, Disclosure):
        raise ParameterError(f"disclosure must be Disclosure(...) or None, got {disclosure!r}.", parameter="disclosure")
    if check_study(study).scale not in SCALES_OF_ONE:
        raise DataError(
            f"Study {study.name!r} is scaled by {study.scale!r}, which needs samples of other sites: use "
            f"{argument('scale', 'study')} or {argument('scale', 'none')}."
        )
    configurations = configurations_to_compare(clusterers, n_clusters)
    for configuration in configurations:
        check_may_travel(configuration, rules.min_cluster_size)
    models = models_of(null)
    inquiry = Inquiry(
        seed=root_entropy(rng),
        n_resamples=check_integer(n_resamples, "n_resamples"),
        resampling=written_resampling(check_resampling(resampling_for(resampling, [study]))),
        accelerate=config().accelerate,
        clusterers=tuple((member.name, written_estimator(member.clusterer)) for member in configurations),
        features=study.features,
        units=checked_units(units, study),
        scale=study.scale,
        precision=study.X.dtype.name,
        null=models,
        n_null=check_integer(n_null, "n_null") if models else 0,
    )
    return _Learning(study, inquiry, rules, n_jobs).result()


def check_study(study: object) -> Study:
    """Check that a site has brought one study."""
    if not isinstance(study, Study):
        raise DataError(f"study must be a Study, got {type(study).__name__}: Study(table, name) makes one.")
    return study


def models_of(null: str | None) -> tuple[str, ...]:
    """Return the models of data without clusters that a name stands for."""
    if null is None:
        return ()
    check_choice(null, "null", (UNIMODAL, *NULLS), or_else="None")
    return UNIMODAL_MODELS if null == UNIMODAL else (null,)


def checked_units(units: object, study: Study) -> dict[str, str]:
    """Check declared units: a text for features of the study."""
    if units is None:
        return {}
    if not isinstance(units, Mapping) or not all(isinstance(unit, str) and unit for unit in units.values()):
        raise ParameterError(f"units must map names of features to units, got {units!r}.", parameter="units")
    unknown = [feature for feature in units if feature not in study.features]
    if unknown:
        raise ParameterError(
            f"units must be of features of study {study.name!r}, got {listing(map(repr, unknown))}: correct the "
            "names, or leave them out.",
            parameter="units",
        )
    return {feature: units[feature] for feature in study.features if feature in units}


# ---------------------------------------------------------------------------------------------------------------------
# the run


@dataclass(frozen=True, eq=False)
class _Learning:
    study: Study
    inquiry: Inquiry
    rules: Disclosure
    n_jobs: int | None

    @property
    def _source(self) -> Source:
        inquiry = self.inquiry
        return Source(resampling_of(inquiry.resampling), self.rules.root(inquiry.seed), inquiry.accelerate)

    @property
    def _configurations(self) -> tuple[Configuration, ...]:
        return self.inquiry.configurations

    def result(self) -> SiteFunctions:
        """Learn everything, and pack it."""
        setting = Setting.prepare(self._source, [self.study], self._configurations, rotate=False)
        replicates = run(LearnPlan(setting, self.rules), range(self.inquiry.n_replicates), self.n_jobs)
        numbers = range(1, self.inquiry.n_null + 1)
        simulated = [
            run(
                SimulatedSite(Simulator.of(self.study, model, self._source, self.inquiry), self.rules),
                numbers,
                self.n_jobs,
            )
            for model in self.inquiry.null
        ]
        causes = _causes([*replicates, *(functions for of_model in simulated for functions in of_model)])
        dtype = np.dtype(np.float32 if self.rules.precision == "single" else np.float64)
        shelves = _shelves(replicates, causes, dtype)
        if all(not shelf.arrays for shelf in shelves):
            raise DataError(f"No function of study {self.study.name!r} may leave the site: {listing(causes)}.")
        return SiteFunctions(
            version=VERSION,
            study=self.study.name,
            n_samples=len(self.study),
            inquiry=self.inquiry.to_fields(),
            rules=self.rules.to_fields(),
            shelves=shelves,
            null_shelves=tuple(shelf for of_model in simulated for shelf in _shelves(of_model, causes, dtype)),
            causes=causes,
            log=tuple(entry.to_fields() for entry in self._log(replicates, simulated)),
            versions=installed_versions(),
        ).sealed()

    def _log(self, replicates: Sequence[list[LearnedFunction]], simulated: Sequence[Any]) -> list[LogEntry]:
        """Say what was withheld, merged, rounded or left to be decided."""
        entries = []
        for c, configuration in enumerate(self._configurations):
            name = label(configuration.name, configuration.n_clusters)
            entries += _of_functions(f"functions of {name}", [functions[c] for functions in replicates])
        for model, of_model in zip(self.inquiry.null, simulated, strict=True):
            everything = [function for functions in of_model for function in functions]
            entries += _of_functions(f"functions of simulated data ({model})", everything)
        for c, function in enumerate(replicates[FULL_STUDY]):
            if function.form is not None:
                groups = function.form.groups(PointSet(self.study.X))
                small, total = rare_values(self.study.X, groups, self.rules.min_cluster_size)
                if small:
                    name = self._configurations[c].name
                    why = f"the rarer value has fewer than {self.rules.min_cluster_size} samples: means tell how many"
                    entries.append(LogEntry(f"means of two-valued features of {name}, not withheld", small, total, why))
        return entries


def _causes(replicates: Sequence[Sequence[LearnedFunction]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(function.cause for functions in replicates for function in functions if function.cause))


def _shelves(
    replicates: Sequence[Sequence[LearnedFunction]], causes: Sequence[str], dtype: np.dtype[Any]
) -> tuple[Shelf, ...]:
    return tuple(
        Shelf.of(
            [function.form for function in functions],
            [1 + causes.index(function.cause) if function.cause else 0 for function in functions],
            [function.sizes for function in functions],
            dtype,
        )
        for functions in zip(*replicates, strict=True)
    )


def _of_functions(about: str, functions: Sequence[LearnedFunction]) -> list[LogEntry]:
    """Count the functions that are missing, by cause, and those in which clusters were merged."""
    entries = []
    for cause in dict.fromkeys(function.cause for function in functions if function.cause):
        n_missing = sum(function.cause == cause for function in functions)
        entries.append(LogEntry(about, n_missing, len(functions), cause))
    n_merged = sum(function.merged for function in functions)
    if n_merged:
        entries.append(LogEntry(about, n_merged, len(functions), "small clusters were merged into the nearest"))
    return entries

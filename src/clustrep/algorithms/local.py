"""Algorithm 3: how well the clustering replicates around a point, and for a whole cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import Agreement, AgreementSpec, resolve_agreement
from clustrep.agreement.batches import PartitionPair, binary_scores
from clustrep.agreement.contingency import RULES, Noise, Partition
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.replicability import KnownLabelsLike, check_configuration, may_miss_values
from clustrep.checks import as_table, check_choice, check_integer, check_table
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError
from clustrep.execution.checkpoints import checkpointing
from clustrep.execution.failures import Failures
from clustrep.execution.forecast import Cost
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Failed, Rng
from clustrep.fitting.fingerprint import agreements_of, facts_of, manifest_of
from clustrep.fitting.parameters import Clusterer, Configuration
from clustrep.fitting.resample import Labelled, PointSet, Resample, Source, provenance_of_run
from clustrep.fitting.setting import ClusteringPlan, RunOrigin, Setting
from clustrep.resampling.strategies import Resampling, resampling_for
from clustrep.text import listing, plural
from clustrep.types import FloatArray, IntArray, Labels

# Roughly, for a point to score, and each study whose function labels it: in kernels, and with Python's lock held.
POINT_SECONDS = Cost(3e-9, 1e-9)
# Labels of scored points that a batch may keep.
MOST_LABELS = 2**22


def local_replicability(
    clusterer: Clusterer,
    *,
    train: Any,
    test: Any,
    at: Any = None,
    agreement: AgreementSpec = "ari",
    n_resamples: int = 100,
    labels: KnownLabelsLike | None = None,
    noise: Noise = "label",
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    n_landmarks: int | None = None,
) -> Any:
    """Measure how well the clustering around each point replicates (Algorithm 3).

    The local score of a point x compares two binary partitions of the test study X′: which of its points share x's
    cluster under the function learned on the training study X, and which do under the function learned on X′ itself,

        LR(x) = r*( Ψ̃ₓ(X′; X), Ψ̃ₓ(X′; X′) ),    Ψ̃ₓ(X′; A)ᵢ = 1 where ψ(x′ᵢ; A) = ψ(x; A), else 0.

    It depends on x only through the pair of its two labels, so a k × k table of scores serves any number of points.

    Parameters
    ----------
    clusterer : object with `fit_predict`, or function X → labels
        As in `replicability`.
    train : Study or table of shape (n_samples, n_features)
        Where the clusters come from. A table without a name is called "train".
    test : Study, table or Studies
        Where they are to be found again. A table without a name is called "test". For `Studies`, every one but the
        training study is a test study, and the training fits are shared.
    at : Study, table of shape (n_points, n_features) or None, default=None
        The points to score: any with the same features, such as a grid; None: those of the training study
        (section 3.3.3); the test study gives figure 6.
    agreement, n_resamples, labels, noise, resampling, rng, n_jobs, n_landmarks
        As in `replicability`; one agreement only. A point that is noise shares its cluster with none under
        `noise="singletons"`, and has no score (NaN) under `noise="drop"`.

    Returns
    -------
    LocalReplicability, or a dict of them by test study

    See Also
    --------
    replicability : one score for a whole pair of studies.
    analyse : which cluster of one study is which of another.

    Notes
    -----
    A cluster that the test study lacks scores near 0, and so does one that the test study splits or merges. Points near
    the border between two clusters have the scores of their own cluster: the score is constant where both labels are.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, section 3.3.3 and Algorithm 3.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(rng=1)
    >>> local = local_replicability(
    ...     KMeans(4, n_init=3), train=studies["alpha"], test=studies["beta"], n_resamples=5, rng=0
    ... )
    >>> local.distribution.shape
    (5, 120)
    """
    allow_missing = may_miss_values(clusterer, labels)
    training, tests = _studies(train, test, allow_missing=allow_missing)
    studies = _distinct([training, *tests])
    points, samples = _points(at, training, allow_missing=allow_missing)
    chosen_resampling = resampling_for(resampling, studies)
    if len(studies) == 1 and getattr(chosen_resampling, "halves", False):
        raise ParameterError(
            f"resampling must not divide counts where a study is tested on itself, got {chosen_resampling!r}: its "
            "parts differ in scale, and local scores label the points of one by the function of the other. Use the "
            "diagonal of `replicability`, which compares the clusters of both parts, or another resampling.",
            parameter="resampling",
        )
    configuration = check_configuration(clusterer, labels, studies, chosen_resampling)
    source = Source.of(chosen_resampling, rng, n_landmarks)
    check_integer(n_resamples, "n_resamples")
    check_choice(noise, "noise", RULES)
    plan = LocalPlan(
        n_tests=len(tests),
        samples=samples,
        agreement=resolve_agreement(agreement),
        noise=noise,
        setting=Setting.prepare(source, studies, [configuration], at=points),
    )
    choices = {"agreement": plan.agreement.name, "noise": noise}
    with checkpointing(lambda: manifest_of(source, studies, [configuration], **choices), rng):
        replicates = run(plan, range(FULL_STUDY, n_resamples + 1), n_jobs)
    labels_of_points = replicates[0].labels_of_points
    if isinstance(labels_of_points, Failed):
        raise AllReplicatesFailed(
            f"The clusterer failed on study {training.name!r}, so there are no clusters to score: "
            f"{labels_of_points.cause}."
        )
    results = {
        study.name: _result(plan, i, [scores.by_test[i] for scores in replicates], labels_of_points)
        for i, study in enumerate(tests)
    }
    return results if isinstance(test, Studies) else next(iter(results.values()))


class LocalScores(NamedTuple):
    """The scores of one replicate on one test study: a small table, and every point's place in it."""

    table: FloatArray  # (k_train, k_test)
    trivial: bool  # either partition of the test study is a single cluster
    at: tuple[IntArray, IntArray]  # codes of the points, under the training and under the test function
    test_points: tuple[IntArray, IntArray]
    noise: tuple[int, int]  # the code that is noise, −1 for none


class LocalReplicate(NamedTuple):
    """One replicate on all test studies, with the labels of the points under its training function."""

    by_test: list[LocalScores | Failed]
    labels_of_points: Labels | Failed


@dataclass(frozen=True, eq=False)
class LocalPlan(ClusteringPlan[LocalReplicate]):
    """Everything that local scores follow from, except the replicate's number.

    The first study of the setting is the training study, its last ones are the test studies.
    """

    records = (LocalReplicate, LocalScores)

    n_tests: int
    samples: tuple[str, ...]  # the names of the points to score
    agreement: Agreement
    noise: Noise

    @property
    def train(self) -> Study:
        """The training study."""
        return self.setting.studies[0]

    @property
    def tests(self) -> tuple[Study, ...]:
        """The test studies; the training study itself where there is no other."""
        return self.setting.studies[-self.n_tests :]

    @property
    def points(self) -> PointSet:
        """The points to score."""
        assert self.setting.at is not None
        return self.setting.at

    @property
    def configuration(self) -> Configuration:
        """The only one."""
        return self.setting.learners[0].members[0]

    description = "local replicability"

    @property
    def in_threads(self) -> bool:
        """Whether all work is done by kernels; an agreement that is a user's function is not."""
        return self.setting.in_threads and self.agreement.of_counts is not None

    @property
    def cost(self) -> Cost:
        """Roughly how long a replicate takes: every study's function also labels the points to score."""
        of_fits, n_labels = self.setting.cost, (1 + self.n_tests) * len(self.points)
        return Cost(
            of_fits.kernels + POINT_SECONDS.kernels * n_labels,
            of_fits.python + POINT_SECONDS.python * n_labels,
            n_bytes=n_labels,  # few clusters have labels of one byte
        )

    @property
    def compiles(self) -> bool:
        """Whether there are kernels, in the learners or in the agreement."""
        return self.setting.has_kernels or self.agreement.compiled

    @property
    def facts(self) -> dict[str, str]:
        """What local scores follow from."""
        return facts_of(
            self.setting.source,
            self.setting.studies,
            clusterer=self.configuration.clusterer,
            agreement=agreements_of([self.agreement]),
            noise=self.noise,
            n_tests=self.n_tests,
            points=self.points.X,
        )

    @property
    def batch(self) -> int:
        """How many replicates are learned together: as the learner likes, but not too many labels of the points."""
        n_labels = (1 + self.n_tests) * max(1, len(self.points))
        return max(1, min(self.setting.batch, MOST_LABELS // n_labels))

    def block(self, numbers: Sequence[int]) -> list[LocalReplicate]:
        """Score replicates, a batch at a time, also where a worker is given more."""
        size = self.batch
        batches = (numbers[begin : begin + size] for begin in range(0, len(numbers), size))
        return [scores for batch in batches for scores in self._batch(batch)]

    def _batch(self, numbers: Sequence[int]) -> list[LocalReplicate]:
        """Score replicates: learn every ψ once, from all samples together."""
        setting, (learner,) = self.setting, self.setting.learners
        first = len(setting.studies) - self.n_tests
        tests = range(first, len(setting.studies))
        drawn: list[Resample] = []
        at: list[list[PointSet]] = []
        # A study tested on itself is trained on a second, independent draw, as on the diagonal of the matrix.
        training = setting.resamples_of(0, numbers, second=first == 0)
        for trained, *samples in zip(training, *(setting.resamples_of(s, numbers) for s in tests), strict=True):
            drawn += [trained, *samples]
            at.append([self.points, *(sample.points for sample in samples), *(setting.places[s] for s in tests)])
            at += [[self.points, sample.points, setting.places[s]] for s, sample in zip(tests, samples, strict=True)]
        learned, n_drawn = learner.learn(drawn, at), 1 + self.n_tests
        labelled = [of_sample.labels(0, points) for of_sample, points in zip(learned, at, strict=True)]
        pairs = [
            self._pair(i, labelled[begin], labelled[begin + 1 + i], drawn[begin + 1 + i].draw.weights)
            for begin in range(0, len(drawn), n_drawn)
            for i in range(self.n_tests)
        ]
        scores = self._scores(pairs)
        results = []
        for place, number in enumerate(numbers):
            labels: Labels | Failed = np.empty(0)
            if number == FULL_STUDY:
                trained = labelled[place * n_drawn]
                labels = trained if isinstance(trained, Failed) else trained.at(0).labels
            results.append(LocalReplicate(scores[place * self.n_tests : (place + 1) * self.n_tests], labels))
        return results

    def _pair(
        self, i: int, trained: Labelled | Failed, tested: Labelled | Failed, weights: IntArray
    ) -> tuple[PartitionPair, LocalScores] | Failed:
        """Prepare the comparison of two functions on the i-th test study: the table of scores is not there yet."""
        if isinstance(trained, Failed):
            return trained
        if isinstance(tested, Failed):
            return tested
        by_trained, by_tested = trained.at(1 + i), tested.at(1)  # Ψ(X′; X) and Ψ(X′; X′)
        rule = RULES[self.noise]
        if rule.omits:
            weights = np.where(rule.counted(by_trained.is_noise, by_tested.is_noise), weights, 0)
        scores = LocalScores(
            table=np.empty((0, 0)),
            trivial=has_one_cluster(by_trained, weights) or has_one_cluster(by_tested, weights),
            at=(trained.at(0).small_codes, tested.at(0).small_codes),
            test_points=(trained.at(1 + self.n_tests + i).small_codes, tested.at(2).small_codes),
            noise=(by_trained.noise, by_tested.noise),
        )
        return (by_trained, by_tested, weights), scores

    def _scores(self, pairs: Sequence[tuple[PartitionPair, LocalScores] | Failed]) -> list[LocalScores | Failed]:
        """Score the points of all pairs together."""
        compared = [pair[0] for pair in pairs if not isinstance(pair, Failed)]
        tables = iter(binary_scores(self.agreement, compared, self.noise, self.setting.device))
        outcomes: list[LocalScores | Failed] = []
        for pair in pairs:
            if isinstance(pair, Failed):
                outcomes.append(pair)
                continue
            table = next(tables)
            outcomes.append(table if isinstance(table, Failed) else pair[1]._replace(table=table))
        return outcomes


def has_one_cluster(partition: Partition, weights: IntArray) -> bool:
    """Whether all samples that have a weight are in the same cluster."""
    drawn = partition.codes[weights > 0]
    return bool((drawn == drawn[:1]).all())


def _result(plan: LocalPlan, i: int, outcomes: Sequence[LocalScores | Failed], labels: Labels) -> LocalReplicability:
    study = plan.tests[i]
    causes = np.array([outcome.cause if isinstance(outcome, Failed) else "" for outcome in outcomes], dtype=object)
    failed, cause_names = Failures.number(causes)
    scored = [outcome for outcome in outcomes if isinstance(outcome, LocalScores)]
    n_resamples, n_points = len(outcomes) - 1, len(plan.samples)
    Failures.count(failed, cause_names).report("replicate", nothing_left=bool(failed[1:].all()))
    k_train = max(scores.table.shape[0] for scores in scored)
    k_test = max(scores.table.shape[1] for scores in scored)
    code = np.min_scalar_type(max(k_train, k_test))
    tables = np.full((n_resamples, k_train, k_test), np.nan)
    at = np.zeros((2, n_resamples, n_points), dtype=code)
    test_points = np.zeros((2, n_resamples, len(study)), dtype=code)
    noise_codes = np.full((n_resamples, 2), -1)
    trivial = np.zeros(n_resamples, dtype=bool)
    for b, scores in enumerate(outcomes[1:]):
        if isinstance(scores, Failed):
            continue
        trivial[b] = scores.trivial
        tables[b, : scores.table.shape[0], : scores.table.shape[1]] = scores.table
        for side in (0, 1):
            at[side, b] = scores.at[side]
            test_points[side, b] = scores.test_points[side]
            noise_codes[b, side] = scores.noise[side]
    full = outcomes[0]
    estimate = np.full(n_points, np.nan) if isinstance(full, Failed) else full.table[full.at[0], full.at[1]]
    return LocalReplicability(
        train=plan.train.name,
        test=study.name,
        agreement=plan.agreement.name,
        clusterer=plan.configuration.name,
        n_clusters=plan.configuration.n_clusters,
        noise=plan.noise,
        samples=plan.samples,
        labels=labels,
        estimate=estimate,
        tables=tables,
        at_train=at[0],
        at_test=at[1],
        test_points_train=test_points[0],
        test_points_test=test_points[1],
        noise_codes=noise_codes,
        trivial=trivial,
        failed=failed,
        causes=cause_names,
        provenance=provenance_of_run(
            plan.setting.source,
            _distinct([plan.train, study]),
            [plan.configuration],
            n_resamples=n_resamples,
            noise=plan.noise,
        ),
        _points=plan.points.X,
        _origin=RunOrigin(
            plan.setting.source, _distinct([plan.train, study]), plan.configuration, (plan.agreement,), plan.noise
        ),
    )


def _studies(train: Any, test: Any, *, allow_missing: bool) -> tuple[Study, tuple[Study, ...]]:
    """Align training and test studies on the features that all of them have."""
    if isinstance(train, Studies):
        raise ParameterError(
            "train must be one study or table, got Studies: pick one, studies[name].", parameter="train"
        )
    are_tables = isinstance(test, Sequence) and len(test) and np.ndim(test[0]) > 1
    if are_tables or (isinstance(test, Mapping) and not isinstance(test, Studies)):
        raise ParameterError(
            "test must be a Study, one table or Studies: for several tables pass Studies(...).", parameter="test"
        )
    name = train.name if isinstance(train, Study) else "train"
    several = test if isinstance(test, Studies) else {test.name if isinstance(test, Study) else "test": test}
    others = dict(several.items())
    known = others.pop(name, None)
    if known is not None and not (isinstance(train, Study) and isinstance(known, Study) and _same(train, known)):
        raise ParameterError(
            f"train and test are different studies with the same name, {name!r}: rename one. A table without a name is "
            "called 'train' or 'test'.",
            parameter="train",
        )
    if isinstance(test, Studies) and not others:
        raise ParameterError(
            "test must hold a study other than the training study: add it, or pass one study as test.",
            parameter="test",
        )
    studies = Studies({name: train, **others}, allow_missing=allow_missing)
    training = studies[name]
    return training, tuple(study for study in studies.values() if study is not training) or (training,)


def _same(study: Study, other: Study) -> bool:
    return study.features == other.features and np.array_equal(study.X, other.X, equal_nan=True)


def _distinct(studies: Sequence[Study]) -> tuple[Study, ...]:
    return tuple({study.name: study for study in studies}.values())


def _points(at: Any, train: Study, *, allow_missing: bool) -> tuple[FloatArray, tuple[str, ...]]:
    """Take the points to score, with the training study's features in its order, and their names."""
    if at is None:
        return train.X, train.samples
    if isinstance(at, Studies):
        raise ParameterError(
            "at must be one study or one table of points, got Studies: pick one, studies[name].", parameter="at"
        )
    if isinstance(at, Study):
        return at.select(train.features).X, at.samples
    table, features_named, _ = as_table(at, "at")
    if features_named:
        lacking = [feature for feature in train.features if feature not in table.columns]
        if lacking:
            raise DataError(
                f"at lacks {plural(len(lacking), 'feature')} of the studies: {listing(lacking)}. Add them, or leave "
                "them out of the studies with select."
            )
        table = table[list(train.features)]
    elif table.shape[1] == len(train.features):
        table.columns = pd.Index(train.features, dtype=object)
    if table.shape[1] != len(train.features):
        raise DataError(f"at must have the {len(train.features)} features of the studies, got {table.shape[1]}.")
    return check_table(table, "at", allow_missing=allow_missing), tuple(table.index)

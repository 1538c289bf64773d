"""Transformers that are fitted inside every draw, before the clusterer, and applied to whatever ψ labels.

The mechanism behind `embed=`: each training draw defines its own space, in which its clusterer is fitted and in which
test studies are labelled. Any learner works inside, so that kernels and shortcuts stay in use; the transformer is
fitted once for each draw, whatever the number of configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from clustrep.checks import check_choice, check_integer
from clustrep.data.study import NORMALISATIONS, Normalise
from clustrep.data.values import log_normalised, median_total
from clustrep.errors import ParameterError
from clustrep.execution.seeds import ReplicateFailure, Stream, seed_of
from clustrep.fitting.function import ClusteringFunction
from clustrep.fitting.learners import AroundLearner, FittedFunction, Learner
from clustrep.fitting.parameters import Clusterer, Configuration, table_for, with_seed
from clustrep.fitting.resample import PointSet, Resample
from clustrep.text import nearest
from clustrep.types import FloatArray, Labels


class TrainEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components of the most variable features, scaled: a transformer with scikit-learn's interface.

    Parameters
    ----------
    n_features : int
        How many features are kept: those with the highest variance. Of fewer, all are.
    n_components : int
        How many principal components, at most; there are no more than features, and fewer than samples.
    normalise : {"none", "log1p"}
        "log1p" takes counts and normalises them first, as `Study.normalised` does, to the median total of the samples
        that it is fitted to: for counts that are divided by `Thin`.
    random_state : int or None
        The seed of scikit-learn's randomised solver, which it takes for large tables; None: that of the replicate.

    Attributes
    ----------
    target_sum_ : float or None
        The total to which counts are brought; None where they are not normalised.
    kept_ : ndarray of int
        Which features are kept, in their order.
    scaler_ : StandardScaler
        Their means and standard deviations.
    pca_ : PCA
        The components.

    See Also
    --------
    replicability : `embed="train"` fits this to every draw of a training study, and applies it to the test studies.

    Notes
    -----
    Counts must be normalised, by the study's own totals (`Studies.normalised`) or here: else the features with most
    counts are the most variable.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 3, 0.5, 2]
    >>> embedding = TrainEmbedding(n_features=3, n_components=2).fit(X)
    >>> embedding.kept_.tolist(), embedding.transform(X).shape
    ([0, 1, 3], (50, 2))
    """

    def __init__(
        self,
        n_features: int = 2000,
        n_components: int = 50,
        normalise: Normalise = "none",
        random_state: int | None = None,
    ):
        self.n_features = n_features
        self.n_components = n_components
        self.normalise = normalise
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> TrainEmbedding:
        """Choose features, learn their scaling, and find the components."""
        check_integer(self.n_features, "n_features")
        check_integer(self.n_components, "n_components")
        check_choice(self.normalise, "normalise", NORMALISATIONS)
        table = check_array(X, dtype=(np.float64, np.float32))
        self.n_features_in_ = table.shape[1]
        self.target_sum_ = None if self.normalise == "none" else median_total(table)
        table = self._normalised(table)
        variances = table.var(axis=0, dtype=float)
        self.kept_ = np.sort(np.argsort(-variances, kind="stable")[: self.n_features])
        self.scaler_ = StandardScaler().fit(table[:, self.kept_])
        scaled = self.scaler_.transform(table[:, self.kept_])
        n_components = max(1, min(self.n_components, scaled.shape[1], len(scaled) - 1))
        self.pca_ = PCA(n_components, random_state=self.random_state).fit(scaled)
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the components of any samples with the same features, (n_samples, n_components)."""
        check_is_fitted(self, "pca_")
        table = self._normalised(table_for(self, X))
        return np.asarray(self.pca_.transform(self.scaler_.transform(table[:, self.kept_])))

    def _normalised(self, table: FloatArray) -> FloatArray:
        return table if self.target_sum_ is None else log_normalised(table, self.target_sum_)


# ---------------------------------------------------------------------------------------------------------------------
# fitted inside every resample


# Transformers that have a name, by the parameter that takes it; in the order in which they are applied.
NAMED: Mapping[str, Mapping[str, Callable[[], Any]]] = MappingProxyType(
    {
        "impute": {
            "median": partial(SimpleImputer, strategy="median", keep_empty_features=True),
            "mean": partial(SimpleImputer, strategy="mean", keep_empty_features=True),
            "nearest": partial(KNNImputer, keep_empty_features=True),
        },
        "embed": {"train": TrainEmbedding},
    }
)


NOT_FINITE = "the transformer returned values that are missing or infinite"


NOT_A_TABLE = "the transformer did not return a table with one row for every sample"


# Numbers that a transformer compares for every value of a table, roughly.
WORK_PER_VALUE = 500.0


def transformer_of(**given: object) -> Any:
    """Check what a user passed for each parameter of `NAMED`, and put it together; None where there is nothing.

    Examples
    --------
    >>> transformer_of(embed="train")
    TrainEmbedding()
    >>> transformer_of(embed=None)
    """
    steps = [_checked(given[parameter], parameter) for parameter in NAMED if given.get(parameter) is not None]
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else make_pipeline(*steps)


def _checked(value: object, parameter: str) -> Any:
    names = NAMED[parameter]
    if isinstance(value, str) and value in names:
        return names[value]()
    if not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "transform"):
        return value
    listed = ", ".join(map(repr, names))
    raise ParameterError(
        f"{parameter} must be {listed} or a transformer with fit and transform, such as a scikit-learn pipeline; got "
        f"{value!r}.{nearest(value, names) if isinstance(value, str) else ''}",
        parameter=parameter,
    )


@dataclass(frozen=True, eq=False)
class Space:
    """The space that a transformer makes, fitted to one draw."""

    transformer: Any  # fitted
    resample: Resample  # the draw in this space
    _places: WeakKeyDictionary[PointSet, PointSet] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def of(cls, transformer: Any, resample: Resample) -> Space:
        """Fit a copy of a transformer to the drawn rows, written out."""
        seed = seed_of(resample.root, Stream.TRANSFORM, resample.study.name, resample.replicate, int(resample.second))
        fitted = with_seed(transformer, seed).fit(resample.draw.sample)
        points = PointSet(_transformed(fitted, resample.points.X))
        draw = replace(resample.draw, points=points.X, originals=points.X)
        within = replace(
            resample, study=resample.study.with_table(points.X), draw=draw, points=points, originals=points
        )
        space = cls(fitted, within)
        space._places[resample.points] = points
        return space

    def place(self, points: PointSet) -> PointSet:
        """Return points in this space; computed once for each set."""
        if points not in self._places:
            self._places[points] = PointSet(_transformed(self.transformer, points.X))
        return self._places[points]


def _transformed(fitted: Any, X: FloatArray) -> FloatArray:
    result = fitted.transform(np.array(X))  # a copy, because a transformer may change it
    table = np.asarray(result if not hasattr(result, "toarray") else result.toarray())
    if table.ndim != 2 or len(table) != len(X):
        raise ReplicateFailure(NOT_A_TABLE)
    table = np.ascontiguousarray(table, dtype=np.float32 if table.dtype == np.float32 else np.float64)
    if not np.isfinite(table).all():
        raise ReplicateFailure(NOT_FINITE)
    return table


class Shared(NamedTuple):
    """What all members of a learner have in common: the space, and what the learner inside learned there."""

    space: Space
    inside: Any


@dataclass(frozen=True, eq=False)
class TransformedFunction(FittedFunction):
    """ψ after a transformer."""

    psi: FittedFunction
    space: Space

    @property
    def classes(self) -> Labels | None:  # type: ignore[override]
        """Those of ψ in the space."""
        return self.psi.classes

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return self.psi.labels(self.space.place(points))


@dataclass(frozen=True, eq=False)
class _AfterTransformer:
    """A clustering function of points with all features."""

    transformer: Any
    function: ClusteringFunction

    def __call__(self, X: FloatArray) -> Labels:
        return self.function.labels(_transformed(self.transformer, X))


class TransformedLearner(AroundLearner):
    """A learner that works in the space that a transformer makes of each draw."""

    in_threads = False

    def __init__(self, learner: Learner, transformer: Any, spaces: WeakKeyDictionary[Resample, Space]):
        super().__init__(learner)
        self.transformer = transformer
        self._spaces = spaces  # shared by all learners of a run, and kept as long as the resamples

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spaces": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _spaces=WeakKeyDictionary())

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers are compared in one resample."""
        return self.learner.work(points) + WORK_PER_VALUE * points.X.size

    def share(self, resample: Resample) -> Shared:
        """Fit the transformer, and learn in its space what all members have in common."""
        if resample not in self._spaces:
            self._spaces[resample] = Space.of(self.transformer, resample)
        space = self._spaces[resample]
        return Shared(space, self.learner.share(space.resample))

    def psi(self, shared: Shared, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Learn in the space."""
        return TransformedFunction(self.learner.psi(shared.inside, shared.space.resample, configuration), shared.space)

    def function(self, psi: Any, resample: Resample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: the transformer first."""
        space: Space = psi.space
        inside = self.learner.function(psi.psi, space.resample, configuration)
        clusterer = inside.clusterer
        if hasattr(clusterer, "fit_predict"):
            clusterer = Pipeline([("transformer", space.transformer), ("clusterer", clusterer)])
        predict = _AfterTransformer(space.transformer, inside)
        return ClusteringFunction(predict, resample.study.X, clusterer, classifier=inside.classifier)

    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the transformer and the clusterer, both fitted."""
        return self.function(psi, resample, configuration).clusterer


def transformed_learners(learners: Sequence[Learner], transformer: Any) -> tuple[Learner, ...]:
    """Let every learner work in the space that a transformer makes; each draw's is made once for all of them."""
    spaces: WeakKeyDictionary[Resample, Space] = WeakKeyDictionary()
    return tuple(TransformedLearner(learner, transformer, spaces) for learner in learners)

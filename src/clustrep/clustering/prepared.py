"""Transformers that are fitted inside every draw, before the clusterer, and applied to whatever ψ labels.

The mechanism behind `embed=`: each training draw defines its own space, in which its clusterer is fitted and in which
test studies are labelled. Any path works inside, so that kernels and shortcuts stay in use; the transformer is fitted
once for each draw, whatever the number of configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline

from clustrep.clustering.embedding import TrainEmbedding
from clustrep.clustering.function import ClusteringFunction
from clustrep.clustering.parameters import Clusterer, with_seed
from clustrep.clustering.path import Path, Psi
from clustrep.clustering.sample import Configuration, PointSet, Sample
from clustrep.engine.replicates import ReplicateFailure, Stream, seed_of
from clustrep.errors import ParameterError
from clustrep.text import nearest
from clustrep.types import FloatArray, Labels

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
    sample: Sample  # the draw in this space
    _places: WeakKeyDictionary[PointSet, PointSet] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def of(cls, transformer: Any, sample: Sample) -> Space:
        """Fit a copy of a transformer to the drawn rows, written out."""
        seed = seed_of(sample.root, Stream.TRANSFORM, sample.study.name, sample.replicate, int(sample.second))
        fitted = with_seed(transformer, seed).fit(sample.draw.sample)
        points = PointSet(_transformed(fitted, sample.points.X))
        draw = replace(sample.draw, points=points.X, originals=points.X)
        within = replace(sample, study=sample.study.with_table(points.X), draw=draw, points=points, originals=points)
        space = cls(fitted, within)
        space._places[sample.points] = points
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
    """What all members of a path have in common: the space, and what the path inside learned there."""

    space: Space
    inside: Any


@dataclass(frozen=True, eq=False)
class PreparedPsi(Psi):
    """ψ after a transformer."""

    psi: Psi
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


class PreparedPath(Path):
    """A path that works in the space that a transformer makes of each draw."""

    in_threads = False

    def __init__(self, path: Path, transformer: Any, spaces: WeakKeyDictionary[Sample, Space]):
        super().__init__(path.members, None)
        self.path = path
        self.transformer = transformer
        self._spaces = spaces  # shared by all paths of a run, and kept as long as the samples

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spaces": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _spaces=WeakKeyDictionary())

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        """Whether there are kernels in it."""
        return self.path.compiled

    @property
    def here(self) -> bool:
        """Whether it works on a device that this process holds."""
        return self.path.here

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers are compared in one resample."""
        return self.path.work(points) + WORK_PER_VALUE * points.X.size

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs."""
        return self.path.memory(n_samples)

    def share(self, sample: Sample) -> Shared:
        """Fit the transformer, and learn in its space what all members have in common."""
        if sample not in self._spaces:
            self._spaces[sample] = Space.of(self.transformer, sample)
        space = self._spaces[sample]
        return Shared(space, self.path.share(space.sample))

    def psi(self, shared: Shared, sample: Sample, configuration: Configuration) -> Psi:
        """Learn in the space."""
        return PreparedPsi(self.path.psi(shared.inside, shared.space.sample, configuration), shared.space)

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: the transformer first."""
        space: Space = psi.space
        inside = self.path.function(psi.psi, space.sample, configuration)
        clusterer = inside.clusterer
        if hasattr(clusterer, "fit_predict"):
            clusterer = Pipeline([("transformer", space.transformer), ("clusterer", clusterer)])
        predict = _AfterTransformer(space.transformer, inside)
        return ClusteringFunction(predict, sample.study.X, clusterer, classifier=inside.classifier)

    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the transformer and the clusterer, both fitted."""
        return self.function(psi, sample, configuration).clusterer


def prepared_paths(paths: Sequence[Path], transformer: Any) -> tuple[Path, ...]:
    """Let every path work in the space that a transformer makes; each draw's is made once for all of them."""
    spaces: WeakKeyDictionary[Sample, Space] = WeakKeyDictionary()
    return tuple(PreparedPath(path, transformer, spaces) for path in paths)


def with_transformer(clusterer: Clusterer, transformer: Any) -> Clusterer:
    """Return a clusterer that transforms what it is fitted to, for what is learned outside of paths."""
    if transformer is None:
        return clusterer
    return Pipeline([("transformer", transformer), ("clusterer", clusterer)])

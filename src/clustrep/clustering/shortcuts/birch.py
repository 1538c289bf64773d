"""Birch: one tree of subclusters serves every number of clusters."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import Birch

from clustrep.checks import is_whole
from clustrep.clustering.parameters import Clusterer
from clustrep.clustering.path import Path, Psi
from clustrep.clustering.rotation import with_features
from clustrep.clustering.sample import Configuration, PointSet, Sample
from clustrep.clustering.shortcuts.nearest import Neighbours
from clustrep.clustering.shortcuts.trees import CutPsi, Cuts, build_tree, cut_psi
from clustrep.types import IntArray


@dataclass(frozen=True, eq=False)
class _NearestSubcluster:
    birch: Birch
    dtype: np.dtype[Any]

    def __call__(self, points: PointSet) -> IntArray:
        return np.asarray(self.birch.predict(np.asarray(points.X, dtype=self.dtype)))


class BirchPath(Path):
    """BIRCH: one tree of features, whose subclusters are joined for every number of clusters."""

    in_threads = takes_weights = False

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class with a number of clusters."""
        return type(clusterer) is Birch and is_whole(clusterer.n_clusters, at_least=1)

    def share(self, sample: Sample) -> tuple[Birch, Cuts]:
        """Fit without joining subclusters, then build Ward's tree of them, as scikit-learn does for each number."""
        birch = clone(self.members[0].clusterer).set_params(n_clusters=None, compute_labels=False)
        birch.fit(self.space(sample.points).X[sample.draw.order])
        subclusters = PointSet(birch.subcluster_centers_)
        tree = build_tree(subclusters, np.ones(len(subclusters), dtype=np.int64), "ward")
        dtype = sample.study.X.dtype if self.rotation is None else np.dtype(float)
        return birch, Cuts(tree, Neighbours(self, _NearestSubcluster(birch, dtype)))

    def psi(self, shared: tuple[Birch, Cuts], sample: Sample, configuration: Configuration) -> Psi:
        """Cut the tree of subclusters."""
        birch, cuts = shared
        cut = cut_psi(cuts, configuration.clusterer.n_clusters)
        return BirchPsi(cut.cut, cut.neighbours, cut.n_clusters, birch)

    def fitted(self, psi: BirchPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the `Birch` with its subclusters joined."""
        fitted = copy.deepcopy(psi.birch).set_params(**configuration.clusterer.get_params(deep=False))
        fitted.subcluster_labels_ = psi.cut
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
        return fitted if self.rotation is None else with_features(fitted, self.rotation, configuration.clusterer)


@dataclass(frozen=True, eq=False)
class BirchPsi(CutPsi):
    """ψ of BIRCH: the cluster of the nearest subcluster."""

    birch: Birch

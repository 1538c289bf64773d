"""Exact shortcuts: clusterers for which a learner does better than fitting every resample by itself."""

from __future__ import annotations

from clustrep.accelerate.graphs import CommunityLearner
from clustrep.accelerate.kmeans import KMeansLearner
from clustrep.accelerate.trees import BirchLearner, TreeLearner
from clustrep.fitting.learners import Learner

# The first that applies to a clusterer is taken.
SHORTCUTS: tuple[type[Learner], ...] = (KMeansLearner, TreeLearner, BirchLearner, CommunityLearner)

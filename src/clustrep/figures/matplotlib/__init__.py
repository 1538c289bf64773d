"""Result → matplotlib Axes. Draws on the axes given, returns them, and leaves matplotlib's settings alone."""

from __future__ import annotations

from clustrep.figures.matplotlib.between_studies import (
    against_null,
    counterpart_map,
    curves,
    heat_map,
    left_out,
    matrices,
    strips,
    study_tree,
)
from clustrep.figures.matplotlib.cluster_maps import cluster_bars, co_clustering, local_map
from clustrep.figures.matplotlib.one_study import (
    assignments,
    by_cluster,
    consensus_cdf,
    in_group,
    null_histogram,
    over_k,
    over_scale,
    small_multiples,
)
from clustrep.figures.matplotlib.style import refuse_axes

__all__ = [
    "against_null",
    "assignments",
    "by_cluster",
    "cluster_bars",
    "co_clustering",
    "consensus_cdf",
    "counterpart_map",
    "curves",
    "heat_map",
    "in_group",
    "left_out",
    "local_map",
    "matrices",
    "null_histogram",
    "over_k",
    "over_scale",
    "refuse_axes",
    "small_multiples",
    "strips",
    "study_tree",
]

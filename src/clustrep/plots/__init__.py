"""Result → matplotlib Axes. Draws on the axes given, returns them, and leaves matplotlib's settings alone."""

from __future__ import annotations

from clustrep.plots._style import refuse_axes
from clustrep.plots.across import (
    against_null,
    counterpart_map,
    curves,
    heat_map,
    left_out,
    matrices,
    strips,
    study_tree,
)
from clustrep.plots.local import cluster_bars, co_clustering, local_map
from clustrep.plots.within import (
    assignments,
    by_cluster,
    consensus_cdf,
    in_group,
    null_histogram,
    over_k,
    over_scale,
    small_multiples,
)

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

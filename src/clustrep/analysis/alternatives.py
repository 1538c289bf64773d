"""Whether the decision depends on small choices: findings alone, under other scalings and numbers of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clustrep.algorithms.compare import configurations_to_compare
from clustrep.data.studies import Studies
from clustrep.data.values import AUTO
from clustrep.findings.find import find_clusters
from clustrep.findings.result import SEPARATED
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source

# Unscaled features are no alternative: "auto" tries them, and in unlike units they are not plausible.
SCALES = (AUTO, "pooled", "study")

# The wider range goes up to this many times the largest number that was asked for, but not to fewer samples of the
# smallest study in a cluster than this.
WIDER, SAMPLES_IN_CLUSTER = 2, 5


def numbers_instead(numbers: Sequence[int], n_samples: int) -> list[list[int]]:
    """Return a narrower and a wider range of numbers of clusters; none instead of a single number.

    Examples
    --------
    >>> numbers_instead([2, 3, 4, 5, 6, 7, 8], 200)
    [[2, 3, 4, 5], [2, 3, 4, 5, 6, 7, 8, 12, 16]]
    >>> numbers_instead([2, 3], 200), numbers_instead([3], 200)
    ([[2, 3, 5, 6]], [])
    """
    if len(numbers) < 2:
        return []
    ordered = sorted(numbers)
    narrower = ordered[: (len(ordered) + 1) // 2]
    largest = min(WIDER * ordered[-1], n_samples // SAMPLES_IN_CLUSTER)
    wider = [(ordered[-1] + largest + 1) // 2, largest]
    ranges = [narrower] if len(narrower) > 1 else []
    return [*ranges, [*ordered, *wider]] if ordered[-1] < wider[0] < largest else ranges


def alternatives_of(
    studies: Studies,
    clusterers: Any,
    configurations: Sequence[Configuration],
    param_grid: Mapping[str, Any] | None,
    scale: str,
    source: Source,
    n_jobs: int | None,
) -> dict[str, int]:
    """Return how many separated clusters there are under each alternative, 1 without any.

    studies : as they were given, not scaled
    """
    found: dict[str, int] = {}

    def add(name: str, members: Sequence[Configuration], scale: str) -> None:
        scaled = studies if scale == AUTO else studies.scaled(scale)
        findings = find_clusters(scaled, members, source, scale=scale, n_jobs=n_jobs)
        found[name] = findings.n_clusters if findings.verdict == SEPARATED else 1

    for other in SCALES if all(study.scale == "none" for study in studies.values()) else ():
        if other != scale:
            add(f"scale={other}", configurations, other)
    numbers = sorted({each.n_clusters for each in configurations if each.n_clusters is not None})
    for instead in numbers_instead(numbers, min(map(len, studies.values()))):
        add(f"k = {instead[0]} to {instead[-1]}", configurations_to_compare(clusterers, instead, param_grid), scale)
    return found

"""Configurations as curves: over the number of clusters, over another parameter, or over the clusters found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clustrep.provenance import ClustererRecord, Provenance

AXIS_OF_K = "number of clusters k"
AXIS_OF_FOUND = "mean clusters found"
AXIS_OF_PLACES = "place of the value"
PARAMETER, CLUSTERS = "parameter", "clusters"


@dataclass(frozen=True, eq=False)
class Curves:
    """Which configurations belong to one curve.

    Attributes
    ----------
    groups : dict of str to list of int
        For every curve, its configurations by k or by the value of the parameter.
    records : tuple of ClustererRecord or None
        For every configuration; None where nothing is known of the clusterers.
    """

    groups: dict[str, list[int]]
    n_clusters: tuple[int | None, ...]
    records: tuple[ClustererRecord | None, ...]

    @classmethod
    def of(cls, clusterers: Sequence[str], n_clusters: Sequence[int | None], provenance: Provenance) -> Curves:
        """Group the configurations of a result."""
        records: tuple[ClustererRecord | None, ...] = provenance.clusterers
        if len(records) != len(clusterers):
            records = (None,) * len(clusterers)
        names = [
            record.series if record is not None and record.series else clusterer
            for record, clusterer in zip(records, clusterers, strict=True)
        ]
        along = [
            float(k or 0) if record is None or record.value is None else record.value
            for record, k in zip(records, n_clusters, strict=True)
        ]
        order = sorted(range(len(clusterers)), key=lambda c: along[c])
        groups = {name: [c for c in order if names[c] == name] for name in dict.fromkeys(names)}
        return cls(groups, tuple(n_clusters), records)

    @property
    def parameters(self) -> list[str]:
        """The different parameters that vary along curves, "k" among them."""
        named = [
            record.parameter if record is not None and record.value is not None else "k" if k is not None else None
            for record, k in zip(self.records, self.n_clusters, strict=True)
        ]
        return [name for name in dict.fromkeys(named) if name is not None]

    def positions(self, against: str | None, n_found: Sequence[float] | None) -> tuple[str, list[float | None]]:
        """Return the title of the axis, and where every configuration stands on it; None where it has no place.

        Against the parameter where there is a single one, else against the number of clusters found, which all
        parameters have in common; against their order where that is not known.
        """
        parameters = self.parameters
        if parameters in ([], ["k"]):
            return AXIS_OF_K, list(self.n_clusters)
        values = [None if record is None else record.value for record in self.records]
        if against is None:
            against = PARAMETER if len(parameters) == 1 else CLUSTERS
        if against == PARAMETER and len(parameters) == 1:
            return parameters[0], list(values)
        places: list[float | None] = [None] * len(values)
        for c, (k, value) in enumerate(zip(self.n_clusters, values, strict=True)):
            if k is not None:
                places[c] = k
            elif value is not None and n_found is not None:
                places[c] = float(n_found[c])
        if n_found is not None:
            return AXIS_OF_FOUND, places
        for members in self.groups.values():
            for place, c in enumerate(members, 1):
                places[c] = place if values[c] is not None or self.n_clusters[c] is not None else None
        return AXIS_OF_PLACES, places

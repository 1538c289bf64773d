"""How a result was computed: seed, parameters, clusterers, studies and versions, in types that fit into a file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

SERIES_FIELDS = ("series", "parameter", "value")
PACKAGES = ("clustrep", "numpy", "scipy", "scikit-learn", "numba", "joblib")


@dataclass(frozen=True)
class ClustererRecord:
    """A clusterer as it was used in a run.

    Attributes
    ----------
    name : str
        Its name in the run.
    kind : str
        Its class, or the name of the function; "known labels" where labels were used instead of a clusterer.
    parameters : dict of str to str
        The value of every parameter, as text; those of its parts as "part__parameter", as in scikit-learn.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    n_clusters_parameter : str or None
        Which of the parameters sets that number.
    description : str
        All of it as one text: "KMeans(n_clusters=3, …)".
    series : str
        The name of all clusterers that differ in the value of one parameter alone; empty where it has none.
    parameter : str or None
        Which parameter that is.
    value : float or None
        Its value.
    """

    name: str
    kind: str
    parameters: Mapping[str, str]
    n_clusters: int | None
    n_clusters_parameter: str | None
    description: str
    series: str = ""
    parameter: str | None = None
    value: float | None = None

    def to_fields(self) -> dict[str, Any]:
        """Return the fields in plain types, for a file; without those of a series where it has none."""
        fields = asdict(self)
        return fields if self.series else {name: fields[name] for name in fields if name not in SERIES_FIELDS}

    @property
    def description_for_any_k(self) -> str:
        """The description with "k" instead of the number of clusters: the same for all of a series.

        Examples
        --------
        >>> three = ClustererRecord("a", "KMeans", {"n_clusters": "3"}, 3, "n_clusters", "KMeans(n_clusters=3)")
        >>> three.description_for_any_k
        'KMeans(n_clusters=k)'
        """
        if self.parameter is not None:
            return self.description.replace(f"{self.parameter}={self.value!r}", f"{self.parameter}=…")
        if self.n_clusters_parameter is None or self.n_clusters is None:
            return self.description
        parameter = self.n_clusters_parameter.split("__")[-1]
        text = self.description
        for end in ",)":  # not where a longer number begins with the same digits
            text = text.replace(f"{parameter}={self.n_clusters}{end}", f"{parameter}=k{end}")
        return text


@dataclass(frozen=True)
class StudyRecord:
    """A study as it was used in a run: its numbers of samples and features, and how it was scaled."""

    samples: int
    features: int
    scale: str


@dataclass(frozen=True, eq=False, repr=False)
class Provenance(Mapping[str, Any]):
    """How a result was computed.

    The fields have types; as a mapping, the same is one flat table of plain types, with the run's parameters among the
    other entries, clusterers as their descriptions and studies as dicts. Entries that a run does not have, such as
    clusterers in a test for clusters, are left out of the mapping. Two are equal if their mappings are.

    Attributes
    ----------
    seed : int
        The number that all draws and fits follow from.
    resampling : str, mapping of str to str, or None
        Where replicates come from; for `validate`, by index.
    accelerate : bool or None
        Whether exact shortcuts were used.
    parameters : dict
        Further parameters of the function that was called.
    clusterers : tuple of ClustererRecord
        One for every configuration, in the order of the result.
    studies : dict of str to StudyRecord
    versions : dict of str to str
        Of Python and of the packages that numbers depend on.

    Examples
    --------
    >>> made = Provenance(seed=7, parameters={"n_resamples": 100}, studies={"a": StudyRecord(40, 2, "none")})
    >>> made.seed, made["n_resamples"], made.studies["a"].samples, made["studies"]["a"]["samples"]
    (7, 100, 40, 40)
    >>> list(made)
    ['seed', 'n_resamples', 'studies', 'versions']
    """

    seed: int
    resampling: str | Mapping[str, str] | None = None
    accelerate: bool | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    clusterers: tuple[ClustererRecord, ...] = ()
    studies: Mapping[str, StudyRecord] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def of_configuration(self, place: int) -> Provenance:
        """Return the provenance of one configuration among several."""
        return replace(self, clusterers=self.clusterers[place : place + 1])

    def to_fields(self) -> dict[str, Any]:
        """Return the fields in plain types, for a file."""
        return {**asdict(self), "clusterers": tuple(record.to_fields() for record in self.clusterers)}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Provenance:
        """Read what `to_fields` returned, perhaps from a file.

        Examples
        --------
        >>> made = Provenance(seed=7, studies={"a": StudyRecord(40, 2, "none")})
        >>> Provenance.from_fields(made.to_fields()) == made
        True
        """
        values = dict(fields)
        clusterers = tuple(ClustererRecord(**record) for record in values.pop("clusterers"))
        studies = {name: StudyRecord(**record) for name, record in values.pop("studies").items()}
        return cls(**values, clusterers=clusterers, studies=studies)

    @property
    def _entries(self) -> dict[str, Any]:
        entries: dict[str, Any] = {"seed": self.seed}
        if self.resampling is not None:
            entries["resampling"] = self.resampling
        if self.accelerate is not None:
            entries["accelerate"] = self.accelerate
        entries |= self.parameters
        if self.clusterers:
            entries["clusterers"] = [record.description for record in self.clusterers]
        entries["studies"] = {name: asdict(record) for name, record in self.studies.items()}
        entries["versions"] = dict(self.versions)
        return entries

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(self._entries)


@cache
def installed_versions(*further: str) -> Mapping[str, str]:
    """Return the versions of Python and of the packages that numbers depend on; looked up once a process.

    further : packages that some clusterers need, such as "igraph"
    """
    return {"python": platform.python_version(), **{name: version_of(name) for name in (*PACKAGES, *further)}}


def fingerprint(*arrays: NDArray[Any], about: str = "") -> str:
    """Return 16 hexadecimal digits that identify the arrays and what they are about."""
    digest = hashlib.sha256(about.encode())
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


@cache  # reading it takes longer than a small run
def version_of(package: str) -> str:
    """Return the version of an installed package, or "unknown"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"

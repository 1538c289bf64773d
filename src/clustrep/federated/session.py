"""What all sites agree on before anything leaves: the question, the sites' public keys, a nonce."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from sklearn.cluster import (
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid

from clustrep.agreement.agreements import AGREEMENTS, resolve_agreements
from clustrep.algorithms.compare import configurations_to_compare
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_features, check_integer, check_name, is_whole
from clustrep.data.values import SCALES_OF_ONE
from clustrep.errors import ClustrepError, DataError, ParameterError
from clustrep.execution.seeds import Rng, root_entropy
from clustrep.federated.keys import is_public_key
from clustrep.files.saved import written_whole
from clustrep.fitting.parameters import Clusterer, Configuration, Induced, describe
from clustrep.text import cut, listing

VERSION = 2
KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        KMeans,
        MiniBatchKMeans,
        BisectingKMeans,
        GaussianMixture,
        Birch,
        AgglomerativeClustering,
        SpectralClustering,
        Induced,
        NearestCentroid,
    )
}
# What policies call them; agglomerative clustering is named by its linkage.
SHORT_NAMES = {
    "KMeans": "kmeans",
    "MiniBatchKMeans": "minibatch",
    "BisectingKMeans": "bisecting",
    "GaussianMixture": "gmm",
    "Birch": "birch",
    "SpectralClustering": "spectral",
}
CLUSTERERS = (*SHORT_NAMES.values(), "ward", "complete", "average", "single")
# Parameters that name a folder: scikit-learn would write samples there, and read pickles.
OF_FOLDERS = ("memory",)
# What a file from elsewhere may ask for: more than anyone computes, and few enough to be harmless.
MOST_RESAMPLES, MOST_CLUSTERS, MOST_CONFIGURATIONS, LARGEST_PARAMETER = 10_000, 1_000, 100, 10_000
MOST_BYTES = 2**22
DEPTH = 2  # of an estimator within an estimator


@dataclass(frozen=True, eq=False)
class Session:
    """What all sites agree on: one file that everybody gets before anything leaves.

    Attributes
    ----------
    nonce : str
        Drawn for this session: a file of another one is refused.
    sites : dict of str to str
        The name of every study, and the public key of its site.
    clusterers : tuple of (str, dict)
        For every configuration its clusterer's name, kind and parameters.
    features : tuple of str
        The columns, in their order.
    units : dict of str to str
        Declared units.
    scale : {"none", "study"}
        How each site scales its own samples.
    agreements : tuple of str
        How partitions are compared.
    n_resamples : int
    seed : int
        From which clusterers start; of trusted partners, also draws.

    See Also
    --------
    Policy : What a site lets leave, whatever was agreed.

    Notes
    -----
    The signature of every file covers the SHA-256 of the session. How a site resamples is no part of it.

    Examples
    --------
    >>> keys = {"mainz": 64 * "a", "vdx": 64 * "b"}
    >>> Session.agree(KMeans(3), features=["x", "y"], sites=keys, rng=7).features
    ('x', 'y')
    """

    nonce: str
    sites: Mapping[str, str]
    clusterers: tuple[tuple[str, Mapping[str, Any]], ...]
    features: tuple[str, ...]
    units: Mapping[str, str]
    scale: str
    agreements: tuple[str, ...]
    n_resamples: int
    seed: int

    @classmethod
    def agree(
        cls,
        clusterers: Clusterer | Sequence[Clusterer] | Mapping[str, Clusterer],
        *,
        features: Sequence[str],
        sites: Mapping[str, str],
        n_clusters: Any = None,
        n_resamples: int = 100,
        agreement: str | tuple[str, ...] = "ari",
        scale: str = "none",
        units: Mapping[str, str] | None = None,
        rng: Rng = None,
    ) -> Session:
        """Write down a question that sites agree on.

        Parameters
        ----------
        clusterers : clusterer, sequence of clusterers, or mapping of name to clusterer
            scikit-learn's, with a number of clusters. All but KMeans take part by the means of their clusters, as
            `Induced(clusterer, classifier=NearestCentroid())`.
        features : sequence of str
            The columns, in their order.
        sites : mapping of str to str
            The name of every study, and the public key of its site (`make_key`).
        n_clusters : int or several, default=None
            Numbers of clusters; by default those of the clusterers.
        n_resamples : int, default=100
        agreement : str or tuple of str, default="ari"
            As in `replicability`, without functions of the user's.
        scale : {"none", "study"}, default="none"
        units : mapping of str to str, default=None
            Declared units of features.
        rng : int, Generator, SeedSequence or None, default=None

        Returns
        -------
        Session
            `.save(path)` writes it.

        Examples
        --------
        >>> keys = {"mainz": 64 * "a", "vdx": 64 * "b"}
        >>> session = Session.agree(KMeans(n_init=10), features=["x", "y"], sites=keys, n_clusters=3, rng=7)
        >>> [(each.name, each.n_clusters) for each in session.configurations]
        [('KMeans', 3)]
        """
        configurations = configurations_to_compare(clusterers, n_clusters)
        agreements = resolve_agreements(agreement if isinstance(agreement, tuple) else (agreement,))
        for each in agreements:
            check_choice(each.name, "agreement", AGREEMENTS)
        check_choice(scale, "scale", SCALES_OF_ONE)
        chosen = check_features(features)
        unknown = [name for name in units or {} if name not in chosen]
        if unknown:
            raise ParameterError(
                f"units must be of the features, got {listing(map(repr, unknown))}.", parameter="units"
            )
        for name, key in sites.items():
            check_name(name, "sites")
            if not is_public_key(key):
                raise ParameterError(
                    f"sites must have a public key of 64 hexadecimal digits for {name!r}, got {cut(repr(key), 80)}: "
                    "make_key or `clustrep key FILE` tells it.",
                    parameter="sites",
                )
        return cls(
            nonce=secrets.token_hex(16),
            sites=dict(sites),
            clusterers=tuple((each.name, written_estimator(_by_means(each.clusterer))) for each in configurations),
            features=chosen,
            units=dict(units or {}),
            scale=scale,
            agreements=tuple(each.name for each in agreements),
            n_resamples=check_integer(n_resamples, "n_resamples"),
            seed=root_entropy(rng),
        )._checked()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the session to a JSON file."""
        with written_whole(path) as stream:
            stream.write(json.dumps(self.to_fields(), indent=1).encode())

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Session:
        """Read a session from its file, and check all of it."""
        wrong = f"{path} holds no session of this clustrep: ask for the file that `clustrep agree` wrote."
        try:
            with open(path, "rb") as stream:
                text = stream.read(MOST_BYTES + 1)
        except OSError as error:
            raise DataError.unreadable(path, error) from None
        try:
            if len(text) > MOST_BYTES:
                raise ValueError
            return cls.from_fields(json.loads(text))
        except ClustrepError as error:
            raise DataError(f"{path} can't be used: {error}") from None
        except Exception:  # the file may hold anything
            raise DataError(wrong) from None

    def to_fields(self) -> dict[str, Any]:
        """Return the session in plain types."""
        plain: dict[str, Any] = json.loads(json.dumps({"version": VERSION, **dataclasses.asdict(self)}))
        return plain

    @classmethod
    def from_fields(cls, plain: Mapping[str, Any]) -> Session:
        """Read what `to_fields` returned; if it is something else, the error may be of any kind."""
        values = dict(plain)
        if values.pop("version") != VERSION:
            raise DataError(f"it is of another version than {VERSION}: use the same clustrep at every site.")
        values["clusterers"] = tuple((str(name), dict(written)) for name, written in values["clusterers"])
        for name in ("features", "agreements"):
            if not isinstance(values[name], list) or not all(isinstance(text, str) for text in values[name]):
                raise TypeError
            values[name] = tuple(values[name])
        return cls(**values)._checked()

    def _checked(self) -> Session:
        texts = (*self.sites, *self.units, *self.units.values(), *(name for name, _ in self.clusterers))
        sensible = (
            len(self.sites) > 1
            and all(map(is_public_key, self.sites.values()))
            and len(set(self.sites.values())) == len(self.sites)
            and isinstance(self.nonce, str)
            and len(bytes.fromhex(self.nonce)) == 16
            and all(isinstance(text, str) and text for text in texts)
            and 0 < len(self.features) == len(set(self.features))
            and set(self.units) <= set(self.features)
            and self.scale in SCALES_OF_ONE
            and 0 < len(self.agreements) == len(set(self.agreements))
            and set(self.agreements) <= set(AGREEMENTS)
            and is_whole(self.n_resamples, at_least=1)
            and is_whole(self.seed, at_least=0)
            and 0 < len(self.clusterers) <= MOST_CONFIGURATIONS
        )
        if not sensible:
            raise ParameterError(
                "a session needs two sites or more with different keys, a scale, agreements, resamples and features "
                "that differ.",
                parameter="sites",
            )
        too_many = self.n_resamples > MOST_RESAMPLES
        for each in self.configurations:
            if type(each.clusterer) is not KMeans and not _is_plain(getattr(each.clusterer, "classifier", None)):
                raise ParameterError("a session needs clusterers that take part by means.", parameter="clusterers")
            if not is_whole(each.n_clusters, at_least=2) or each.n_clusters > MOST_CLUSTERS or too_many:  # type: ignore[operator]
                raise ParameterError(
                    f"a session needs clusterers with 2 to {MOST_CLUSTERS:,} clusters, and at most "
                    f"{MOST_RESAMPLES:,} resamples, got {each.name!r} with {each.n_clusters} and {self.n_resamples:,}.",
                    parameter="n_clusters",
                )
        return self

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The clusterers, ready to be fitted."""
        return tuple(Configuration(name, estimator_of(written)) for name, written in self.clusterers)

    @cached_property
    def fingerprint(self) -> str:
        """A text that no other session has: every signature covers it."""
        return hashlib.sha256(json.dumps(self.to_fields(), sort_keys=True).encode()).hexdigest()

    def __repr__(self) -> str:
        names = [f"{name}: {describe_written(written)}" for name, written in self.clusterers]
        return "\n".join(
            [
                f"Session {self.fingerprint[:16]} of {listing(self.sites, 20)}",
                f"{len(self.features)} features ({listing(self.features, 10)}), scale {self.scale}; "
                f"{self.n_resamples:,} resamples; {listing(self.agreements)}",
                *names,
            ]
        )


def read_session(session: Session | str | PathLike[str]) -> Session:
    """Return a session, or read it from its file."""
    return session if isinstance(session, Session) else Session.read(session)


# ---------------------------------------------------------------------------------------------------------------------
# clusterers as plain types: a file never makes a program import anything


def _by_means(clusterer: Any) -> Any:
    """Let the means of its clusters stand for a clusterer."""
    if type(clusterer) is KMeans:
        return clusterer
    if isinstance(clusterer, Induced):
        if clusterer.classifier is not None and not _is_plain(clusterer.classifier):
            raise ParameterError(
                "clusterers: what stands for a cluster at other sites is its mean, NearestCentroid(), got "
                f"{describe(clusterer.classifier)}.",
                parameter="clusterers",
            )
        clusterer = clusterer.clusterer
    return Induced(clusterer, classifier=NearestCentroid())


def _is_plain(classifier: Any) -> bool:
    return isinstance(classifier, NearestCentroid) and not written_estimator(classifier)["parameters"]


def written_estimator(estimator: Any) -> dict[str, Any]:
    """Write an estimator as its kind and the parameters that differ from their defaults.

    Examples
    --------
    >>> written_estimator(KMeans(3, n_init=10))
    {'kind': 'KMeans', 'parameters': {'n_clusters': 3, 'n_init': 10}}
    """
    kind = type(estimator)
    if KINDS.get(kind.__name__) is not kind:
        raise ParameterError(
            f"clusterers must be of a kind that a file can name, got {cut(describe(estimator), 80)}: "
            f"{listing(KINDS, 20)}.",
            parameter="clusterers",
        )
    defaults = {name: argument.default for name, argument in inspect.signature(kind).parameters.items()}
    values = estimator.get_params(deep=False)
    changed = {name: value for name, value in sorted(values.items()) if not _is(value, defaults[name])}
    return {
        "kind": kind.__name__,
        "parameters": {name: _written_value(value, name, kind.__name__) for name, value in changed.items()},
    }


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _written_value(value: Any, name: str, kind: str) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if type(value).__name__ in KINDS:
        return written_estimator(value)
    if name in OF_FOLDERS or not (value is None or isinstance(value, bool | int | float | str)):
        raise ParameterError(
            f"{kind}({name}=…) must be a number, a text, True, False or None, and no folder, got "
            f"{cut(describe(value))}: tables and functions are not written into files, because they may hold samples.",
            parameter="clusterers",
        )
    return value


def estimator_of(written: Any, depth: int = DEPTH) -> Any:
    """Make an estimator of what `written_estimator` returned; if it is something else, the error may be of any kind."""
    kind, parameters = KINDS[written["kind"]], written["parameters"]
    if set(OF_FOLDERS) & set(parameters) or not set(parameters) <= set(inspect.signature(kind).parameters):
        raise ValueError
    return kind(
        **{
            str(name): estimator_of(value, depth - 1) if isinstance(value, dict) and depth else _plain(name, value)
            for name, value in parameters.items()
        }
    )


def _plain(name: str, value: Any) -> Any:
    if value is not None and not isinstance(value, bool | int | float | str):
        raise TypeError
    if isinstance(value, int) and name != "random_state" and abs(value) > LARGEST_PARAMETER:
        raise ParameterError(f"{name} must be at most {LARGEST_PARAMETER:,}, got {value:,}.", parameter="clusterers")
    return value


def short_name(written: Mapping[str, Any]) -> str:
    """Return what policies call a clusterer, from its plain types.

    Examples
    --------
    >>> short_name({"kind": "Induced", "parameters": {"clusterer": {"kind": "Birch", "parameters": {}}}})
    'birch'
    """
    while written["kind"] == "Induced":
        written = written["parameters"]["clusterer"]
    kind, parameters = written["kind"], written["parameters"]
    return str(parameters.get("linkage", "ward")) if kind == "AgglomerativeClustering" else SHORT_NAMES[kind]


def describe_written(written: Mapping[str, Any]) -> str:
    """Write an estimator as a call, from its plain types.

    Examples
    --------
    >>> describe_written({"kind": "KMeans", "parameters": {"n_clusters": 3}})
    'KMeans(n_clusters=3)'
    """
    values = {
        name: describe_written(value) if isinstance(value, Mapping) else repr(value)
        for name, value in written["parameters"].items()
    }
    return f"{written['kind']}({', '.join(f'{name}={value}' for name, value in values.items())})"

"""What a data owner lets leave the site: one file, which no partner can change."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from clustrep.checks import is_whole
from clustrep.data.study import Study
from clustrep.errors import DataError
from clustrep.federated.keys import is_public_key
from clustrep.federated.session import CLUSTERERS, Session, short_name
from clustrep.text import cut, listing, nearest

FUNCTIONS, SCORES = "functions", "scores"
RESULTS = (FUNCTIONS, SCORES)
STEADY = ("kmeans", "ward")  # single and average linkage tell of lone patients more often: `make attack`
# Means are rounded to this many steps of a feature's range; of scaled features to steps of a standard deviation, which
# are plausible up to this many of them. Centres must differ by this many steps in one feature.
STEPS, SCALED_STEP, SCALED_RANGE, STEPS_APART = 200, 0.05, 10.0, 5
# A cell has this many samples for each feature, lest a known person be found in its mean (Homer et al. 2008).
SAMPLES_PER_FEATURE = 2
# As many clusters as leave ten samples for each.
SAMPLES_PER_CLUSTER = 10
LEAST_SIZE = 3  # that a policy may ask for: with two samples, each knows the other


@dataclass(frozen=True)
class Policy:
    """The rules of one site: whatever partners ask for, nothing else leaves.

    Attributes
    ----------
    study : str
        The name of the study.
    features : dict of str to (float, float)
        The columns that may take part, each with the lowest and the highest plausible value. State what is known from
        the literature, not the extremes of the table.
    partners : dict of str to str
        The sites that may send and get files, each with its public key.
    min_cluster_size : int, default=10
        Nothing about fewer samples leaves: sites use 3 to 11.
    max_clusters : int, default=10
        The largest number of clusters.
    max_resamples : int, default=1000
        The largest number of resamples. They are drawn by the bootstrap, each drawn sample counted once.
    functions_per_partner, functions_in_all : int, default=10 and 30
        How many functions of each partner, and of all, are scored, ever.
    results : tuple of {"functions", "scores"}, default=("functions", "scores")
        What may leave.
    clusterers : tuple of str, default=("kmeans", "ward")
        Which may be asked for; also "minibatch", "bisecting", "gmm", "birch", "spectral", "complete", "average" and
        "single". By the last two, scores tell of a patient far from all others.
    patient : str, default=""
        The column (of `Study.groups`) that names the patient of every row: the first row of each takes part, so that
        all rules count patients. Without it every row counts as another patient.
    exact_numbers : bool, default=False
        Whether exact numbers leave, from which values of single samples follow: then no rule holds but those on
        features, clusterers, patients and partners.

    See Also
    --------
    learn, score : The functions that obey it.

    Notes
    -----
    It stands in a TOML file, beside which the log of what left is kept. docs/federated.md has the rules.

    Examples
    --------
    >>> Policy("mainz", {"age": (18, 110)}, {"vdx": 64 * "b"}).min_cluster_size
    10
    """

    study: str
    features: Mapping[str, tuple[float, float]]
    partners: Mapping[str, str]
    min_cluster_size: int = 10
    max_clusters: int = 10
    max_resamples: int = 1000
    functions_per_partner: int = 10
    functions_in_all: int = 30
    results: tuple[str, ...] = RESULTS
    clusterers: tuple[str, ...] = STEADY
    patient: str = ""
    exact_numbers: bool = False
    path: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        where = "The policy" if self.path is None else f"{self.path}"
        counts = {"min_cluster_size": LEAST_SIZE, "max_clusters": 2, "max_resamples": 1}
        counts |= {"functions_per_partner": 0, "functions_in_all": 0}
        for name, least in counts.items():
            if not is_whole(value := getattr(self, name), at_least=least):
                raise DataError(f"{where}: {name} must be a whole number from {least}, got {cut(repr(value))}.")
        if not isinstance(self.study, str) or not self.study:
            raise DataError(f'{where}: study must be the name of the study, as in study = "mainz".')
        if (
            not isinstance(self.features, Mapping)
            or not self.features
            or not all(map(_is_range, self.features.values()))
        ):
            raise DataError(f"{where}: features must have the lowest and the highest value, as in age = [18, 110].")
        if not isinstance(self.partners, Mapping) or not all(map(is_public_key, self.partners.values())):
            raise DataError(f'{where}: partners must have public keys of 64 digits, as in vdx = "0f3a…".')
        for name, known in (("results", RESULTS), ("clusterers", CLUSTERERS)):
            given = getattr(self, name)
            if not isinstance(given, tuple | list) or any(each not in known for each in given):
                raise DataError(f"{where}: {name} must be some of {listing(map(repr, known), 20)}, got {given!r}.")
        if not isinstance(self.patient, str):
            raise DataError(f"{where}: patient must be the name of a column, got {self.patient!r}.")
        if not isinstance(self.exact_numbers, bool):
            raise DataError(f"{where}: exact_numbers must be true or false, got {self.exact_numbers!r}.")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Policy:
        """Read a policy from its TOML file."""
        known = [each.name for each in fields(cls) if each.name != "path"]
        try:
            plain = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise DataError(f"The policy {path} can't be read ({error.strerror}): docs/federated.md has one.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"The policy {path} is not TOML: {error}. docs/federated.md has one.") from None
        for name in plain:
            if name not in known:
                raise DataError(f"{path} has an unknown entry {name!r}: {listing(known, 20)}.{nearest(name, known)}")
        lacking = [name for name in ("study", "features", "partners") if name not in plain]
        if lacking:
            raise DataError(f"{path} lacks {listing(lacking)}: docs/federated.md has a policy.")
        lists = {name: tuple(value) for name, value in plain.items() if isinstance(value, list)}
        return cls(**{**plain, **lists}, path=Path(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a TOML file."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "path"}
        tables = {"features": {name: list(map(float, ends)) for name, ends in self.features.items()}}
        Path(path).write_text(tomli_w.dumps({**plain, **tables, "partners": dict(self.partners)}), encoding="utf-8")
        Path(path).chmod(0o600)  # others must not change it

    def check(self, session: Session, result: str) -> None:
        """Refuse a session that asks for what the policy does not allow."""
        if self.study not in session.sites:
            raise DataError(
                f"The session is of {listing(session.sites, 20)}, and not of {self.study!r}: ask for yours."
            )
        if result not in self.results:
            raise DataError(f"The policy of {self.study!r} lets no {result} leave: add {result!r} to results.")
        foreign = [name for name in session.features if name not in self.features]
        if foreign:
            raise DataError(
                f"The policy of {self.study!r} does not allow the features {listing(map(repr, foreign))}: agree on a "
                "session without them, or add them to features."
            )
        others = {short_name(written) for _, written in session.clusterers} - set(self.clusterers)
        if others:
            raise DataError(
                f"The policy of {self.study!r} allows {listing(map(repr, self.clusterers), 20)}, the session asks for "
                f"{listing(map(repr, sorted(others)), 20)}: agree on others, or add them to clusterers, after what "
                "docs/federated.md tells of attacks."
            )
        for name, key in session.sites.items():
            if name != self.study and self.partners.get(name) != key:
                raise DataError(
                    f"The policy of {self.study!r} has no partner {name!r} with this key: compare keys by "
                    "telephone, then add the partner."
                )
        largest = max(each.n_clusters or 0 for each in session.configurations)
        for name, asked in (("max_clusters", largest), ("max_resamples", session.n_resamples)):
            if asked > getattr(self, name):
                raise DataError(f"The session asks for {asked:,}; {name} of {self.study!r}: {getattr(self, name):,}.")

    def check_table(self, study: Study) -> None:
        """Refuse a table with values outside the ranges."""
        for name in self.features:
            low, high = self.features[name]
            values = study.select([name]).X
            if values.min() < low or values.max() > high:
                raise DataError(
                    f"Study {self.study!r} has values of {name!r} outside {low:g} to {high:g}, the policy's range: "
                    "correct the table, or widen the range."
                )

    def fewest(self, n_features: int) -> int:
        """Return how many samples a cell must have."""
        return max(self.min_cluster_size, SAMPLES_PER_FEATURE * n_features)

    def steps(self, session: Session) -> np.ndarray[Any, Any]:
        """Return to what means are rounded, (n_features,)."""
        if session.scale != "none":
            return np.full(len(session.features), SCALED_STEP)
        low, high = self._ranges(session)
        return np.asarray((high - low) / STEPS)

    def rounded(self, centres: np.ndarray[Any, Any], session: Session) -> np.ndarray[Any, Any]:
        """Round means to steps."""
        steps = self.steps(session)
        return np.asarray(np.round(centres / steps) * steps)

    def in_steps(self, X: np.ndarray[Any, Any], session: Session) -> np.ndarray[Any, Any]:
        """Round values in original units to steps of their range: values within a step are alike."""
        low, high = np.array([self.features[name] for name in session.features], dtype=float).T
        return np.asarray(np.round(X * (STEPS / (high - low))))

    def objection(self, centres: np.ndarray[Any, Any], k: int, n: int, session: Session) -> str:
        """Say what is wrong with centres, from what is public alone; empty where nothing is."""
        if centres.shape != (k, len(session.features)):
            return f"{len(centres):,} centres where the question has {k}"
        if k > self.max_clusters or k > n // SAMPLES_PER_CLUSTER:
            return f"more than {self.max_clusters} clusters, or than one for {SAMPLES_PER_CLUSTER} samples"
        low, high = self._ranges(session)
        if ((centres < low) | (centres > high)).any():
            return "centres outside the range of plausible values"
        apart = np.abs(centres[:, None] - centres) / self.steps(session)
        if (apart.max(axis=2)[~np.eye(k, dtype=bool)] < STEPS_APART).any():
            return f"centres nearer than {STEPS_APART} rounding steps"
        return ""

    def _ranges(self, session: Session) -> np.ndarray[Any, Any]:
        if session.scale != "none":
            return np.array([[-SCALED_RANGE], [SCALED_RANGE]])
        return np.array([self.features[name] for name in session.features], dtype=float).T


def _is_range(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in value):
        return False
    try:
        low, high = map(float, value)
    except OverflowError:
        return False
    return low < high and bool(np.isfinite(high - low))

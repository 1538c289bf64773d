"""`combine`: functions and scores of all sites together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from clustrep.agreement.agreements import AGREEMENTS
from clustrep.algorithms.comparison import Comparison
from clustrep.errors import DataError
from clustrep.execution.context import config
from clustrep.execution.failures import Failures
from clustrep.execution.seeds import FULL_STUDY, Failed
from clustrep.federated.combined import Combined, FederatedClusters, FederatedScores
from clustrep.federated.files import SiteFile, SiteFunctions, SiteScores
from clustrep.federated.reading import verified
from clustrep.federated.session import Session, read_session
from clustrep.federated.site import MIXED, RESAMPLING
from clustrep.fitting.parameters import describe
from clustrep.provenance import Provenance, StudyRecord
from clustrep.text import listing, printable

# A partition that another study does not reproduce is no finding: the least prediction strength of Tibshirani and
# Walther (2005) with which they call clusters real, here of the first agreement that is that or adjusted for chance:
# the Rand index of five clusters in noise is higher.
REPLICABLE = 0.8


def combine(
    files: Sequence[SiteFunctions | SiteScores | str | PathLike[str]], session: Session | str | PathLike[str]
) -> Combined:
    """Put functions and scores of all sites together.

    Parameters
    ----------
    files : sequence of files, of SiteFunctions or of SiteScores
        The functions and the scores of every site of the session.
    session : Session or path
        What all sites agreed on.

    Returns
    -------
    Combined
        `.scores`, `.clusters`; `.comparison` where exact numbers left.

    Raises
    ------
    DataError
        Where a file was not signed by a site of the session for this session, is missing or there twice, where its
        numbers are out of range, or where sites scored different files of a partner.

    See Also
    --------
    learn, score : What every site does.
    Report : One page about it.

    Notes
    -----
    Scores of a training and a test site are computed at the test site; here they are only put into matrices, and the
    clusters of the best configuration are matched by their means. What sites withheld is listed in `.withheld`.

    References
    ----------
    Masoero, Thomas, Parmigiani, Tyekucheva, Trippa (2023). Cross-study replicability in cluster analysis. Statistical
    Science 38(2), sections 3.3.1 and 3.3.2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from clustrep.datasets import simulate_cohorts
    >>> from clustrep.federated import Policy, Session, combine, learn, make_key, score
    >>> groups = dict(n_subtypes=2, n_features=3, separation=8, missing={}, shifted={}, rng=1)
    >>> alpha, beta = simulate_cohorts(n_cohorts=2, **groups).values()
    >>> folder = Path(tempfile.mkdtemp())
    >>> keys = {name: make_key(folder / f"{name}.key") for name in ("alpha", "beta")}
    >>> ranges = {feature: (-20, 20) for feature in alpha.features}
    >>> session = Session.agree(AgglomerativeClustering(2), features=alpha.features, sites=keys, n_resamples=5)
    >>> for name, key in keys.items():
    ...     partner = {other: keys[other] for other in keys if other != name}
    ...     Policy(name, ranges, partner).save(folder / f"{name}.toml")
    >>> own = {s.name: (session, folder / f"{s.name}.toml", folder / f"{s.name}.key") for s in (alpha, beta)}
    >>> functions = [learn(study, *own[study.name], trust_partners=True) for study in (alpha, beta)]
    >>> scores = [score(study, functions, *own[study.name], trust_partners=True) for study in (alpha, beta)]
    >>> combine([*functions, *scores], session).clusters.letters
    ('A', 'B')
    """
    agreed = read_session(session)
    read = verified(files, agreed, SiteFunctions, SiteScores)
    sites = _Sites(agreed, _by_site(read, SiteFunctions, agreed), _by_site(read, SiteScores, agreed))
    sites.check()
    scores = sites.scores()
    return Combined(
        scores=scores,
        clusters=sites.clusters(scores),
        comparison=sites.comparison() if sites.exact_numbers else None,
        withheld=sites.withheld(),
    )


def _by_site(files: Sequence[SiteFile], kind: type[SiteFile], session: Session) -> list[Any]:
    """Return the file of every site, in the order of the session."""
    of_kind = [file for file in files if isinstance(file, kind)]
    names = [file.study for file in of_kind]
    what = "functions" if kind is SiteFunctions else "scores"
    wrong = [name for name in session.sites if names.count(name) != 1]
    if wrong:
        raise DataError(f"Name one file of {what} of every site, not none or two of {listing(map(repr, wrong))}.")
    return [of_kind[names.index(name)] for name in session.sites]


@dataclass(frozen=True, eq=False)
class _Sites:
    session: Session
    functions: Sequence[SiteFunctions]
    files: Sequence[SiteScores]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.session.sites)

    @property
    def exact_numbers(self) -> bool:
        return self.files[0].exact_numbers

    def check(self) -> None:
        """Check that every site scored the functions that are here, of all others."""
        digests = {file.study: file.digest for file in self.functions}
        if len({file.exact_numbers for file in (*self.functions, *self.files)}) > 1:
            raise DataError(MIXED)
        for functions, file in zip(self.functions, self.files, strict=True):
            if functions.n_samples != file.n_samples:
                raise DataError(f"The files of {file.study!r} are of different tables: ask the site for both again.")
        for file in self.files:
            scored = dict(zip(file.trains, file.train_digests, strict=True))
            expected = {name: digest for name, digest in digests.items() if name != file.study}
            wrong = [name for name in expected if scored.get(name) != expected[name]]
            if wrong:
                raise DataError(
                    f"{file.study!r} did not score the functions that are here of {listing(map(repr, wrong))}: send "
                    "all sites the same files, and score again."
                )
            for other in (each for each in self.functions if each.study != file.study):
                there = np.array([len(shelf.sizes) > 0 for shelf in other.shelves])
                if np.isfinite(file.scores[~there, ..., file.trains.index(other.study)]).any():
                    raise DataError(
                        f"{file.study!r} tells scores of functions that {other.study!r} withheld: score again."
                    )

    def _pairs(self, values: Sequence[Any], fill: Any) -> Any:
        """Put the columns of all sites into matrices (..., train, test); the last column is the site itself."""
        S = len(self.files)
        pairs = np.full((*values[0].shape[:-1], S, S), fill, dtype=values[0].dtype)
        for t, (file, value) in enumerate(zip(self.files, values, strict=True)):
            for s, name in enumerate(self.names):
                if s != t:
                    pairs[..., s, t] = value[..., file.trains.index(name)]
                elif value.shape[-1] == len(file.trains) + 1:
                    pairs[..., t, t] = value[..., -1]
        return pairs

    def scores(self) -> FederatedScores:
        """Return the scores of all pairs of sites."""
        return FederatedScores(
            names=self.names,
            agreements=self.session.agreements,
            clusterers=tuple(configuration.name for configuration in self.session.configurations),
            n_clusters=tuple(configuration.n_clusters for configuration in self.session.configurations),
            scores=self._pairs([file.scores for file in self.files], np.nan),
            provenance=self._provenance(),
        )

    def clusters(self, scores: FederatedScores) -> FederatedClusters:
        """Match the clusters of the best configuration, of studies that agree with another one."""
        best = scores.best
        replicates = np.zeros(len(self.names), dtype=bool)
        for a, name in enumerate(self.session.agreements):
            if AGREEMENTS[name].adjusted or name == "prediction_strength":
                mean = np.nan_to_num(scores.scores[best, a, 0], nan=-np.inf)
                replicates = np.maximum(mean.max(axis=0), mean.max(axis=1)) >= REPLICABLE
                break
        shelves = [file.shelves[best] for file in self.functions]
        forms = [file.functions(best)[FULL_STUDY] for file in self.functions]
        centres = [
            None if isinstance(form, Failed) or not known else form.centroids
            for form, known in zip(forms, replicates, strict=True)
        ]
        sizes, spreads = [shelf.sizes for shelf in shelves], [shelf.spread for shelf in shelves]
        return FederatedClusters.of(self.names, centres, sizes, spreads, scores.provenance)

    def comparison(self) -> Comparison:
        """Return the scores of all resamples."""
        exact = [file.exact[0] for file in self.files]
        scores = self._pairs([each.scores for each in exact], np.nan)
        trivial = self._pairs([each.trivial for each in exact], False)
        numbers = self._pairs([each.failed for each in exact], 0)
        causes = np.full(numbers.shape, "", dtype=object)
        for t, each in enumerate(exact):
            causes[..., t] = np.array(["", *each.causes], dtype=object)[numbers[..., t]]
        failed, names = Failures.number(causes)
        configurations = self.session.configurations
        result = Comparison(
            names=self.names,
            agreements=self.session.agreements,
            clusterers=tuple(configuration.name for configuration in configurations),
            n_clusters=tuple(configuration.n_clusters for configuration in configurations),
            estimate=scores[:, :, FULL_STUDY],
            distribution=scores[:, :, 1:],
            trivial=trivial[:, 1:],
            clusters_found=np.stack([each.clusters_found for each in exact], axis=-1)[:, 1:],
            failed=failed,
            causes=names,
            provenance=self._provenance(),
        )
        nothing_left = bool(np.isnan(result.distribution).all())
        Failures.count(failed, names, failed.size).report("score", nothing_left=nothing_left)
        return result

    def _provenance(self) -> Provenance:
        session = self.session
        p = len(session.features)
        return Provenance(
            seed=session.seed,
            resampling=describe(RESAMPLING),
            accelerate=config().accelerate,
            parameters={"n_resamples": session.n_resamples, "diagonal": self.exact_numbers, "noise": "label"},
            clusterers=tuple(configuration.record for configuration in session.configurations),
            studies={file.study: StudyRecord(file.n_samples, p, session.scale) for file in self.files},
            versions=_versions([file.versions for file in self.files]),
        )

    def withheld(self) -> tuple[str, ...]:
        """Return what sites did not tell, of their functions and of their scores."""
        return tuple(printable(f"{file.study}: {line}") for file in (*self.functions, *self.files) for line in file.log)


def _versions(of_sites: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the versions of packages; where sites differ, all of them."""
    packages = dict.fromkeys(package for versions in of_sites for package in versions)
    return {
        package: " / ".join(dict.fromkeys(str(versions.get(package, "unknown")) for versions in of_sites))
        for package in packages
    }

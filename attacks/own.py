"""Attacks of an adversary who knows the rules, and was not asked when they were made."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from attacks import probing, reading
from clustrep.errors import ClustrepError
from clustrep.federated import learn, make_key

REFUSED, RELEASED = "refused", "released"


def through_a_link() -> str:
    """Reach the policy by a symbolic link of another name, so that another log is kept beside it."""
    study = reading.patients(120, 5, 0)
    site = reading.hospital(study)
    folder = Path(tempfile.mkdtemp())
    (folder / "other.toml").symlink_to(site.policy("mainz"))
    grown = reading.patients(125, 5, 0)
    session, key = site.agree(KMeans(2, n_init=2), n_resamples=2), site.folder / "mainz.key"
    try:
        learn(study, session, site.policy("mainz"), key, trust_partners=True, n_jobs=1)
        learn(grown, session, folder / "other.toml", key, trust_partners=True, n_jobs=1)
    except ClustrepError:
        return REFUSED
    return RELEASED


def subset_of_features() -> int:
    """Release partitions by different features: sets differ by few patients."""
    study = reading.patients(120, 5, 3)
    site = reading.hospital(study)
    released = []
    for features in (study.features, study.features[:3], study.features[:2], study.features[1:]):
        try:
            session = site.agree(KMeans(n_init=3), features=features, n_clusters=(2, 3, 4), n_resamples=2)
            released.append(site.learn("mainz", session, n_jobs=1))
        except ClustrepError:
            continue
    log = site.policy("mainz").with_name("mainz.toml.log").read_text().splitlines()
    labels = np.array([each for line in log for each in json.loads(line)["partitions"]])
    alike = (labels[:, :, None] == labels[:, None, :]).all(axis=0).sum(axis=1)
    return int(alike.min())


def by_spreads(n_games: int) -> float:
    """Tell from the standard deviations within clusters whether a cluster has an outlier."""
    with_one, without = [], []
    for game in range(n_games):
        for outcome, there in ((with_one, True), (without, False)):
            X = np.array(reading.patients(120, 3, game, apart=8.0).X)
            if there:
                X[0, 2] = 9.0
            site = reading.hospital(cr.Study(X, "mainz", label=False))
            try:
                file = site.learn("mainz", site.agree(KMeans(2, n_init=3), n_resamples=2), n_jobs=1)
                outcome.append(file.shelves[0].spread[2])
            except ClustrepError:
                outcome.append(np.nan)
    return float((np.array(with_one) > np.nanquantile(without, 0.95)).mean())


def slab(n: int, p: int, n_games: int, n_asked: int = 10) -> float:
    """Recognise a person by planes immediately on both sides, with exact clusters of the victim at that plane.

    The victim's own two clusters meet at the person, where one patient moves the score most. The attacker compares the
    means of the answers of both sides, and knows everything about the population but this person.
    """
    members, others = [], []
    for game in range(n_games):
        for scores, there in ((members, True), (others, False)):
            X = np.random.default_rng([game, n, p, 5]).normal(size=(n, p)).clip(-3, 3) * 3 + 50
            X[:, 0] += np.where(np.arange(n) % 2, 12.0, -12.0)
            X[0, 0] = 50.5 if there else X[0, 0]
            victim = probing.Victim(cr.Study(X, "victim", features=[f"x{j}" for j in range(p)], label=False), (0, 100))
            told = {-1: [], 1: []}  # type: dict[int, list[float]]
            for i in range(n_asked // 2):
                for side in (-1, 1):
                    answer = victim.ask([probing.halves(p, 50.5 + side * (0.3 + 0.01 * i))], n_resamples=20)
                    if answer is not None:
                        told[side].append(answer.scores[0, 0, :, 0].sum())
            scores.append(np.nanmean(told[-1]) - np.nanmean(told[1]) if told[-1] and told[1] else 0.0)
    return float((np.abs(members) > np.quantile(np.abs(others), 0.95)).mean())


def far_off(linkage: str, n_games: int, n_asked: int = 10) -> float:
    """Ask whether a patient is 9 sd from all others in a feature, by a clusterer that puts such a patient apart.

    The victim's own two clusters, by a hierarchical clusterer, are the two groups without that patient, and the patient
    and all others with it. Half of the samples are scored: every second plane or so meets the patient.
    """
    members, others = [], []
    for game in range(n_games):
        for scores, there in ((members, True), (others, False)):
            X = 50 + 3 * np.random.default_rng([game, 120, 2, 7]).normal(size=(120, 2)).clip(-3, 3)
            X[:, 0] += np.where(np.arange(120) % 2, 12.0, -12.0)
            X[0, 1] = 50 + 9 * 3 if there else X[0, 1]
            victim = probing.Victim(cr.Study(X, "victim", features=["x0", "x1"], label=False), (0, 100))
            planes = [probing.halves(2, 50 + 0.1 * i) for i in range(n_asked)]
            answer = victim.ask(planes, clusterer=AgglomerativeClustering(2, linkage=linkage))
            scores.append(0.0 if answer is None else -np.nansum(answer.scores[:, 0, 0, 0]))
    return float((np.array(members) > np.quantile(others, 0.95)).mean())


def visits(n_games: int) -> float:
    """Return how far, in sd, the record of a patient is found who has twelve rows of the table (median)."""
    errors = []
    for game in range(n_games):
        rng = np.random.default_rng([game, 8])
        X = rng.normal(size=(120, 3)).clip(-3, 3)
        X[:, 0] += 6 * (np.arange(120) % 2)
        patient = rng.normal(size=3) + np.array([0, 7, 0])
        X[:12] = patient + 0.1 * rng.normal(size=(12, 3))
        site = reading.hospital(cr.Study(X, "mainz", label=False))
        try:
            file = site.learn("mainz", site.agree(KMeans(3, n_init=5), n_resamples=2), n_jobs=1)
            errors.append(np.abs(file.shelves[0].centroids[0] - patient).max(axis=1).min())
        except ClustrepError:
            errors.append(np.inf)
    return float(np.median(errors))


def key_swapped_in_session() -> str:
    """A partner who writes the session puts an own key in the place of another site's."""
    study = reading.patients(120, 2, 0, apart=8.0)
    site = reading.hospital(study)
    other = make_key(site.folder / "evil.key")
    session = site.agree(KMeans(2, n_init=2), n_resamples=2, sites={"mainz": site.keys["mainz"], "mallory": other})
    try:
        site.learn("mainz", session, n_jobs=1)
    except ClustrepError:
        return REFUSED
    return RELEASED


def two_at_once() -> int:
    """Two processes release at once: both read the log before either writes."""
    study = reading.patients(100, 3, 1)
    site = reading.hospital(study)
    sessions = [
        site.agree(AgglomerativeClustering(k, linkage=linkage), n_resamples=2)
        for k in (2, 3, 4)
        for linkage in ("ward", "complete")
    ]

    def attempt(session: object) -> bool:
        try:
            site.learn("mainz", session, n_jobs=1)
        except ClustrepError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(attempt, sessions))
    log = site.policy("mainz").with_name("mainz.toml.log").read_text().splitlines()
    labels = np.array([each for line in log for each in json.loads(line)["partitions"]])
    alike = (labels[:, :, None] == labels[:, None, :]).all(axis=0).sum(axis=1)
    assert any(done)
    return int(alike.min())

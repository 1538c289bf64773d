"""Attacks of an adversary who knows the rules, and was not asked when they were made."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, Birch, KMeans

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


def far_off(clusterer: Any, allowed: str, n_games: int, n_asked: int = 10) -> float:
    """Ask whether a patient is 9 sd from all others in a feature, by a clusterer that puts such a patient apart.

    The victim's own two clusters, by a hierarchical clusterer, are the two groups without that patient, and the patient
    and all others with it. Half of the samples are scored: every second plane or so meets the patient. With three
    clusters the second group is long, so that its halves are as costly as the patient alone; the asymmetry of the
    intervals tells more than the means.
    """
    three = clusterer.n_clusters == 3
    members, others = [], []
    for game in range(n_games):
        for scores, there in ((members, True), (others, False)):
            X = 50 + 3 * np.random.default_rng([game, 120, 2, 7]).normal(size=(120, 2)).clip(-3, 3)
            X[:, 0] += np.where(np.arange(120) % 2, 12.0, -12.0)
            X[1::2, 1] = 50 + (1.7 if three else 1) * (X[1::2, 1] - 50)
            X[0, 1] = 50 + 9 * 3 if there else X[0, 1]
            study = cr.Study(X, "victim", features=["x0", "x1"], label=False)
            victim = probing.Victim(study, (0, 100), clusterers=(allowed,))
            planes = [probing.halves(2, 50 + 0.1 * i) for i in range(n_asked)]
            if three:
                planes = [np.array([[38.0, 50.0], [62.0, 54 + i / 20], [62.0, 46 + i / 20]]) for i in range(n_asked)]
            answer = victim.ask(planes, clusterer=clusterer)
            mean, low, high = (0.0, 0.0, 0.0) if answer is None else np.nansum(answer.scores[:, 0, :, 0], axis=0)
            scores.append(low + high - 2 * mean if three else -mean)
    return float((np.array(members) > np.quantile(others, 0.95)).mean())


def disguised() -> str:
    """Ask for single linkage of a site whose policy names no clusterers, as it is and within others."""
    single = AgglomerativeClustering(2, linkage="single")
    study = probing.values(120, 2, 0)
    for clusterer in (single, cr.Induced(single), Birch(n_clusters=2), Birch(n_clusters=single)):
        try:
            if probing.Victim(study, (20, 80)).ask([probing.halves(2, 50)], clusterer=clusterer) is not None:
                return RELEASED
        except ClustrepError:
            continue
    return REFUSED


def withheld(clusterer: Any, n_games: int) -> float:
    """Tell from "withheld" for three clusters that a patient is 9 sd from two groups, and alone in the third."""
    missing: dict[bool, list[bool]] = {True: [], False: []}
    for game in range(n_games):
        for there, found in missing.items():
            X = np.random.default_rng([game, 120, 2, 9]).normal(size=(120, 2)).clip(-3, 3)
            X[:, 0] += np.where(np.arange(120) % 2, 4.0, -4.0)
            X[0, 1] = 9.0 if there else X[0, 1]
            site = reading.hospital(cr.Study(X, "mainz", label=False))
            file = site.learn("mainz", site.agree(clusterer, n_clusters=(2, 3), n_resamples=2), n_jobs=1)
            found.append(not len(file.shelves[1].centroids))
    return float(np.mean(missing[True]) - np.mean(missing[False]))


def by_scale(n_games: int) -> float:
    """Tell from means of scaled features, which one patient 9 sd off draws together, that there is this patient."""
    told: dict[bool, list[float]] = {True: [], False: []}
    for game in range(n_games):
        for there, distances in told.items():
            X = np.random.default_rng([game, 120, 2, 10]).normal(size=(120, 2)).clip(-3, 3)
            X += np.where(np.arange(120) % 2, 2.5, -2.5)[:, None]
            X[1, 1] = 11.5 if there else X[1, 1]
            site = reading.hospital(cr.Study(X, "mainz", label=False))
            session = site.agree(KMeans(2, n_init=2), n_resamples=2, scale="study")
            centres = site.learn("mainz", session, n_jobs=1).shelves[0].centroids[0]
            distances.append(-float(np.ptp(centres[:, 1])))
    return float((np.array(told[True]) > np.quantile(told[False], 0.95)).mean())


def jittered(study: cr.Study) -> str:
    """Hide a count of three positives behind noise that no mean shows."""
    noise = 1e-6 * np.random.default_rng(0).normal(size=len(study))
    return reading.refused(cr.Study(np.column_stack([study.X, (np.arange(len(study)) < 3) + noise]), "mainz"))


def visits(n_games: int, patient: str = "") -> float:
    """Return how far, in sd, the record of a patient is found who has twenty rows of the table (median).

    Infinity where nothing is released.
    """
    errors = []
    for game in range(n_games):
        rng = np.random.default_rng([game, 8])
        X = rng.normal(size=(120, 3)).clip(-3, 3)
        X[:, 0] += 6 * (np.arange(120) % 2)
        record = rng.normal(size=3) + np.array([0, 7, 0])
        X[:20] = record + 0.5 * rng.normal(size=(20, 3))
        who = {"patient": np.where(np.arange(120) < 20, 0, np.arange(120))}
        site = reading.hospital(cr.Study(X, "mainz", label=False).with_groups(who), patient=patient)
        try:
            file = site.learn("mainz", site.agree(KMeans(3, n_init=5), n_resamples=2), n_jobs=1)
            errors.append(np.abs(file.shelves[0].centroids[0] - record).max(axis=1).min())
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

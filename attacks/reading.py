"""Attacks of a curious partner: patients computed from honest files, over all sessions together."""

from __future__ import annotations

import json
import tempfile
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.federated.sites import Hospitals

import clustrep as cr
from clustrep.errors import ClustrepError
from clustrep.federated.files import SIZE_STEP, SiteFunctions
from clustrep.federated.record import Record

KS = (2, 3, 4, 5, 6)
NEAR = 0.1  # sd, in every feature
RANGE = [-8.0, 12.0]


def patients(n: int, p: int, seed: int, decimals: int | None = None, apart: float = 3.0) -> cr.Study:
    """Four groups that overlap."""
    rng = np.random.default_rng([seed, n, p])
    X = np.clip(rng.normal(size=(n, p)), -4, 4)
    X[:, :2] += apart * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[rng.integers(4, size=n)]
    return cr.Study(X if decimals is None else np.round(X, decimals), "mainz", label=False)


def hospital(study: cr.Study, **rules: object) -> Hospitals:
    """Return a site that follows its policy, and a partner of it."""
    partner = cr.Study(np.array(study.X), "mallory", features=study.features, label=False)
    site = Hospitals(tempfile.mkdtemp(), [study, partner])
    site.write_policy(study.name, features=dict.fromkeys(study.features, RANGE), **rules)
    return site


def released(study: cr.Study) -> tuple[Hospitals, list[SiteFunctions]]:
    """Release whatever an honest site releases in four sessions, of other clusterers, seeds and scales."""
    site, files = hospital(study), []
    clusterers = {"kmeans": KMeans(n_init=3), "ward": AgglomerativeClustering()}
    for question in ({}, {"rng": 8}, {"n_clusters": (3, 7)}, {"scale": "study"}):
        session = site.agree(clusterers, **{"n_clusters": KS, "n_resamples": 2, **question})
        try:
            files.append(site.learn(study.name, session, n_jobs=1))
        except ClustrepError:
            continue  # nothing may leave
    return site, files


def told_sets(files: list[SiteFunctions]) -> list[tuple[float, np.ndarray]]:
    """Return the size and the sum of every cluster, and of every union of clusters of one partition."""
    sets = []
    for file in files:
        for shelf in file.shelves:
            if len(shelf.sizes):
                sums = shelf.sizes[:, None] * shelf.centroids[0]
                for r in range(1, len(shelf.sizes)):
                    for chosen in map(list, combinations(range(len(shelf.sizes)), r)):
                        sets.append((shelf.sizes[chosen].sum(), sums[chosen].sum(axis=0)))
    return sets


def near_differences(study: cr.Study, files: list[SiteFunctions]) -> int:
    """Count the patients near a difference of two sets whose rounded sizes may differ by one to three patients."""
    sets, found = told_sets(files), set()
    for (s, a), (t, b) in combinations(sets, 2):
        if abs(s - t) <= SIZE_STEP:
            for candidate in (sign * (a - b) / d for d in (1, 2, 3) for sign in (1, -1)):
                apart = np.abs(study.X - candidate).max(axis=1) / study.X.std()
                found |= set(np.flatnonzero(apart < NEAR).tolist())
    return len(found)


class Differenced(NamedTuple):
    """The functions that were released, the patients near a difference, the same of other patients, and atoms."""

    functions: int
    near: int
    by_chance: int
    smallest: int  # patients in the smallest group that any linear combination can be about


def differenced(study: cr.Study, others: cr.Study) -> Differenced:
    """Difference everything that was released about a study, in four sessions."""
    site, files = released(study)
    with Record.opened(site.policy(study.name), table_of(site, study)) as record:
        partitions = record.partitions()
    if not partitions:
        return Differenced(0, 0, 0, len(study))
    # By linear algebra: no combination of indicators of released clusters tells patients in equal columns apart.
    rows = np.concatenate([labels == np.arange(labels.max() + 1)[:, None] for labels in partitions])
    alike = (rows[:, :, None] == rows[:, None, :]).all(axis=0)
    smallest = int(alike.sum(axis=1).min())
    return Differenced(len(partitions), near_differences(study, files), near_differences(others, files), smallest)


def table_of(site: Hospitals, study: cr.Study) -> str:
    first = site.policy(study.name).with_name(f"{study.name}.toml.log").read_text().splitlines()[0]
    return str(json.loads(first)["table"])


def membership(n: int, p: int, n_games: int, seed: int = 0) -> float:
    """Look for a person whose record is known in the means of their cluster (Homer et al. 2008).

    Returns the share of members that are recognised where 5 % of others are taken for members. The attacker has the
    released means, the person's record and a reference sample of the population.
    """
    member, other = [], []
    for game in range(n_games):
        rng = np.random.default_rng([seed, n, p, game])
        X = rng.normal(size=(n + 1, p)).clip(-4, 4)
        X[:, 0] += 6 * (np.arange(n + 1) % 2)
        study = cr.Study(X[:n], "mainz", label=False)
        site = hospital(study)
        try:
            file = site.learn("mainz", site.agree(KMeans(2, n_init=2), n_resamples=2), n_jobs=1)
        except ClustrepError:
            return float("nan")
        for person, scores in ((X[n - 2], member), (X[n], other)):
            centres = file.shelves[0].centroids[0]
            mean = centres[((centres - person) ** 2).sum(axis=1).argmin()]
            expected = np.zeros(p)
            expected[0] = 6 * (person[0] > 3)
            scores.append(((person - expected) * (mean - expected))[1:].sum())
    return float((np.array(member) > np.quantile(other, 0.95)).mean())


def last_one(study: cr.Study) -> float:
    """Return how far, in sd, the value of a patient is found by somebody who knows all others (median)."""
    site = hospital(study)
    file = site.learn("mainz", site.agree(KMeans(2, n_init=3), n_resamples=2), n_jobs=1)
    (centres,), sizes = file.shelves[0].centroids, file.shelves[0].sizes
    labels = ((study.X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    errors = []
    for i in range(len(study)):
        others = (labels == labels[i]) & (np.arange(len(study)) != i)
        guess = (others.sum() + 1) * centres[labels[i]] - study.X[others].sum(axis=0)
        errors.append(np.abs(guess - study.X[i]).max() / study.X.std())
    assert sizes.sum() > 0
    return float(np.median(errors))


def refused(study: cr.Study, again: cr.Study | None = None) -> str:
    """Say whether a site refuses to release: of a study, or of one after another."""
    site = hospital(study)
    session = site.agree(KMeans(2, n_init=2), n_resamples=2)
    try:
        site.learn("mainz", session, n_jobs=1)
        if again is not None:
            site.studies["mainz"] = again
            site.learn("mainz", session, n_jobs=1)
    except ClustrepError:
        return "refused"
    return "released"

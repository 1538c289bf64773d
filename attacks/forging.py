"""Attacks on authenticity: files in another's name, and files of an earlier round."""

from __future__ import annotations

import dataclasses

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from attacks.reading import patients
from clustrep.errors import ClustrepError
from clustrep.federated.files import SiteScores

ACCEPTED, REFUSED = "accepted", "refused"


def honest(seed: int = 0) -> list[SiteScores]:
    """Return the scores of two sites."""
    studies = [patients(80, 3, seed).renamed("mainz"), patients(80, 3, seed + 1).renamed("vdx")]
    functions = [cr.federated.learn(KMeans(2, n_init=1), study, n_resamples=3, rng=seed) for study in studies]
    return [cr.federated.score(study, functions, agreement="ari") for study in studies]


def combined(files: list[SiteScores]) -> str:
    """Say whether files are accepted."""
    try:
        cr.federated.combine(files)
    except ClustrepError:
        return REFUSED
    return ACCEPTED


def forged() -> str:
    """Write scores in the name of another site, sealed like honest ones."""
    mainz, vdx = honest()
    wrong = dataclasses.replace(vdx, scores=np.where(np.isnan(vdx.scores), np.nan, 50.0)).sealed()
    return combined([mainz, wrong])


def replayed() -> str:
    """Send the scores of an earlier round with the same functions."""
    mainz, vdx = honest()
    old = dataclasses.replace(vdx, scores=np.round(vdx.scores, 1)).sealed()
    return combined([mainz, old])

"""What tests of reports share: cohorts, a choice, results with known scores."""

from __future__ import annotations

import dataclasses

import numpy as np
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.algorithms.choice import Against, Best, Candidate

WARD = AgglomerativeClustering()


THREE = AgglomerativeClustering(3)


HOSTILE = "<script>alert(1)</script>"


def cohorts_named(*names):
    made = cr.datasets.simulate_cohorts(
        n_cohorts=len(names), n_samples=30, n_subtypes=3, n_features=3, separation=9, missing={}, shifted={}, rng=3
    )
    return cr.Studies(
        [
            cr.Study(study.X, name, features=made.features, samples=study.samples, labels=study.labels)
            for name, study in zip(names, made.values(), strict=True)
        ]
    )


def candidate(k, score=0.8):
    return Candidate("ward", k, score, score - 0.1, score + 0.1)


def choice(best=0, rivals=(), adjusted=None, excess=(0.5, 0.3, 0.1), ks=(2, 3, 4), shares=(0.7, 0.2, 0.1)):
    """A choice among three k."""
    candidates = tuple(candidate(k, 0.9 - 0.1 * i) for i, k in enumerate(ks))
    top = None
    if best is not None:
        top = Best(**vars(candidates[best]), agreement="ari", rivals=tuple(candidates[r] for r in rivals))
    against, chosen = None, top and candidates[best]
    if adjusted is not None:
        observed = np.array([0.85, 0.75, 0.65])
        against = Against(
            observed, observed - excess, np.array(excess), np.array(adjusted, float), np.array(adjusted, float)
        )
        above = np.flatnonzero(against.above)
        chosen = candidates[above[np.argmax(against.excess[above])]] if above.size else None
    return cr.results.Choice("ari", top, None, candidates, np.ones(3, dtype=bool), np.array(shares), against, chosen)


def crafted(analysis, mean, n=40, sd=0.01, estimate=None):
    """A replicability whose scores lie around these."""
    mean = np.array(mean, dtype=float)
    noise = sd * np.random.default_rng(0).normal(size=(n, *mean.shape))
    return dataclasses.replace(
        analysis.replicability,
        names=tuple("abcdef"[: len(mean)]),
        estimate=mean if estimate is None else np.array(estimate, dtype=float),
        distribution=mean + noise,
        trivial=np.zeros(noise.shape, dtype=bool),
    )


def sections(report):
    return [item["id"] for item in report.facts["sections"]]

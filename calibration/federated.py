"""Single samples from the means of many resamples with public draws.

Prints the tables of docs/federated.md under "Public draws"; `make federated-calibration` runs it, `--studies`
sets its size. A share below 100 % is no protection: other attacks need less, among them the difference of two clusters.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.federated.files import SiteFunctions
from clustrep.federated.forms import NearestCentres
from clustrep.federated.inquiry import resampling_of
from clustrep.fitting.resample import PointSet, Source

SIDE, SEED, NAME = 4.0, 7, "mainz"
KS = (2, 3, 4)
CLOSE = 0.1  # standard deviations
STEPS = 30
CORNERS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def groups(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from four round Gaussians at the corners of a square."""
    X = rng.normal(size=(n, p))
    X[:, :2] += SIDE * CORNERS[rng.integers(4, size=n)]
    return X


# ---------------------------------------------------------------------------------------------------------------------
# an attack on the means of many resamples


@dataclass(frozen=True)
class Published:
    """What the attacker has: means, and who was drawn for each function as far as the seed tells it."""

    functions: list[NearestCentres]
    drawn: np.ndarray  # (n_functions, n) of bool
    k: np.ndarray  # (n_functions,): the number of clusters
    sizes: dict[int, np.ndarray]  # of the clusters of the study as it is, by k


def published(file: SiteFunctions, n: int) -> Published:
    """Draw again what the seed and the study's name say was drawn."""
    question = file.question
    source = Source(resampling_of(question.resampling), question.seed, True)
    blank = cr.Study(np.zeros((n, len(question.features))), file.study)
    weights = [source.draw(blank, b).weights > 0 for b in range(question.n_replicates)]
    found = [
        (form, weights[b], k)
        for c, k in enumerate(KS)
        for b, form in enumerate(file.functions(c))
        if isinstance(form, NearestCentres)
    ]
    sizes = {k: file.shelves[c].sizes for c, k in enumerate(KS)}
    return Published(
        [form for form, _, _ in found], np.array([w for _, w, _ in found]), np.array([k for *_, k in found]), sizes
    )


def solved(
    told: Published, labels: Callable[[NearestCentres], np.ndarray], start: np.ndarray, ridge: float
) -> tuple[np.ndarray, float]:
    """Solve "this mean is that of these samples" for all samples, given who is in which cluster."""
    rows, means = [], []
    for form, drawn in zip(told.functions, told.drawn, strict=True):
        clusters = labels(form)
        for j, centre in enumerate(form.centroids):
            members = (clusters == j) & drawn
            if members.any():
                rows.append(members / members.sum())
                means.append(centre)
    A, R = np.array(rows), np.array(means)
    X = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ R + ridge * start)
    return X, float(np.sqrt(((A @ X - R) ** 2).mean()))


def first_guess(told: Published) -> np.ndarray:
    """Regress the means of the largest k on who was drawn: a sample moves the mean of its cluster alone."""
    k = max(KS)
    own = np.flatnonzero(told.k == k).tolist()
    full, *rest = [told.functions[i] for i in own]
    W = told.drawn[own[1:]].astype(float)
    W -= W.mean(axis=0)
    G = W @ W.T
    G += 1e-3 * np.trace(G) / len(G) * np.eye(len(G))
    shifts = []
    for centre, size in zip(full.centroids, told.sizes[k], strict=True):
        means = np.array([form.centroids[((form.centroids - centre) ** 2).sum(axis=1).argmin()] for form in rest])
        shifts.append(W.T @ np.linalg.solve(G, means - means.mean(axis=0)) * 0.632 * size)
    by_cluster = np.stack(shifts, axis=1)  # (n, k, p)
    strength = np.linalg.norm(by_cluster, axis=2) / np.sqrt(told.sizes[k])
    cluster = strength.argmax(axis=1)
    return np.asarray(full.centroids[cluster] + by_cluster[np.arange(len(cluster)), cluster])


def reconstructed(told: Published) -> np.ndarray:
    """Guess all samples, then solve for them and reassign them in turn; of both the guess that fits better."""
    guess = X = first_guess(told)
    before = solved(told, lambda form: form.labels(PointSet(np.ascontiguousarray(guess))), guess, 1e6)[1]
    ridge = 0.01
    for _ in range(STEPS):
        points = PointSet(np.ascontiguousarray(X))
        X, after = solved(told, lambda form, points=points: form.labels(points), X, ridge)  # type: ignore[misc]
        ridge = max(0.8 * ridge, 1e-7)
    return X if after < before else guess


def errors(guess: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return the distance of every sample from its guess, in standard deviations of a feature."""
    return np.asarray(np.sqrt((((guess - X) / X.std(axis=0)) ** 2).mean(axis=1)))


def learned(n: int, p: int, n_resamples: int, seed: int) -> tuple[np.ndarray, Published]:
    """Return the samples of one study, and what its file tells with public draws."""
    X = groups(n, p, np.random.default_rng([seed, n, p]))
    file = cr.federated.learn(KMeans(n_init=5), cr.Study(X, NAME), n_clusters=KS, n_resamples=n_resamples, rng=SEED)
    return X, published(file, n)


def regression(n: int, p: int, n_resamples: int, seed: int) -> dict[str, np.ndarray]:
    """Return the errors of an attacker with the draws alone."""
    X, told = learned(n, p, n_resamples, seed)
    return {"who was drawn": errors(reconstructed(told), X)}


def attacks(n: int, p: int, n_resamples: int, seed: int) -> dict[str, np.ndarray]:
    """Return the errors of attackers with the clusters of the samples, or all samples but one."""
    X, told = learned(n, p, n_resamples, seed)
    points = PointSet(X)
    largest = next(form for form, k in zip(told.functions, told.k, strict=True) if k == max(KS))
    return {
        "who was drawn and who is in which cluster": errors(
            solved(told, lambda form: form.labels(points), np.broadcast_to(X.mean(axis=0), X.shape), 1e-9)[0], X
        ),
        "all other patients": errors(_all_others(largest, X), X),
    }


def _all_others(form: NearestCentres, X: np.ndarray) -> np.ndarray:
    """Find every sample from one function and all other samples."""
    labels = form.labels(PointSet(X))
    sums = np.array([X[labels == j].sum(axis=0) for j in range(form.n_labels)])
    sizes = np.bincount(labels, minlength=form.n_labels)
    return np.asarray(sizes[labels, None] * form.centroids[labels] - (sums[labels] - X))


def print_attacks(
    attack: Callable[[int, int, int, int], dict[str, np.ndarray]],
    n_studies: int,
    cases: Sequence[tuple[int, int, int]],
) -> None:
    """Print how far a guess is from the patient, by the attacker's knowledge."""
    print(
        f"\nk-means, k = 2, 3, 4, public draws; {n_studies} studies each; n × p, B: median error in sd (within {CLOSE})"
    )
    results = [[attack(*case, seed) for seed in range(n_studies)] for case in cases]
    print("\n| the attacker has the file and | " + " | ".join(f"{n} × {p}, {B}" for n, p, B in cases) + " |")
    print("|---|" + "---|" * len(cases))
    for name in results[0][0]:
        pooled = [np.concatenate([of_study[name] for of_study in of_case]) for of_case in results]
        cells = [f"{np.median(error):.2f} ({(error < CLOSE).mean():.0%})" for error in pooled]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


@cr.config_context(progress=False)
def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=5)
    n_studies = parser.parse_args().studies
    print_attacks(
        attacks,
        n_studies,
        [(120, 3, 25), (120, 3, 100), (120, 3, 400), (200, 10, 100), (200, 10, 400), (500, 10, 100)],
    )
    print_attacks(regression, n_studies, [(120, 3, 400), (200, 10, 400)])  # with fewer resamples it finds few samples


if __name__ == "__main__":
    main()

"""Assignment of new samples, coverage and unknown clusters: `python -m calibration.assign [--data-sets N]`.

Three studies define the clusters; a fourth, with its own shares and its own shift, is new. In half of the settings the
new study has a cluster that no other has.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

from clustrep.data.studies import Studies
from clustrep.findings.alignment import aligned
from clustrep.findings.assign import NONE, with_reference
from clustrep.findings.find import find_clusters
from clustrep.findings.result import SEPARATED
from clustrep.fitting.parameters import configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun

K = 3
SEPARATION = 6.5
# Features, shift of the studies in sd, cluster-specific shift in sd, whether the new study has a further cluster.
SETTINGS = list(product((2, 10, 60, 500), (0.0, 3.0), (0.0, 1.0), (False, True)))


def centres_of(k: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Draw centres of which the closest two are exactly so far apart."""
    centres = rng.normal(size=(k, p))
    distances = np.linalg.norm(centres[:, None] - centres, axis=-1) + np.diag(np.full(k, np.inf))
    return centres * SEPARATION / distances.min()


def draw(shares: np.ndarray, centres: np.ndarray, shift: float, own: float, rng: np.random.Generator, n: int = 120):
    """Draw one study: samples and their clusters."""
    p = centres.shape[1]
    labels = rng.choice(len(shares), n, p=shares)
    moves = rng.normal(size=(1 + len(centres), p))
    moves /= np.linalg.norm(moves, axis=1, keepdims=True)
    return (centres + own * moves[1:])[labels] + shift * moves[0] + rng.normal(size=(n, p)), labels


def outcome(setting: tuple[int, float, float, bool], number: int) -> tuple[int, ...] | None:
    """Count members, covered, right, of another cluster; unknown samples, and those called none of these."""
    p, shift, own, has_further = setting
    rng = np.random.default_rng([2026, SETTINGS.index(setting), number])
    centres = centres_of(K + has_further, p, rng)
    shares = [np.append(rng.dirichlet(np.full(K, 5.0)), [0.0] * has_further) for _ in range(3)]
    drawn = [draw(share, centres, shift, own, rng) for share in shares]
    studies = Studies({f"study {s}": X for s, (X, _) in enumerate(drawn)}, label=False)
    configurations = configurations_of("k-means", KMeans(n_init=5), range(2, 6))
    findings = find_clusters(studies, configurations, Source.of(Rerun(), number))
    if findings.verdict != SEPARATED or findings.n_clusters != K:
        return None
    compared, findings = aligned(studies, findings)
    findings = with_reference(findings, studies, compared)
    truth = np.concatenate([labels for _, labels in drawn])
    letter = [findings.letters[np.bincount(findings.codes[truth == c]).argmax()] for c in range(K)]
    X, labels = draw(np.full(len(centres), 1 / len(centres)), centres, shift, own, rng)
    assigned = findings.assign(X)
    known = labels < K
    right = np.array([letter[c] if c < K else "" for c in labels])
    inside = np.array([name in names.split() for name, names in zip(right, assigned["set"], strict=True)])
    given, none = assigned["cluster"].to_numpy(), (assigned["cluster"] == NONE).to_numpy()
    return (
        int(known.sum()),
        int(inside[known].sum()),
        int((given == right)[known].sum()),
        int(((given != right) & ~none)[known].sum()),
        int((~known).sum()),
        int(none[~known].sum()),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=40)
    n_data_sets = parser.parse_args().data_sets
    print(
        "| features | shift | of single clusters | data sets | in the set | right | another | unknown: none of these |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for setting in SETTINGS:
        outcomes = [each for number in range(n_data_sets) if (each := outcome(setting, number)) is not None]
        members, covered, right, another, unknown, none = np.sum(outcomes, axis=0)
        low, high = binomtest(covered, members).proportion_ci()
        print(
            f"| {setting[0]} | {setting[1]:g} sd | {setting[2]:g} sd | {len(outcomes)} "
            f"| {covered / members:.1%} ({low:.1%}–{high:.1%}) | {right / members:.1%} | {another / members:.1%} "
            f"| {f'{none / unknown:.1%}' if unknown else '–'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

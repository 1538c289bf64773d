"""Fig. 2, section 4.2: two studies of a mixture in 64 dimensions, two of the mixture with other means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.cluster import AffinityPropagation, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans
from sklearn.utils import shuffle

import clustrep as cr
from clustrep.errors import DataError
from paper.common import DEPENDS, FAILS, HOLDS, SEED, Claim, number, save

WHERE = "Fig. 2, section 4.2"
KS = (6, 11, 16, 21)
TRUE_K = 16
WITHIN = ((0, 1), (1, 0), (2, 3), (3, 2))
ACROSS = tuple((s, t) for s in range(4) for t in range(4) if (s < 2) != (t < 2))
SWAPPED = np.r_[32:64, :32]
# Same mixture, other mixture, at k = 16.
PRINTED = {
    "k-means": (0.996, 0.513),
    "mini-batch": (0.996, 0.512),
    "Birch": (1.000, 0.541),
    "affinity propagation": (0.778, 0.443),
}


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Run the experiment as written and as published, and draw the figures."""
    studies, source = four_studies()
    n_resamples, n_permutations, n_each = (5, 8, 4) if quick else (100, 20, 20)
    written = compare(clusterers(10), with_other_columns(studies, permutation(0)), KS, n_resamples)
    published = compare(clusterers(50), with_other_columns(studies, SWAPPED), KS, n_resamples)
    several = [
        compare({"k-means": KMeans(n_init=10)}, with_other_columns(studies, permutation(i)), (TRUE_K,), n_each)
        for i in range(n_permutations)
    ]
    figures = (
        save(written.plot(kind="matrices")[0, 0].figure, out, "fig2_dim_mixtures_as_written"),
        save(published.plot(kind="matrices")[0, 0].figure, out, "fig2_dim_mixtures_as_published"),
    )
    return [
        across_claim(written, published, several, source, figures),
        true_k_claim(written, published),
        affinity_claim(written, published),
    ]


def four_studies() -> tuple[cr.Studies, str]:
    """Deal the 1,024 points of DIM064 into four sets; simulated ones where the file is absent."""
    try:
        whole, source = cr.datasets.load_dim(64), "DIM064"
    except DataError:
        whole, source = (
            cr.datasets.simulate_dim(dimensions=64, n_clusters=16, n_samples=1024, rng=SEED),
            "simulated data",
        )
    return cr.Studies.split(whole, n=4, rng=SEED), source


def permutation(i: int) -> np.ndarray:
    """Permute the first 32 coordinates."""
    return np.r_[shuffle(np.arange(32), random_state=SEED + i), 32:64]


def with_other_columns(studies: cr.Studies, order: np.ndarray) -> cr.Studies:
    """Put the coordinates of the third and fourth study into another order."""
    return cr.Studies(
        [cr.Study(one.X[:, order] if name in "34" else one.X, name, label=False) for name, one in studies.items()]
    )


def clusterers(n_init: int) -> dict[str, object]:
    """The five algorithms; affinity propagation also with more damping, as it does not converge at its default."""
    return {
        "k-means": KMeans(n_init=n_init),
        "mini-batch": MiniBatchKMeans(n_init=3),
        "Birch": Birch(),
        "agglomerative": AgglomerativeClustering(),
        "affinity propagation": AffinityPropagation(),
        "affinity, damping .9": AffinityPropagation(damping=0.9),
    }


def compare(some: dict[str, object], studies: cr.Studies, ks: tuple[int, ...], n_resamples: int) -> cr.Comparison:
    """Score all pairs of different studies."""
    options = {"agreement": "ari", "diagonal": False, "rng": SEED, "n_jobs": -1, "progress": False}
    return cr.compare(some, studies, n_clusters=ks, n_resamples=n_resamples, **options)


def blocks(comparison: cr.Comparison, clusterer: str, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores within and across the mixtures, each a mean over its pairs, (n_resamples,)."""
    scores = comparison.replicability(clusterer, k).distribution  # (n_resamples, 4, 4)
    return tuple(np.mean([scores[:, s, t] for s, t in pairs], axis=0) for pairs in (WITHIN, ACROSS))


def names_and_ks(comparison: cr.Comparison) -> list[tuple[str, int | None]]:
    """All configurations."""
    return list(zip(comparison.clusterers, comparison.n_clusters, strict=True))


def beside(comparison: cr.Comparison, name: str) -> str:
    """Write the scores within and across at k = 16."""
    within, across = blocks(comparison, name, None if "affinity" in name else TRUE_K)
    return f"{number(within, 3)} / {number(across, 3)}"


def across_claim(
    written: cr.Comparison,
    published: cr.Comparison,
    several: list[cr.Comparison],
    source: str,
    figures: tuple[str, ...],
) -> Claim:
    """Studies of one mixture agree better than studies of two."""
    means = np.array([[scores.mean() for scores in blocks(one, "k-means", TRUE_K)] for one in several])  # (n, 2)
    perfect = int((means[:, 1] > 0.995).sum())
    gaps = {
        variant: {
            f"{name} {k}": float(np.subtract(*(scores.mean() for scores in blocks(one, name, k))))
            for name, k in names_and_ks(one)
        }
        for variant, one in (("written", written), ("published", published))
    }
    lowest = min(gaps["written"], key=gaps["written"].__getitem__)
    ours = {
        name: [float(scores.mean()) for scores in blocks(published, name, None if "aff" in name else TRUE_K)]
        for name in PRINTED
    }
    return Claim(
        WHERE,
        "Scores are always higher between two studies of one mixture, and substantially lower across mixtures.",
        f"k-means, k = 16, {len(several)} permutations of the first 32 coordinates: within {number(means[:, 0], 3)}, "
        f"across {number(means[:, 1], 3)}, from {means[:, 1].min():.3f} to {means[:, 1].max():.3f}; above .995 for "
        f"{perfect} of them. Smallest difference over algorithms and k, first permutation: "
        f"{gaps['written'][lowest]:.3f} ({lowest})",
        "Halves of the coordinates swapped, k = 16, within / across: "
        + "; ".join(
            f"{name} {one:.3f} / {other:.3f}, ours {beside(published, name)}" for name, (one, other) in PRINTED.items()
        ),
        FAILS if perfect > len(several) / 2 else DEPENDS,
        f"On {source}. 32 of 64 coordinates stay as they are, and clusters this far apart are told from them alone: "
        "the nearest mean stays the nearest under most permutations. With the halves swapped, no coordinate stays.",
        figures,
        {"within": float(means[:, 0].mean()), "across": float(means[:, 1].mean()), "perfect": perfect}
        | {"permutations": len(several), "gaps": gaps, "published": ours},
    )


def true_k_claim(written: cr.Comparison, published: cr.Comparison) -> Claim:
    """The score within a mixture is highest at 16."""
    tables = {}
    for variant, one in (("written", written), ("published", published)):
        names = [name for name, k in names_and_ks(one) if k == TRUE_K]
        tables[variant] = {name: {k: blocks(one, name, k)[0] for k in KS} for name in names}
    best = {name: max(KS, key=lambda k: scores[k].mean()) for name, scores in tables["written"].items()}
    lines = {
        variant: "; ".join(
            f"{name} {', '.join(number(scores, 3) for scores in by_k.values())}" for name, by_k in table.items()
        )
        for variant, table in tables.items()
    }
    return Claim(
        WHERE,
        "All algorithms replicate best when they are given the true number of clusters, 16.",
        f"Within mixtures, k = 6, 11, 16, 21: {lines['written']}",
        f"With 50 starts of k-means: {lines['published'].split(';')[0]}",
        HOLDS if set(best.values()) == {TRUE_K} else DEPENDS,
        "Of those that take a number; affinity propagation takes none. Below 16, which clusters are merged is chance.",
        values={
            "best": best,
            "scores": {name: {k: float(v.mean()) for k, v in by.items()} for name, by in tables["written"].items()},
        },
    )


def affinity_claim(written: cr.Comparison, published: cr.Comparison) -> Claim:
    """Affinity propagation does worse than the others at the true k."""
    names = [name for name, k in names_and_ks(written) if k in (None, TRUE_K)]
    within = {name: blocks(written, name, None if "affinity" in name else TRUE_K)[0] for name in names}
    found = dict(zip(written.clusterers, np.nanmean(written.clusters_found, axis=(1, 2)), strict=True))
    affinity = [name for name in names if "affinity" in name]
    others = {name: float(within[name].mean()) for name in names if name not in affinity}
    return Claim(
        WHERE,
        "Affinity propagation replicates worse than the other algorithms.",
        "Within mixtures: "
        + "; ".join(f"{name} {number(within[name], 3)}, {found[name]:.0f} clusters" for name in affinity)
        + f"; the others at k = 16 at least {min(others.values()):.3f}",
        f"Printed .778 / .443; ours {beside(published, affinity[0])}, with damping .9 {beside(published, affinity[1])}",
        HOLDS if all(within[name].mean() < min(others.values()) for name in affinity) else DEPENDS,
        "At scikit-learn's defaults it does not converge here, and what it returns then are no clusters; the printed "
        "number was not reached with any setting tried. With more damping it converges, but points drawn twice make it "
        "find too few clusters.",
        values={"affinity": {name: float(within[name].mean()) for name in affinity}, "others": others},
    )

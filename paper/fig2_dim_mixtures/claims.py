"""Fig. 2, Section 4.2: two studies of a mixture in 64 dimensions, two of the mixture with other means."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import clustrep as cr
from paper.common import FAILS, HOLDS, Claim, clearly_positive, number, plain, row, share, verdict_of
from paper.fig2_dim_mixtures.affinity import affinity_claim
from paper.fig2_dim_mixtures.figures import draw
from paper.fig2_dim_mixtures.runs import (
    FULL,
    KS,
    PRINTED,
    QUICK,
    SWAPPED,
    TRUE_K,
    Runs,
    affinity,
    clusterers,
    dealt,
    gap,
    run,
    scores,
    settings,
    whole,
)

SUBSTANTIAL = 0.1


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Run the experiment as written and as published, and draw the figures."""
    study, source = whole()
    sizes = QUICK if quick else FULL
    runs = run(study, source, sizes)
    swapped = affinity(dealt(study, SWAPPED), sizes.n_table, sizes.n_jobs)
    title = f"{runs.where if runs.simulated else 'Fig. 2 on DIM064'},"
    figures = (
        draw(f"{title} as written: half of the coordinates permuted", "as_written", out, runs.written, runs.affinity),
        draw(f"{title} as published: halves of coordinates swapped", "as_published", out, runs.published, swapped),
    )
    return [
        always_claim(runs, figures),
        substantial_claim(runs),
        components_claim(runs),
        alone_claim(runs),
        true_k_claim(runs),
        affinity_claim(runs, swapped, dealt(study, SWAPPED), sizes),
    ]


def gaps(*comparisons: cr.results.Comparison) -> dict[str, np.ndarray]:
    """Within minus across of all settings, by name, (n_resamples,) each."""
    return {
        name + (f", k = {k}" if k else ""): gap(comparison, name, k) for comparison, name, k in settings(*comparisons)
    }


def over_permutations(runs: Runs, group: str = "within") -> list[np.ndarray]:
    """The same of k-means at k = 16 for every permutation."""
    return [gap(comparison, "k-means", TRUE_K, group) for comparison in runs.several]


def always_claim(runs: Runs, figures: tuple[str, ...]) -> Claim:
    """Studies of one mixture agree better than studies of two."""
    first, swapped, permuted = gaps(runs.written, runs.affinity), gaps(runs.published), over_permutations(runs)
    above = {name: clearly_positive(values) for name, values in first.items()}
    above_permuted = [clearly_positive(values) for values in permuted]
    above_published = [clearly_positive(values) for values in swapped.values()]
    kept = np.array([count.agreement == 1 for count in runs.counts[: len(permuted)]])
    means = np.array([values.mean() for values in permuted])
    lowest = min(first, key=lambda name: first[name].mean())
    verdict = verdict_of([*above.values(), *above_permuted])
    if verdict == HOLDS:
        plainly = "Every setting and every permutation has higher scores within a mixture."
    elif kept.any() and np.abs(means[kept]).max() < 0.005:
        plainly = (
            f"Under {kept.sum()} of {len(kept)} permutations every point stays nearest to its own component's mean,"
        )
        plainly += " and k-means at k = 16 scores the same within and across mixtures."
    else:
        plainly = "Some settings or permutations have no higher scores within a mixture."
    return Claim(
        f"{runs.where}, Section 4.2",
        "Scores are always higher between two studies of one mixture than across mixtures.",
        f"{runs.source}. Yes for {sum(above.values())} of {len(above)} settings of algorithm and k with one "
        f"permutation; lowest difference {number(first[lowest], 3)} ({lowest}). k-means at k = 16: yes for "
        f"{share(above_permuted)} permutations, each with its own random division into four studies. Agglomerative "
        "clustering is added by us; affinity propagation is run without a study against itself.",
        f"Halves of the coordinates swapped: yes for {sum(above_published)} of {len(above_published)} settings.",
        verdict,
        "within above across by more than two standard errors, each algorithm and k; each permutation",
        f"{plainly} Difference of k-means at k = 16 where all points keep their nearest mean ({kept.sum()} of "
        f"{len(kept)}): {number(means[kept], 3)}; else {number(means[~kept], 3)}.",
        figures,
        {"above": above, "permutations": above_permuted, "kept": kept, "differences": permuted}
        | {"published": swapped},
    )


def substantial_claim(runs: Runs) -> Claim:
    """Across mixtures scores are much lower."""
    first, permuted = gaps(runs.written, runs.affinity), over_permutations(runs)
    lower = {name: clearly_positive(values - SUBSTANTIAL) for name, values in first.items()}
    lower_permuted = [clearly_positive(values - SUBSTANTIAL) for values in permuted]
    means = {
        group: np.array([scores(comparison, "k-means", TRUE_K, group).mean() for comparison in runs.several])
        for group in ("within", "across")
    }
    largest = max(first, key=lambda name: first[name].mean())
    swapped = gap(runs.published, "k-means", TRUE_K)
    verdict = verdict_of([*lower.values(), *lower_permuted])
    plainly = f"k-means at k = 16 loses over {SUBSTANTIAL} under {sum(lower_permuted)} of {len(permuted)} permutations."
    if not any(lower_permuted) and clearly_positive(swapped - SUBSTANTIAL):
        plainly = (
            "At k = 16 permuting half of the coordinates costs k-means little, swapping the halves, as published, "
        )
        plainly += "much."
    if verdict == HOLDS:
        plainly = f"Every score across mixtures is lower than within one by more than {SUBSTANTIAL}."
    return Claim(
        f"{runs.where}, Section 4.2",
        "Scores across mixtures are substantially lower than within one.",
        f"k-means at k = 16, {len(permuted)} permutations: {number(means['within'], 3)} within, "
        f"{number(means['across'], 3)} across, from {plain(means['across'].min(), 3)}. Yes for "
        f"{sum(lower_permuted)} of them, and with one of them for {sum(lower.values())} of {len(lower)} settings of "
        "algorithm and k.",
        printed_beside(runs),
        verdict,
        f"across lower than within by more than {SUBSTANTIAL} and two standard errors, each algorithm and k; each "
        "permutation at k = 16",
        f"{plainly} k-means scores lower across by {number([values.mean() for values in permuted], 3)} over "
        f"permutations, by {number(swapped, 3)} with swapped halves. Largest difference as written: "
        f"{number(first[largest])} ({largest}).",
        values={"lower": lower, "permutations": lower_permuted} | means,
    )


def printed_beside(runs: Runs) -> str:
    """Write the printed scores at k = 16 beside the ranges of ours over divisions, and say which are outside."""
    parts, outside = [], []
    for name, printed in PRINTED.items():
        ranges = []
        for group, value in zip(("within", "across"), printed, strict=True):
            means = [scores(comparison, name, TRUE_K, group).mean() for comparison in runs.dealings]
            low, high = min(means), max(means)
            ranges.append(" to ".join(dict.fromkeys([plain(low, 3), plain(high, 3)])))
            if not low - 5e-4 <= value <= high + 5e-4:
                outside.append(f"{name} {group}, by {max(low - value, value - high):.3f}")
        parts.append(f"{name} {row(printed, 3).replace(', ', ' / ')}, ours {' / '.join(ranges)}")
    verdict = f"Outside: {'; '.join(outside)}." if outside else "All are inside."
    return (
        f"Halves swapped, k = 16, within / across, printed and ours over {len(runs.dealings)} random divisions of "
        f"{'the simulated data' if runs.simulated else 'DIM064'} into four studies: "
        + "; ".join(parts)
        + f". {verdict}"
    )


def components_claim(runs: Runs) -> Claim:
    """The components of the two mixtures are the same ones to a clustering function."""
    differ = [count.agreement < 1 for count in runs.counts]
    kept = [count.kept for count in runs.counts]
    measured = [scores(count, "k-means", TRUE_K, "across").mean() for count in runs.several]
    counted = [count.agreement for count in runs.counts[: len(measured)]]
    error = np.abs(np.subtract(measured, counted))
    verdict = verdict_of(differ)
    if verdict == HOLDS:
        plainly = "The means move, and the other mixture's never divide the points into their own components."
    elif verdict == FAILS:
        plainly = "The means move, yet the other mixture's always divide the points into their own components."
    else:
        plainly = (
            f"The means move, yet under {len(differ) - sum(differ)} of {len(differ)} permutations those of the other "
        )
        plainly += "mixture still divide the points into their own components."
    return Claim(
        f"{runs.where}, Section 4.2",
        "The two mixtures have different components, so that they are clustered differently.",
        f"Points of one put to the nearest of the other's 16 means are divided into their own components under "
        f"{share(np.logical_not(differ))} permutations; {number(100 * np.array(kept), 1)} % of the points have their "
        "own component's mean as the nearest.",
        f"Halves swapped: {100 * runs.swapped.kept:.1f} % of the points, ARI with the components "
        f"{runs.swapped.agreement:.2f} (exact counts).",
        verdict,
        f"the other mixture's means divide the points otherwise than their components do, each of {len(differ)} "
        "permutations",
        f"{plainly} Mean distance moved: {number([count.moved for count in runs.counts], 0)}. The ARI of this count, "
        f"no clusterer used, is within {error.max():.3f} of k-means' score across mixtures at k = 16 in all "
        f"{len(error)} permutations.",
        values={"differ": differ, "kept": np.array(kept), "swapped": runs.swapped.kept}
        | {"differences": np.subtract(measured, counted)},
    )


def alone_claim(runs: Runs) -> Claim:
    """A study that agrees with itself need not agree with another."""
    lower = [clearly_positive(values - SUBSTANTIAL) for values in over_permutations(runs, "alone")]
    means = {
        group: np.array([scores(comparison, "k-means", TRUE_K, group).mean() for comparison in runs.several])
        for group in ("alone", "across")
    }
    worst = int(means["across"].argmin())
    alone, across = (scores(runs.alone, "k-means", TRUE_K, group) for group in ("alone", "across"))
    plainly = f"Under {sum(lower)} of {len(lower)} permutations scores across mixtures are lower by over {SUBSTANTIAL}"
    if not any(lower):
        plainly = f"As written, no permutation lowers scores across mixtures by more than {SUBSTANTIAL}"
    if clearly_positive(alone - across - SUBSTANTIAL):
        plainly += "; swapping the halves, as published, does"
    return Claim(
        f"Section 3.1, on {runs.where}",
        "High scores within each study do not necessarily imply high ones across studies.",
        f"k-means, k = 16: within a study {number(means['alone'], 3)}, across mixtures {number(means['across'], 3)} "
        f"over {len(lower)} permutations. Within a study: one bootstrap draw against another.",
        f"No number printed. Halves swapped: {number(alone, 3)} within a study, {number(across, 3)} across.",
        verdict_of(lower),
        f"scores across mixtures below those within a study by more than {SUBSTANTIAL} and two standard errors, each "
        "permutation",
        f"{plainly}. Lowest across, as written: "
        f"{number(scores(runs.several[worst], 'k-means', TRUE_K, 'across'), 3)}, with "
        f"{number(scores(runs.several[worst], 'k-means', TRUE_K, 'alone'), 3)} within the studies.",
        values={"lower": lower, "published": (alone, across)},
    )


def true_k_claim(runs: Runs) -> Claim:
    """The score within a mixture is highest at 16."""
    within = {name: {k: scores(runs.written, name, k, "within") for k in KS} for name in clusterers(10)}
    best = {
        name: all(clearly_positive(by_k[TRUE_K] - by_k[k]) for k in KS if k != TRUE_K) for name, by_k in within.items()
    }
    published = [scores(runs.published, "k-means", k, "within") for k in KS]
    verdict = verdict_of(best.values())
    at_16 = min(by_k[TRUE_K].mean() for by_k in within.values())
    elsewhere = max(by_k[k].mean() for by_k in within.values() for k in KS if k != TRUE_K)
    plainly = f"Not clearly best at 16: {', '.join(name for name, so in best.items() if not so)}."
    if verdict == HOLDS:
        plainly = "Every algorithm finds the same 16 clusters again better than any other number tried."
    lines = "; ".join(f"{name} {', '.join(map(number, by_k.values()))}" for name, by_k in within.items())
    return Claim(
        f"{runs.where}, Section 4.2",
        "All algorithms replicate best when they are given the true number of clusters, 16.",
        f"Within mixtures, k = 6, 11, 16, 21: {lines}. Affinity propagation takes no number and is left out; "
        "agglomerative clustering is added by us.",
        f"Halves swapped, 50 k-means starts, k-means: {', '.join(map(number, published))}.",
        verdict,
        "at 16 above every other k by more than two standard errors, each algorithm",
        f"{plainly} Lowest score at 16: {plain(at_16, 3)}; highest at another k: {plain(elsewhere, 3)}.",
        values={"best": best, "scores": within},
    )

"""Appendix C.1: Smolkin–Ghosh inclusion, Jaccard coefficient, R and D index of k-means on three benchmark shapes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import clustrep as cr
from clustrep.errors import DataError
from paper.appendix_c_common import CLOSE, NEW_STARTS, SPURIOUS, above, is_spurious, listed, load_shapes, on_which
from paper.appendix_c_stability import r_and_d, runs
from paper.appendix_c_stability.figures import draw, draw_curves
from paper.appendix_c_stability.runs import Results
from paper.common import ABSENT, Claim, not_run, number, verdict_of

FULL = {"aggregation": range(3, 10), "compound": range(3, 10), "r15": range(5, 20)}
QUICK = {"aggregation": (3, 4, 5, 7, 8), "compound": (3, 6, 8), "r15": (5, 7, 15, 17)}
FEW = (3, 4, 5)

INCLUSION = "On aggregation with k = 3, 4, 5, the inclusion scores of all clusters are close to 1."
IN_SPITE = "On aggregation with k = 3, 4, 5, some clusters are spurious in spite of inclusion scores close to 1."
ELSEWHERE = "On compound and r15, too, some spurious clusters have inclusion scores close to 1."
JACCARD = "Hennig's Jaccard coefficient under the bootstrap tells spurious clusters from real ones."


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Measure the stability of every cluster as written and as published."""
    remark = not_run("C.1, R index", [r_and_d.HIGH], "A remark: the paper has no experiment for it.")
    try:
        shapes = load_shapes()
    except DataError:
        return [*not_run("C.1", [INCLUSION, IN_SPITE, *r_and_d.CLAIMS], ABSENT), *remark]
    n, ks, n_jobs = (30, QUICK, 1) if quick else (200, FULL, -1)
    truth = {name: np.asarray(study.labels) for name, study in shapes.items()}
    written = runs.as_written(shapes, ks, n, n_jobs)
    published = runs.as_published(shapes, ks, n, n_jobs)
    curves = runs.noise_curves(shapes, n, n_jobs)
    figures = [
        draw(study, variant[name], out, name, words)
        for words, variant in (("as written", written), ("as published", published))
        for name, study in shapes.items()
    ]
    # The text's noise has half of each column's variance, the published one half of its standard deviation.
    ratios = {name: float((study.X.var(axis=0) / study.X.std(axis=0)).mean()) for name, study in shapes.items()}
    return [
        close_claim(written, published, n, tuple(figures)),
        in_spite_claim(written, published, truth["aggregation"]),
        elsewhere_claim(written, published, truth),
        r_and_d.telling_claim("d", written, published, truth, ratios),
        r_and_d.unfair_claim(written, published),
        r_and_d.relative_claim(written, published, truth),
        r_and_d.telling_claim("r", written, published, truth, ratios),
        r_and_d.misleading_claim(written, published, truth["aggregation"]),
        *remark,
        r_and_d.noise_claim(curves, (draw_curves(curves, out),)),
        jaccard_claim(written, truth),
    ]


def lowest(result: cr.results.Stability) -> str:
    """Write the lowest value of a cluster."""
    return number(result.distribution[:, np.argmin(result.per_cluster)])


def by_k(results: Mapping[int, cr.results.Stability]) -> str:
    """Write the lowest value for every k."""
    return "; ".join(f"k = {k}: {lowest(result)}" for k, result in results.items())


def close_claim(written: Results, published: Results, n: int, figures: tuple[str, ...]) -> Claim:
    """Report the lowest inclusion of aggregation's clusters at k = 3, 4, 5."""
    ours, theirs = ({k: x["aggregation"]["inclusion"][k] for k in FEW} for x in (written, published))
    variants = {"written": ours, "published": theirs}
    jaccard = {k: written["aggregation"]["jaccard"][k] for k in FEW}
    least, least_published = ({k: float(r.per_cluster.min()) for k, r in x.items()} for x in (ours, theirs))
    broken = [str(k) for k in FEW if least[k] < CLOSE]
    reached = [str(k) for k in FEW if least_published[k] >= CLOSE]
    first = (
        f"At k = {', '.join(broken)} some cluster loses points in over {100 * (1 - CLOSE):.0f} % of bootstrap samples"
        if broken
        else f"Every cluster stays whole in at least {100 * CLOSE:.0f} % of the bootstrap samples"
    )
    if broken and reached:
        first += f"; with k-means merely started anew, none does at k = {', '.join(reached)}"
    return Claim(
        "C.1, Smolkin–Ghosh",
        INCLUSION,
        f"lowest of all clusters (the best of {runs.N_BEST:,} k-means starts), {n} bootstrap samples: {by_k(ours)}",
        f"printed: close to 1, no number; ours, {NEW_STARTS}, {n} times: {by_k(theirs)}; "
        f"at least {CLOSE} at k = {', '.join(reached) or 'none'}",
        verdict_of(value >= CLOSE for value in least.values()),
        f"lowest score at least {CLOSE}; for each k",
        f"{first}. One lost point makes the inclusion of a sample 0. Lowest Jaccard coefficient, a share of points "
        f"kept: {by_k(jaccard)}.",
        figures,
        {
            words: {k: r.distribution[:, np.argmin(r.per_cluster)] for k, r in x.items()}
            for words, x in variants.items()
        },
    )


def in_spite_claim(written: Results, published: Results, truth: Any) -> Claim:
    """Report the inclusion of aggregation's spurious clusters at k = 3, 4, 5."""
    texts, parts, some = {}, {}, set()
    for words, results in (("written", written), ("published", published)):
        each = []
        for k in FEW:
            result = results["aggregation"]["inclusion"][k]
            spurious = is_spurious(result.labels, truth)
            some |= {k} if spurious.any() and words == "written" else set()
            fit = float(cr.jaccard(result.labels, truth).min())
            scores = [number(result.distribution[:, i]) for i in np.flatnonzero(spurious)]
            each.append(f"k = {k}: {'score ' + ', '.join(scores) if scores else 'none'} (lowest Jaccard {fit:.2f})")
            parts[words, k] = bool((result.per_cluster[spurious] >= CLOSE).any())
        texts[words] = "; ".join(each)
    there, close, anew = (
        " and ".join(str(k) for k in FEW if flag(k)) or "none of these k"
        for flag in (some.__contains__, lambda k: parts["written", k], lambda k: parts["published", k])
    )
    return Claim(
        "C.1, Smolkin–Ghosh",
        IN_SPITE,
        f"spurious clusters: {texts['written']}",
        f"no number printed; ours, {NEW_STARTS}: {texts['published']}",
        verdict_of(parts["written", k] for k in FEW),
        f"a spurious cluster with a score of at least {CLOSE}; for each k",
        f"There are spurious clusters at k = {there}; they score close to 1 under the bootstrap at k = {close}, with "
        f"k-means merely started anew at k = {anew}. Spurious, which the paper judges by eye: Jaccard coefficient with "
        f"every true group at most {SPURIOUS}.".replace("k = none", "none"),
        values=parts,
    )


def elsewhere_claim(written: Results, published: Results, truth: Any) -> Claim:
    """Count the spurious clusters of the other data sets with a high inclusion."""
    names, texts, close = ("compound", "r15"), {}, {}
    for words, results in (("written", written), ("published", published)):
        for name in names:
            by_k = results[name]["inclusion"].values()
            scores = [r.distribution[:, i] for r in by_k for i in np.flatnonzero(is_spurious(r.labels, truth[name]))]
            high = [float(np.nanmean(values)) for values in scores]
            close[words, name] = sum(value >= CLOSE for value in high)
            texts[words, name] = (
                f"{name} {close[words, name]} of {len(high)} (highest {number(scores[np.argmax(high)])})"
            )
    return Claim(
        "C.1, Smolkin–Ghosh",
        ELSEWHERE,
        f"spurious clusters with at least {CLOSE}, all k: " + ", ".join(texts["written", name] for name in names),
        f"ours, {NEW_STARTS}: " + ", ".join(texts["published", name] for name in names),
        verdict_of(close["written", name] for name in names),
        f"a spurious cluster with a score of at least {CLOSE}; for each data set",
        "Some spurious cluster scores close to 1 under the bootstrap on "
        f"{on_which({name: close['written', name] for name in names})}, with k-means merely started anew on "
        f"{on_which({name: close['published', name] for name in names})}. The paper shows figures of both without "
        "comment.",
        values=close,
        ours=True,
    )


def jaccard_claim(written: Results, truth: Any) -> Claim:
    """Report how well Hennig's coefficient tells spurious clusters from real ones."""
    ours = r_and_d.told_apart(written, "jaccard", truth)
    better = {name: above(estimate, 0.5) for name, estimate in ours.items()}
    return Claim(
        "C.1, Jaccard",
        JACCARD,
        f"share of pairs (spurious, real) of the same k in which the spurious one has the worse value: {listed(ours)}",
        "",
        verdict_of(better.values()),
        "share above 0.5, that of chance, by two errors; for each data set",
        f"Spurious clusters have the lower coefficient more often than by chance on {on_which(better)}. On the same "
        "clusters as R and D; the paper has no experiment with it.",
        values=ours,
        ours=True,
    )

"""Figure 6 (section 5.2): local scores of the clusters that one cohort finds in another, by subtype."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import Claim, clearly_positive, error_of, make_seed, number, row, verdict_of
from paper.fig5_fig6_breast.scores import Array, mean

BASAL = "The cluster of the Basal subtype has the highest local replicability."
LUMINAL = "The clusters of Luminal A and Luminal B have the lowest local replicability."
CLAIMS = (BASAL, LUMINAL)
SUBTYPES = ("Basal", "Her2", "LumA", "LumB")
SHOWN = ("mainz", "transbig")  # trained on, tested on in the figure
PRINTED_RESAMPLES = 50
PRINTED = {"ari": (0.814, 0.443, 0.280, 0.235), "ami_max": (0.740, 0.323, 0.267, 0.212)}
Runs = dict[tuple[str, str, str], cr.results.LocalReplicability]  # by agreement, training and test study


def run_all(studies: cr.Studies, n: int, n_jobs: int, key: int = 2) -> Runs:
    """Score the patients of every test study by every training study, with AMI and ARI, as written."""
    pairs = list(permutations(studies.names, 2))
    return {(a, *pair): run(studies, a, pair, n, 10, n_jobs, key) for a in ("ami", "ari") for pair in pairs}


def run(
    studies: cr.Studies, agreement: str, pair: tuple[str, str], n: int, n_starts: int, n_jobs: int, key: int
) -> cr.results.LocalReplicability:
    """Score every patient of the test study (Algorithm 3), with clusters named after the subtypes."""
    train, test = (studies[name] for name in pair)
    result = cr.local_replicability(
        KMeans(4, n_init=n_starts),
        train=train,
        test=test,
        at=test,
        agreement=agreement,
        n_resamples=n,
        resampling=cr.Bootstrap(),
        rng=make_seed(5, key),
        n_jobs=n_jobs,
    )
    return replace(result, labels=named(np.asarray(test.labels).astype(str), result.labels))


def named(known: Array, clusters: Array) -> Array:
    """Name clusters after the subtypes, one to one, so that most patients match; a cluster may have no subtype."""
    names = cr.match_labels(known[known != ""], clusters[known != ""])
    return np.array([str(names.get(label, f"cluster {label}")) for label in clusters.tolist()])


def by_subtype(result: cr.results.LocalReplicability) -> dict[str, Array]:
    """Return every resample's score of each cluster, by its name."""
    return dict(zip(result.by_cluster()["cluster"], result.cluster_distribution.T, strict=True))


# ---------------------------------------------------------------------------------------------------------------------
# claims


def claims(studies: cr.Studies, runs: Runs, n_published: int, n_jobs: int, figure: str) -> list[Claim]:
    """Ask which clusters have high and low scores."""
    theirs = {a: by_subtype(run(studies, a, SHOWN, n_published, 50, n_jobs, 3)) for a in PRINTED}
    return [
        basal_first(runs, BASAL, "Fig. 6", _published(theirs, SUBTYPES[:2], n_published), figure),
        _luminal_last(runs, _published(theirs, SUBTYPES[2:], n_published)),
    ]


def basal_first(runs: Runs, claim: str, where: str, as_published: str = "", figure: str = "") -> Claim:
    """Ask whether the Basal cluster has the highest score."""
    yes = {key: _is_first(by_subtype(result)) for key, result in runs.items()}
    return Claim(
        where=where,
        claim=claim,
        as_written=_scores(runs, ("Basal", "Her2")),
        as_published=as_published,
        verdict=verdict_of(yes.values()),
        rule="for each pair, by AMI and by ARI: Basal above every other cluster by two paired standard errors",
        why=f"The Basal cluster is clearly the highest on {_count(yes, 'ami')} pairs by AMI, on {_count(yes, 'ari')} "
        "by ARI.",
        figures=(figure,) if figure else (),
        values={"yes": yes, "scores": {key: by_subtype(result) for key, result in runs.items()}},
    )


def _luminal_last(runs: Runs, as_published: str) -> Claim:
    yes = {key: _are_last(by_subtype(result)) for key, result in runs.items()}
    last = [
        min(scores, key=lambda name, scores=scores: mean(scores[name])) for scores in map(by_subtype, runs.values())
    ]
    return Claim(
        where="Fig. 6",
        claim=LUMINAL,
        as_written=_scores(runs, ("LumA", "LumB")),
        as_published=as_published,
        verdict=verdict_of(yes.values()),
        rule="for each pair, by AMI and by ARI: both luminal clusters below both others by two paired standard errors",
        why=f"Both luminal clusters are clearly below the others on {_count(yes, 'ami')} pairs by AMI, on "
        f"{_count(yes, 'ari')} by ARI. The lowest is LumB in {last.count('LumB')} of the {len(last)}.",
        values={"yes": yes, "scores": {key: by_subtype(result) for key, result in runs.items()}},
    )


def _is_first(scores: dict[str, Array]) -> bool:
    others = [name for name in scores if name != "Basal"]
    return "Basal" in scores and all(clearly_positive(scores["Basal"] - scores[name]) for name in others)


def _are_last(scores: dict[str, Array]) -> bool:
    luminal = [name for name in scores if name in ("LumA", "LumB")]
    others = [name for name in scores if name not in luminal]
    return len(luminal) == 2 and all(clearly_positive(scores[o] - scores[lum]) for o in others for lum in luminal)


def _count(yes: dict[tuple[str, str, str], bool], agreement: str) -> str:
    flags = [flag for key, flag in yes.items() if key[0] == agreement]
    return f"{sum(flags)} of {len(flags)}"


def _scores(runs: Runs, names: tuple[str, ...]) -> str:
    """Write the scores of the figure's pair, and their range over all pairs."""
    sentences = []
    for agreement in ("ami", "ari"):
        scores = by_subtype(runs[agreement, *SHOWN])
        here = ", ".join(f"{name} {number(scores.get(name, ()))}" for name in names)
        sentences.append(f"{agreement.upper()} {here}")
    means = [mean(s[name]) for s in map(by_subtype, runs.values()) for name in names if name in s]
    spread = f"{row([min(means)])} to {row([max(means)])}" if means else "no value"
    return f"Mainz→Transbig: {'; '.join(sentences)}. All pairs, both measures: {spread}."


def _published(theirs: dict[str, dict[str, Array]], names: tuple[str, ...], n: int) -> str:
    """Write the printed and our scores of some subtypes, and how far they are apart."""
    printed, ours, off = [], [], []
    for agreement, numbers in PRINTED.items():
        known = dict(zip(SUBTYPES, numbers, strict=True))
        printed.append(f"{agreement[:3].upper()} " + ", ".join(f"{name} {known[name]:.3f}" for name in names))
        ours.append(", ".join(number(theirs[agreement].get(name, ())) for name in names))
        more = (1 + n / PRINTED_RESAMPLES) ** 0.5  # the printed numbers have a Monte Carlo error, too
        off += [
            abs(mean(s) - known[name]) / error_of(s) / more for name, s in theirs[agreement].items() if name in names
        ]
    return (
        f"Printed {'; '.join(printed)}; colours are ARI. With {n} resamples, 50 k-means starts (AMI bounded by the "
        f"larger entropy): {'; '.join(ours)}; {sum(z < 2 for z in off)} of {len(off)} within two standard errors of "
        "the difference."
    )

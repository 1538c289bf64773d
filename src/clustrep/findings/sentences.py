"""Findings in sentences: the verdict, which cluster is where, and what was done to compare the studies."""

from __future__ import annotations

import numpy as np

from clustrep.findings.result import (
    CONTINUOUS,
    FEWEST_FOR_OUTLIER,
    FOUND,
    INCONCLUSIVE,
    MERGED,
    NO_EVIDENCE,
    NOT_FOUND,
    SEPARATED,
    SPLIT,
    UNDETERMINED,
    Findings,
)
from clustrep.text import listing, p_text

# A list of names is cut after this many.
MOST_NAMES = 5


def verdict_sentence(findings: Findings, partition: str = "") -> str:
    """Return the verdict as one or two sentences.

    partition : for continuous structure, the clusterer and its score: "ward, k = 5, ARI 0.44"
    """
    p = p_text(findings.pvalue)
    if findings.verdict == SEPARATED:
        return f"{findings.n_clusters} separated clusters ({p}){_where(findings)}."
    if findings.verdict == CONTINUOUS:
        shown = f"{partition}, " if partition else ""
        return (
            "Continuous structure: the partition replicates better than under the null model "
            f"({shown}{p} for score and separateness together), but no clusters are separated."
        )
    if findings.verdict == NO_EVIDENCE:
        power = ""
        if np.isfinite(findings.detectable):
            power = (
                f" With these sample sizes, two equal clusters {findings.detectable:.1f} sd apart would be found in "
                "80 % of simulations; closer ones, or clusters of one study alone, may be missed."
            )
        return (
            "No evidence of clusters: no partition exceeds the null model in score and separateness (smallest adjusted "
            f"{p}).{power}"
        )
    assert findings.verdict == INCONCLUSIVE
    return f"Inconclusive: {findings.reason}."


def _where(findings: Findings) -> str:
    """Say in how many studies the clusters are found."""
    n_studies = len(findings.names)
    if n_studies == 1:
        return ", in one study: whether another study has them is not tested"
    found = findings.here.sum(axis=1)
    everywhere = "both studies" if n_studies == 2 else f"all {n_studies} studies"
    if (found == n_studies).all():
        others = [status for status in (MERGED, SPLIT) if (findings.status == status).any()]
        return f", each {' or '.join([FOUND, *others])} in {everywhere}"
    parts = []
    for c, letter in enumerate(findings.letters):
        if found[c] == n_studies:
            where = f"in {everywhere}"
        elif found[c] == 1 and (findings.status[c] == NOT_FOUND).sum() == n_studies - 1:
            where = f"in {findings.names[int(findings.here[c].argmax())]} alone"
        else:
            able = int((findings.status[c] != UNDETERMINED).sum())
            where = f"in {found[c]} of {able} {'studies' if able > 1 else 'study that can show it'}"
        parts.append(f"{letter} {where}")
    return (
        f": {'; '.join(parts)}"
        if len(parts) <= MOST_NAMES
        else f", found in {found.min()} to {found.max()} of {n_studies} studies"
    )


def missing_sentences(findings: Findings) -> list[str]:
    """Name the studies in which a cluster is not found, merged, split or undetermined."""
    if findings.verdict != SEPARATED:
        return []
    sentences = []
    shares = findings.counts / findings.sizes
    for c, letter in enumerate(findings.letters):
        there = findings.here[c]
        elsewhere = float(findings.counts[c, there].sum() / max(findings.sizes[there].sum(), 1))
        missing = [
            f"{findings.names[s]} ({shares[c, s]:.0%})".replace("%", " %") for s in _studies(findings, c, NOT_FOUND)
        ]
        if missing:
            share = f"{elsewhere:.0%}".replace("%", " %")
            sentences.append(
                f"Cluster {letter} ({share} of samples elsewhere) is not found in {listing(missing, MOST_NAMES)}."
            )
        merged = [findings.names[s] for s in _studies(findings, c, MERGED)]
        if merged:
            sentences.append(f"Cluster {letter} is merged with its neighbour in {listing(merged, MOST_NAMES)}.")
        split = [findings.names[s] for s in _studies(findings, c, SPLIT)]
        if split:
            sentences.append(
                f"Cluster {letter} is split in two in {listing(split, MOST_NAMES)}; the other studies show no density "
                "valley within it."
            )
    undetermined = [name for s, name in enumerate(findings.names) if (findings.status[:, s] == UNDETERMINED).all()]
    if undetermined:
        verb = "shows" if len(undetermined) == 1 else "show"
        sentences.append(
            f"{listing(undetermined, MOST_NAMES)} {verb} a single cluster that may be any of the others after a shift: "
            "undetermined. A study that was measured in the same way and has several of the clusters would decide."
        )
    return sentences


def _studies(findings: Findings, c: int, status: str) -> list[int]:
    return [int(s) for s in np.flatnonzero(findings.status[c] == status)]


def depth_sentence(findings: Findings) -> str:
    """Say how deep the valleys are; empty without any."""
    depths = findings.valley_depth[np.isfinite(findings.valley_depth)]
    if findings.verdict != SEPARATED or not len(depths):
        return ""
    depth = float(np.median(depths))
    if depth >= 0.995:
        return "Hardly any samples lie halfway between neighbouring clusters."
    return f"Density halfway between neighbouring clusters is {100 * depth:.0f} % lower than on either side (median)."


def outlier_sentence(findings: Findings) -> str:
    """Name the outlier studies, with the reason; empty where no study could be one."""
    if findings.verdict != SEPARATED or len(findings.names) < FEWEST_FOR_OUTLIER:
        return ""
    table = findings.studies()
    outliers = [f"{study} {why}" for study, why in zip(table["study"], table["why"], strict=True) if why]
    if not outliers:
        return "No outlier study."
    which = "Outlier study" if len(outliers) == 1 else "Outlier studies"
    return f"{which}: {listing(outliers, MOST_NAMES)}."


def own_sentence(findings: Findings) -> str:
    """Name the studies that show fewer clusters by themselves than are found in them; empty without any."""
    fewer = [findings.names[s] for s in np.flatnonzero(findings.own_clusters < findings.here.sum(axis=0))]
    if findings.verdict != SEPARATED or not fewer or len(findings.names) == 1:
        return ""
    who = (
        "No study shows all of its clusters by itself"
        if len(fewer) == len(findings.names)
        else (
            f"{listing(fewer, MOST_NAMES)} {'shows' if len(fewer) == 1 else 'show'} fewer clusters by "
            f"{'itself' if len(fewer) == 1 else 'themselves'}"
        )
    )
    return f"{who}: the other studies show where to look."


def sentences_of(findings: Findings) -> list[str]:
    """Return all sentences about the findings alone."""
    said = [
        verdict_sentence(findings),
        depth_sentence(findings),
        *missing_sentences(findings),
        own_sentence(findings),
        outlier_sentence(findings),
        findings.alignment,
    ]
    return [sentence for sentence in said if sentence]

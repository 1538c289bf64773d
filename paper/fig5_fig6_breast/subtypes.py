"""Figure 6 and Table 1: how the clusters that one cohort finds in another correspond to the subtypes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np

import clustrep as cr
from paper.common import Claim, number, row, verdict_of
from paper.fig5_fig6_breast.local import SHOWN, SUBTYPES, run
from paper.fig5_fig6_breast.scores import Array

EASIEST = "The Basal subtype is the easiest to identify."
CONFUSED = "Luminal A and Luminal B are harder to distinguish than other subtypes."
RESEMBLE = "The clusters that one cohort finds in another closely resemble the three-gene subtypes (Mainz in Transbig)."
ONE_TO_ONE = "Each cluster that Mainz finds in Transbig corresponds to one subtype."
TABLE = "ARI and AMI of PAM50 and three-gene subtypes are .33, .34, .53 and .38, .39, .49 (Mainz, Transbig, VDX)."
PRINTED = {"ARI": (0.33, 0.34, 0.53), "AMI": (0.38, 0.39, 0.49)}
MODERATE = 0.65  # below it, Steinley (2004, Psychological Methods 9) calls the recovery of clusters poor
Tables = dict[tuple[str, str], Array]  # by pair: (n_runs, subtypes, clusters), each run with other k-means starts


def tables_of(studies: cr.Studies, n_runs: int) -> Tables:
    """Count the patients of each test study by subtype and by cluster of the training study, k-means with k = 4."""
    pairs = list(permutations(studies.names, 2))
    return {pair: np.array([_table(studies, pair, i) for i in range(n_runs)]) for pair in pairs}


def _table(studies: cr.Studies, pair: tuple[str, str], i: int) -> Array:
    known = np.asarray(studies[pair[1]].labels)
    clusters = run(studies, "ari", pair, 1, 10, 1, 100 + i).labels
    return np.array(
        [[np.sum((known == subtype) & (clusters == cluster)) for cluster in SUBTYPES] for subtype in SUBTYPES]
    )


def claims(tables: Tables) -> list[Claim]:
    """Ask how clusters and subtypes correspond."""
    return [_easiest(tables), _confused(tables), _resemble(tables), _one_to_one(tables)]


# ---------------------------------------------------------------------------------------------------------------------
# Figure 6


def _easiest(tables: Tables) -> Claim:
    overlaps = {pair: np.array([_overlap(values) for values in table]) for pair, table in tables.items()}  # (n_runs, 4)
    yes = [bool(values.mean(axis=0).argmax() == 0) for values in overlaps.values()]
    second = [np.sort(values.mean(axis=0))[-2] for values in overlaps.values()]
    return Claim(
        where="Section 5.2",
        claim=EASIEST,
        as_written="Patients in both subtype and cluster, of those in either, Mainz→Transbig: "
        + ", ".join(f"{name} {number(overlaps[SHOWN][:, i])}" for i, name in enumerate(SUBTYPES))
        + f" ({_runs(tables)}).",
        as_published="",
        verdict=verdict_of(yes),
        rule="for each pair: Basal has the largest overlap with its cluster",
        why=f"Basal patients and their cluster overlap most on {sum(yes)} of {len(yes)} pairs: by "
        f"{row([o[:, 0].mean() for o in overlaps.values()])}; the highest but one by {row(second)}.",
        values={"yes": yes, "overlaps": overlaps},
    )


def _overlap(table: Array) -> Array:
    both = np.diag(table)
    return both / (table.sum(axis=0) + table.sum(axis=1) - both)


def _confused(tables: Tables) -> Claim:
    couples = list(combinations(range(len(SUBTYPES)), 2))
    rates = {pair: np.array([[_rate(rate, *c) for c in couples] for rate in t]) for pair, t in tables.items()}
    luminal = couples.index((2, 3))
    yes = [bool(rate.mean(axis=0).argmax() == luminal) for rate in rates.values()]
    others = [np.delete(rate.mean(axis=0), luminal).max() for rate in rates.values()]
    counts = tables[SHOWN].mean(axis=0)
    return Claim(
        where="Section 5.2",
        claim=CONFUSED,
        as_written=f"Mainz→Transbig: of the patients of both in the two clusters, {number(rates[SHOWN][:, luminal])} "
        f"in the other's; cluster LumA holds {counts[2, 2]:.0f} LumA and {counts[3, 2]:.0f} LumB, cluster LumB "
        f"{counts[2, 3]:.0f} and {counts[3, 3]:.0f}.",
        as_published="",
        verdict=verdict_of(yes),
        rule="for each pair: of all couples of subtypes, Luminal A and B most often in each other's cluster",
        why=f"Luminal A and B are confused most on {sum(yes)} of {len(yes)} pairs: shares "
        f"{row([rate[:, luminal].mean() for rate in rates.values()])}; of the other couples at most {row(others)} "
        f"(means over {_runs(tables)}).",
        values={"yes": yes, "rates": rates},
    )


def _rate(table: Array, i: int, j: int) -> float:
    """Of the patients of two subtypes in their two clusters, return the share in the other one's."""
    part = table[np.ix_([i, j], [i, j])]
    return float(1 - np.trace(part) / part.sum()) if part.sum() else 0.0


def _resemble(tables: Tables) -> Claim:
    ari = {pair: np.array([_ari(counts) for counts in table]) for pair, table in tables.items()}
    same = np.array([np.trace(counts) / counts.sum() for counts in tables[SHOWN]])
    luminal = np.array(
        [(counts[2, 3] + counts[3, 2]) / max(counts.sum() - np.trace(counts), 1) for counts in tables[SHOWN]]
    )
    close = {pair: bool(values.mean() >= MODERATE) for pair, values in ari.items()}
    listed = ", ".join(f"{'→'.join(pair)} {number(values)}" for pair, values in ari.items())
    return Claim(
        where="Fig. 6 (a)",
        claim=RESEMBLE,
        as_written=f"ARI: {listed} ({_runs(tables)}).",
        as_published="",
        verdict=verdict_of([close[SHOWN]]),
        rule=f"Mainz→Transbig: ARI at least {MODERATE}, below which Steinley (2004) calls agreement poor",
        why=f"Agreement is {'not ' if close[SHOWN] else ''}poor by that scale: a share of {number(same)} of the "
        f"patients is in the cluster of their subtype. Of the others, {number(luminal)} are luminal ones in the other "
        f"luminal cluster. ARI is at least {MODERATE} on {sum(close.values())} of {len(close)} pairs.",
        values={"ari": ari, "same": same},
    )


def _ari(table: Array) -> float:
    rows, columns = np.nonzero(table)
    counts = table[rows, columns]
    return cr.adjusted_rand_index(np.repeat(rows, counts), np.repeat(columns, counts))


def _one_to_one(tables: Tables) -> Claim:
    counts = tables[SHOWN].mean(axis=0)
    yes = counts.argmax(axis=0) == np.arange(len(SUBTYPES))
    full = sum((table.mean(axis=0).argmax(axis=0) == np.arange(len(SUBTYPES))).all() for table in tables.values())
    listed = "; ".join(f"{name}: {row(counts[:, i], 0)}" for i, name in enumerate(SUBTYPES))
    return Claim(
        where="Fig. 6 (a)",
        claim=ONE_TO_ONE,
        as_written=f"Patients of {', '.join(SUBTYPES)} in the cluster matched to each: {listed} (means over "
        f"{_runs(tables)}).",
        as_published="",
        verdict=verdict_of(yes),
        rule="for each of the four clusters: most frequent in it is the subtype matched to it",
        why=f"{_other_subtypes(counts, yes)} Of all {len(tables)} pairs of studies, {full} match in all four clusters.",
        values={"yes": yes, "counts": counts, "full": full},
    )


def _other_subtypes(counts: Array, yes: Array) -> str:
    """Say which clusters hold more patients of another subtype than of the subtype matched to them."""
    if yes.all():
        return "Every cluster holds more of its own subtype than of any other."
    most = counts.argmax(axis=0)
    parts = [
        f"the cluster matched to {SUBTYPES[i]} holds {counts[most[i], i]:.0f} {SUBTYPES[most[i]]} but only "
        f"{counts[i, i]:.0f} {SUBTYPES[i]}"
        for i in np.flatnonzero(~yes)
    ]
    return f"One to one fails: {'; '.join(parts)}."


def _runs(tables: Tables) -> str:
    return f"{len(tables[SHOWN])} runs with k-means starts of their own"


# ---------------------------------------------------------------------------------------------------------------------
# Table 1


def table_1(three: cr.Studies, fifty: cr.Studies) -> Claim:
    """Ask whether the numbers of Table 1 come out; they are exact."""
    pairs = [(three[name].labels, fifty[name].labels) for name in three.names]
    ari = [cr.adjusted_rand_index(*pair) for pair in pairs]
    ami, ami_max = ([cr.adjusted_mutual_information(*p, average=a) for p in pairs] for a in ("arithmetic", "max"))
    printed = [*PRINTED["ARI"], *PRINTED["AMI"]]
    right, right_max = (_rounded([*ari, *other], printed) for other in (ami, ami_max))
    cut = [np.floor(100 * ours) / 100 == theirs for ours, theirs in zip([*ari, *ami_max], printed, strict=True)]
    return Claim(
        where="Table 1",
        claim=TABLE,
        as_written=f"ARI {row(ari, 3)}; AMI, bounded by the mean of the entropies, {row(ami, 3)} (exact).",
        as_published=f"AMI bounded by the larger entropy: {row(ami_max, 3)}; so {sum(right_max)} of {len(printed)} are "
        f"right when rounded, {sum(a or b for a, b in zip(right_max, cut, strict=True))} when rounded or cut.",
        verdict=verdict_of(right),
        rule="for each of the six numbers: the printed one within 0.005 of ours",
        why=f"The printed AMI come out right for {sum(right_max[3:])} of 3 if bounded by the larger entropy, for "
        f"{sum(right[3:])} if by the mean. ARI is right for {sum(right[:3])} of 3, and for "
        f"{sum(a or b for a, b in zip(right[:3], cut[:3], strict=True))} if print may be cut, not rounded.",
        values={"ari": ari, "ami": ami, "ami_max": ami_max, "right": right, "right_max": right_max, "cut": cut},
    )


def _rounded(ours: Sequence[float], printed: Sequence[float]) -> list[bool]:
    return [bool(abs(a - b) <= 0.005 + 1e-9) for a, b in zip(ours, printed, strict=True)]

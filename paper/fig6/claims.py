"""What Fig. 6, section 5.2 and Table 1 say, asked of the runs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import clustrep as cr
from paper.claims import Finding
from paper.common import listed, number, plain, row
from paper.fig5.claims import PAM50
from paper.fig6.runs import AGREEMENTS, SHOWN, SUBTYPES
from paper.printed import PRINTED
from paper.store import Facts
from paper.verdicts import CLOSE, DIFFERENCE, HIGH, Part, above

BASAL, HER2, LUM_A, LUM_B = range(4)


def findings(facts: Facts) -> dict[str, Finding]:
    """Ask all claims; those of the PAM50 genes where cohorts are there."""
    found = {
        "basal": ask(facts, ["three"], basal_parts),
        "luminal": ask(facts, ["three"], luminal_parts),
        "easiest": easiest(facts),
        "confused": confused(facts),
        "resemble": resemble(facts),
        "one_to_one": one_to_one(facts),
        "numbers": numbers(facts),
        "table1": table_1(facts),
    }
    if tags := [tag for tag in PAM50 if f"{tag}/written/ari" in facts]:
        found |= {
            "basal_pam50": ask(facts, tags, basal_parts),
            "luminal_pam50": ask(facts, tags, luminal_parts),
        }
    return found


def pair_names(facts: Facts, tag: str = "three") -> list[str]:
    """Training and test study of every pair."""
    return ["→".join(pair) for pair in facts[f"{tag}/pairs"]]


def shown(facts: Facts) -> int:
    """The place of the figure's pair."""
    return pair_names(facts).index("→".join(SHOWN))


# ---------------------------------------------------------------------------------------------------------------------
# local scores


def basal_parts(scores: Any, name: str) -> list[Part]:
    """Ask whether the Basal cluster is above every other, from (subtype, resample)."""
    return [_difference(name, scores[BASAL], np.delete(scores, BASAL, axis=0), highest=True)]


def luminal_parts(scores: Any, name: str) -> list[Part]:
    """Ask whether both luminal clusters are below both others."""
    gaps = [
        _difference("", scores[other], scores[[luminal]], highest=True)
        for luminal in (LUM_A, LUM_B)
        for other in (BASAL, HER2)
    ]
    least = min(gaps, key=lambda part: part.effect if np.isfinite(part.effect) else -np.inf)
    return [Part(name, least.effect, least.level, least.error)]


def _difference(name: str, scores: Any, others: Any, *, highest: bool) -> Part:
    """Ask whether scores are above the nearest of others, paired."""
    means = np.array([np.nanmean(values) if np.isfinite(values).any() else np.nan for values in others])
    if not np.isfinite(scores).any() or not np.isfinite(means).any():
        return Part(name, np.nan, DIFFERENCE)
    rival = others[np.nanargmax(means) if highest else np.nanargmin(means)]
    return above(name, scores - rival, DIFFERENCE)


def ask(facts: Facts, tags: list[str], parts_of: Any) -> Finding:
    """Ask every pair, by AMI and by ARI; as published the figure's pair."""
    written = [
        part
        for tag in tags
        for agreement in AGREEMENTS
        for name, scores in zip(pair_names(facts, tag), facts[f"{tag}/written/{agreement}"], strict=True)
        for part in parts_of(
            scores, f"{'' if tag == 'three' else tag.split()[1] + ' genes, '}{name}, {agreement.upper()}"
        )
    ]
    said = {"yes": f"{sum(part.yes for part in written)} of {len(written)}"}
    said["scores"] = _mean_scores(facts[f"{tags[0]}/written/ari"].mean(axis=0))
    said["by_genes"] = "; ".join(
        f"{tag.split()[1]} genes {sum(p.yes for p in written if p.name.startswith(tag.split()[1]))} of "
        f"{2 * len(facts[f'{tag}/pairs'])}"
        for tag in tags
        if tag != "three"
    )
    published = None
    if tags == ["three"]:
        published = [
            part
            for agreement in ("ari", "ami_max")
            for part in parts_of(facts[f"three/published/{agreement}"], f"{'→'.join(SHOWN)}, {agreement[:3].upper()}")
        ]
        said["published"] = _mean_scores(facts["three/published/ari"])
        said["scores"] = _mean_scores(facts["three/written/ari"][shown(facts)])
    return Finding(written, published, said)


def _mean_scores(scores: Any) -> str:
    return listed(f"{name} {plain(np.nanmean(values))}" for name, values in zip(SUBTYPES, scores, strict=True))


# ---------------------------------------------------------------------------------------------------------------------
# clusters and subtypes; Table 1


def easiest(facts: Facts) -> Finding:
    """The overlap of each subtype with its cluster: patients in both, of those in either."""
    tables = facts["three/tables"]  # (pair, run, subtype, cluster)
    both = np.diagonal(tables, axis1=2, axis2=3)
    overlaps = both / (tables.sum(axis=2) + tables.sum(axis=3) - both)  # (pair, run, subtype)
    parts = [
        _difference(name, values.T[BASAL], values.T[1:], highest=True)
        for name, values in zip(pair_names(facts), overlaps, strict=True)
    ]
    return Finding(parts, None, {"shown": row(overlaps[shown(facts)].mean(axis=0))})


def confused(facts: Facts) -> Finding:
    """Of the patients of two subtypes in their two clusters, the share in the other one's: Luminal A and B highest."""
    couples = list(combinations(range(4), 2))
    rates = np.array([[[_rate(table, *c) for c in couples] for table in runs] for runs in facts["three/tables"]])
    at = couples.index((LUM_A, LUM_B))
    parts = [
        _difference(name, values.T[at], np.delete(values.T, at, axis=0), highest=True)
        for name, values in zip(pair_names(facts), rates, strict=True)
    ]
    return Finding(
        parts,
        None,
        {
            "luminal": row(rates[..., at].mean(axis=1)),
            "other": row(np.delete(rates.mean(axis=1), at, axis=1).max(axis=1)),
        },
    )


def _rate(table: Any, i: int, j: int) -> float:
    part = table[np.ix_([i, j], [i, j])]
    return float(1 - np.trace(part) / part.sum()) if part.sum() else 0.0


def _ari(table: Any) -> float:
    rows, columns = np.nonzero(table)
    counts = table[rows, columns]
    return float(cr.agreement.adjusted_rand_index(np.repeat(rows, counts), np.repeat(columns, counts)))


def resemble(facts: Facts) -> Finding:
    """ARI of clusters and subtypes on the figure's pair."""
    tables = facts["three/tables"]
    values = np.array([[_ari(table) for table in runs] for runs in tables])
    ours = values[shown(facts)]
    same = [np.trace(table) / table.sum() for table in tables[shown(facts)]]
    return Finding(
        [above("→".join(SHOWN), ours, HIGH)],
        None,
        {"ari": number(ours), "same": number(same), "all": row(values.mean(axis=1))},
    )


def one_to_one(facts: Facts) -> Finding:
    """Whether the subtype matched to a cluster is the most frequent one in it: by how many patients."""
    counts = facts["three/tables"][shown(facts)].mean(axis=0)  # (subtype, cluster)
    parts = [
        Part(f"cluster {name}", float(counts[i, i] - np.delete(counts[:, i], i).max()))
        for i, name in enumerate(SUBTYPES)
    ]
    listed_counts = "; ".join(f"{name}: {row(counts[:, i], 0)}" for i, name in enumerate(SUBTYPES))
    return Finding(parts, None, {"counts": listed_counts})


def numbers(facts: Facts) -> Finding:
    """The stored means per cluster."""
    sides: dict[str, list[Part]] = {"written": [], "published": []}
    ours = {
        "written": {"ari": "written/ari", "ami_max": "written/ami"},
        "published": {a: f"published/{a}" for a in PRINTED["fig6"]},
    }
    for side, keys in ours.items():
        for agreement, stored in PRINTED["fig6"].items():
            scores = facts[f"three/{keys[agreement]}"]
            scores = scores[shown(facts)] if side == "written" else scores
            sides[side] += [
                Part(f"{name}, {agreement[:3].upper()}", -abs(float(np.nanmean(values)) - value), -CLOSE / 2)
                for name, values, value in zip(SUBTYPES, scores, stored, strict=True)
            ]
    return Finding(
        sides["written"],
        sides["published"],
        {
            "written": _mean_scores(facts["three/written/ari"][shown(facts)]),
            "published": _mean_scores(facts["three/published/ari"]),
        },
    )


def table_1(facts: Facts) -> Finding:
    """The six printed numbers, rounded or cut."""
    cohorts = facts["three/cohorts"]
    parts = [
        Part(f"{index}, {name}", -abs(ours - printed), -0.00999)
        for index, numbers_printed in PRINTED["table1"].items()
        for name, ours, printed in zip(cohorts, facts[f"table1/{index}"], numbers_printed, strict=True)
    ]
    return Finding(
        parts,
        parts,
        {
            "ari": row(facts["table1/ARI"], 3),
            "ami": row(facts["table1/AMI"], 3),
            "ami_mean": row(facts["table1/AMI mean"], 3),
        },
    )

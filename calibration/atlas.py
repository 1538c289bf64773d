"""Whether verdicts on a simulated atlas are right, cell type by cell type: `python -m calibration.atlas`.

Atlases of four laboratories on two platforms, two of which lack a type, with a continuum between two types. Counts are
normalised to one total, or to each laboratory's own median. Prints the table of docs/single-cells.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import clustrep as cr
from clustrep.datasets.simulated import ENDS, TYPES
from clustrep.findings.result import FOUND, NOT_FOUND, SEPARATED

CONTINUUM = "continuum"
WAYS: dict[str, dict[str, Any]] = {
    "one total": {"target_sum": 500},
    "each laboratory's median": {},
    "one total, `TrainEmbedding`": {"target_sum": 500},
}


def kinds_of(study: cr.Study) -> np.ndarray:
    """Return the true kinds: types, with both ends of the continuum as one."""
    assert study.labels is not None
    return np.where(np.isin(study.labels, ENDS), CONTINUUM, study.labels)


def statuses_by_kind(findings: cr.results.Findings, studies: cr.Studies) -> list[tuple[str, bool, str]]:
    """Return the kind of every cluster, whether the laboratory has it, and the status of the cluster there."""
    kinds = {name: kinds_of(study) for name, study in studies.items()}
    pooled = np.concatenate(list(kinds.values()))
    statuses = []
    for c in range(findings.n_clusters):
        names, counts = np.unique(pooled[findings.codes == c], return_counts=True)
        kind = str(names[counts.argmax()])
        statuses += [(kind, kind in kinds[name], str(findings.status[c, s])) for s, name in enumerate(findings.names)]
    return statuses


def analysed(studies: cr.Studies, clusterer: Any) -> cr.results.Analysis:
    """Analyse an atlas as far as the statuses of clusters."""
    return cr.analyse(
        clusterer, studies, n_clusters=range(2, 8), agreement="ari", n_resamples=5, n_null=0, train=(), rng=0
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlases", type=int, default=20)
    parser.add_argument("--cells", type=int, default=200)
    asked = parser.parse_args()
    columns = [*TYPES, CONTINUUM]
    print(f"| counts brought to | clusters | {' | '.join(columns)} | types that a laboratory lacks |")
    print("|---" * (len(columns) + 3) + "|")
    for way, normalising in WAYS.items():
        groups: Counter[int] = Counter()
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for seed in range(asked.atlases):
            studies = cr.datasets.simulate_atlas(n_cells=asked.cells, rng=seed).normalised(**normalising)
            kmeans = KMeans(n_init=3)
            is_embedded = "TrainEmbedding" in way
            analysis = analysed(studies, make_pipeline(cr.TrainEmbedding(), kmeans) if is_embedded else kmeans)
            groups[analysis.n_clusters or 1] += 1
            if analysis.verdict != SEPARATED:
                continue
            for kind, is_there, status in statuses_by_kind(analysis.findings, studies):
                key = kind if is_there else "absent"
                total[key] += 1
                right[key] += status == (FOUND if is_there else NOT_FOUND)
        found = ", ".join(f"{n} in {times}" for n, times in sorted(groups.items()))
        shares = [f"{right[key]} of {total[key]}" for key in (*columns, "absent")]
        print(f"| {way} | {found} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()

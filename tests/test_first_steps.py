"""The whole road, as the README walks it: files, clusters of all studies, scores, one page, a saved result.

Read it top to bottom to learn what the package does; each line is what a user writes.
"""

from __future__ import annotations

from sklearn.cluster import KMeans

import clustrep as cr


def test_from_files_to_a_page(tmp_path):
    # Three cohorts with the same three subtypes, as tables of samples by genes in files.
    simulated = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=60, n_subtypes=3, n_features=4, missing={}, shifted={}, rng=7
    )
    for name, study in simulated.items():
        study.to_frame().to_csv(tmp_path / f"{name}.csv")
    studies = cr.Studies.read(*sorted(tmp_path.glob("*.csv")))
    assert studies.names == ("alpha", "beta", "gamma")

    # Which clusters are there, and in which studies?
    analysis = cr.analyse(KMeans(n_init=5), studies, n_clusters=range(2, 5), n_resamples=10, train=(), rng=0)
    assert analysis.findings.verdict == "separated"
    table = analysis.findings.table()
    assert len(table) == 9  # three clusters in three studies
    assert set(table["status"]) == {"found"}

    # How well does a partition learned in one study predict another?
    result = cr.replicability(KMeans(3, n_init=5), studies, n_resamples=10, rng=0)
    assert result.mean.shape == (3, 3)
    assert result.mean.min() > 0.9
    low, high = result.confidence_interval(0.95)
    assert (low <= result.mean).all()
    assert (result.mean <= high).all()

    # The page for a colleague, and the result for later.
    cr.Report(analysis).write_html(tmp_path / "cohorts.html")
    assert "<html" in (tmp_path / "cohorts.html").read_text()
    result.save(tmp_path / "result.npz")
    assert cr.load(tmp_path / "result.npz").distribution.tobytes() == result.distribution.tobytes()

"""A verdict that depends on the scaling or on the range of k is reported as sensitive, in all outputs alike."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr

K = [2, 3, 4]
RANGES = {"k = 2 to 3": 2, "k = 2 to 8": 2}


def hidden(noise: float) -> dict[str, np.ndarray]:
    """Two clusters in one feature, beside one of another unit."""
    rng = np.random.default_rng(3)
    return {
        name: np.c_[rng.normal(size=80) + 7 * (np.arange(80) % 2), noise * rng.normal(size=80)] for name in ("a", "b")
    }


def analysed(studies, **options) -> cr.results.Analysis:
    options = {"n_clusters": K, "options": cr.RunOptions(alternatives=True), **options}
    return cr.analyse(KMeans(n_init=3), studies, n_resamples=3, n_null=0, train=(), rng=0, **options)


def test_a_verdict_that_depends_on_the_scaling_is_sensitive(tmp_path):
    analysis = analysed(hidden(300.0), scale="none", n_clusters=2)
    assert analysis.verdict != "separated"
    assert analysis.alternatives == {"scale=auto": 2, "scale=pooled": 2, "scale=study": 2}
    (said,) = [said for said in analysis.headline if "scale=" in said.text]
    assert said.kind == "caution"
    analysis.save(tmp_path / "result.npz")
    again = cr.load(tmp_path / "result.npz")
    assert again.alternatives == analysis.alternatives
    report = cr.Report(again)
    for text in (repr(analysis), report.to_json(), report.to_markdown(), report.to_html()):
        assert said.text in text


def test_a_verdict_that_all_alternatives_share_is_not():
    analysis = analysed(hidden(1.0))
    assert analysis.verdict == "separated"
    assert analysis.alternatives == {"scale=pooled": 2, "scale=study": 2, **RANGES}
    assert not [said for said in analysis.headline if "sensitive" in said.text]


def test_studies_that_are_scaled_already_are_not_scaled_again():
    studies = cr.Studies(hidden(1.0), scale="pooled")
    assert analysed(studies).alternatives == RANGES


@pytest.mark.parametrize(("scale", "k", "n_asked"), [("auto", "2", 2), ("study", "2:3", 3), ("study", "2", 0)])
def test_a_run_repeats_the_decision_unless_one_was_asked_for(scale, k, n_asked, tmp_path, monkeypatch):
    from tests.cli.support import invoke

    monkeypatch.chdir(tmp_path)
    for name, X in hidden(1.0).items():
        np.savetxt(f"{name}.csv", X, delimiter=",", header="x,y", comments="")
    quick = ["--resamples", "2", "--null", "none", "--figures", "none", "--jobs", "1", "--quiet"]
    told = invoke("run", "a.csv", "b.csv", "--scale", scale, "--k", k, "--clusterer", "kmeans", *quick).stdout
    alternatives = cr.load("clustrep-results/result.npz").alternatives
    assert len(alternatives) == n_asked
    assert ("also separated" in told) == bool(n_asked)
    assert scale not in "".join(alternatives)

"""The three degrees, and what is chosen in each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.results.choice import Against, Best, Candidate, Choice
from clustrep.results.verdict import ONE_PIECE, SEPARATED, STRUCTURED, verdict_of

KS = (2, 3, 4)
SCORES = (0.8, 0.6, 0.7)


def choice(adjusted=None, scores=SCORES, eligible=True):
    candidates = tuple(Candidate("k-means", k, score, score, score) for k, score in zip(KS, scores, strict=True))
    first = max(candidates, key=lambda candidate: candidate.score)
    against = None
    if adjusted is not None:
        against = Against(*(np.zeros(3) for _ in range(4)), np.array(adjusted))
    return Choice(
        agreement="ari",
        best=Best(**vars(first), agreement="ari", rivals=()) if eligible else None,
        simplest=None,
        candidates=candidates,
        eligible=np.full(3, eligible),
        probability_best=np.zeros(3),
        against=against,
        chosen=None,
    )


def test_one_piece_is_an_answer():
    verdict = verdict_of(choice(adjusted=(0.4, 0.06, 1.0)), ())
    assert (verdict.degree, verdict.n_clusters) == (ONE_PIECE, 1)
    assert verdict.focus.n_clusters == 2  # the cut that repeats best
    assert verdict.pvalue == 0.06


def test_structure_without_gaps_is_cut_where_it_repeats_best_among_what_one_piece_does_not_explain():
    verdict = verdict_of(choice(adjusted=(0.4, 0.01, 0.05)), ())
    assert (verdict.degree, verdict.n_clusters) == (STRUCTURED, 4)


def test_without_data_in_one_piece_the_degree_is_not_known():
    verdict = verdict_of(choice(), ())
    assert (verdict.degree, verdict.n_clusters, verdict.focus.n_clusters) == (None, None, 2)


def test_where_nothing_is_eligible_the_highest_score_is_still_looked_at():
    verdict = verdict_of(choice(adjusted=(1, 1, 1), eligible=False), ())
    assert (verdict.degree, verdict.focus.n_clusters) == (ONE_PIECE, 2)


@pytest.fixture(scope="module")
def corners():
    rng = np.random.default_rng(2)
    centres = np.array([[0, 0], [6, 0], [0, 6]])
    return [centres[rng.integers(0, 3, 70)] + rng.normal(size=(70, 2)) for _ in range(3)]


def test_gaps_decide_whatever_the_scores_say(corners):
    gaps = cr.separation(KMeans(n_init=3), corners, n_clusters=KS, rng=0)
    gaps = type(gaps)(**{**vars(gaps), "clusterer": "k-means"})
    verdict = verdict_of(choice(adjusted=(1, 1, 1)), (gaps,))
    assert (verdict.degree, verdict.n_clusters) == (SEPARATED, 3)
    assert verdict.focus.n_clusters == 3
    assert verdict.pvalue == gaps.adjusted[1]


def test_an_analysis_says_degree_and_number(corners):
    clusterers = {"k-means": KMeans(n_init=3), "ward": AgglomerativeClustering()}
    analysis = cr.analyse(clusterers, corners, n_clusters=KS, n_resamples=5, n_null=19, train=(), rng=0)
    assert (analysis.degree, analysis.n_clusters) == (SEPARATED, 3)
    assert len(analysis.separations) == 2
    # Six numbers of pieces were tried in all.
    np.testing.assert_allclose(analysis.separations[0].adjusted, np.minimum(6 * analysis.separations[0].pvalue, 1))


def test_a_round_cloud_is_in_one_piece():
    rng = np.random.default_rng(4)
    clouds = [rng.normal(size=(60, 2)) for _ in range(3)]
    analysis = cr.analyse(KMeans(n_init=3), clouds, n_clusters=KS, n_resamples=5, n_null=39, train=(), rng=0)
    assert (analysis.degree, analysis.n_clusters) == (ONE_PIECE, 1)
    assert analysis.focus is not None

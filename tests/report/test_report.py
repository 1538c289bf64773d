"""Reports: sentences for what was found, facts in plain types, charts with the results' own numbers."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering

import clustrep as cr
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.figures.plotly.charts import literal, numbers
from clustrep.report import words
from clustrep.report.methods import _range
from clustrep.results import Best, Candidate
from clustrep.results.analysis import HOLDS, NOT_ABOVE, NOT_COMPARED, WEAK
from clustrep.results.choice import NO_BEST, Against

WARD = AgglomerativeClustering()
THREE = AgglomerativeClustering(3)
HOSTILE = "<script>alert(1)</script>"


def cohorts_named(*names):
    made = cr.datasets.simulate_cohorts(
        n_cohorts=len(names), n_samples=30, n_subtypes=3, n_features=3, separation=9, missing={}, shifted={}, rng=3
    )
    return cr.Studies(
        [
            cr.Study(study.X, name, features=made.features, samples=study.samples, labels=study.labels)
            for name, study in zip(names, made.values(), strict=True)
        ]
    )


@pytest.fixture(scope="module")
def studies():
    return cohorts_named("alpha", "beta", "gamma")


@pytest.fixture(scope="module")
def found(studies):
    return cr.analyse({"ward": WARD}, studies, n_clusters=[2, 3], n_null=19, n_resamples=20, rng=0)


@pytest.fixture(scope="module")
def report(found):
    return cr.Report(found)


def candidate(k, score=0.8):
    return Candidate("ward", k, score, score - 0.1, score + 0.1)


def choice(best=0, rivals=(), adjusted=None, excess=(0.5, 0.3, 0.1), ks=(2, 3, 4), shares=(0.7, 0.2, 0.1)):
    """A choice among three k."""
    candidates = tuple(candidate(k, 0.9 - 0.1 * i) for i, k in enumerate(ks))
    top = None
    if best is not None:
        top = Best(**vars(candidates[best]), agreement="ari", rivals=tuple(candidates[r] for r in rivals))
    against, chosen = None, top and candidates[best]
    if adjusted is not None:
        observed = np.array([0.85, 0.75, 0.65])
        against = Against(
            observed, observed - excess, np.array(excess), np.array(adjusted, float), np.array(adjusted, float)
        )
        above = np.flatnonzero(against.adjusted <= 0.05)
        chosen = candidates[above[np.argmax(against.excess[above])]] if above.size else None
    return cr.results.Choice("ari", top, None, candidates, np.ones(3, dtype=bool), np.array(shares), against, chosen)


# ---------------------------------------------------------------------------------------------------------------------
# the choice in words


def test_the_best_that_is_above_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.005, 0.2, 1])) == (
        "ward with k = 2 replicates best: ARI 0.90 [0.80, 1.00] over all pairs of studies, the highest in 70 % of "
        "resamples. As the studies are, it lies 0.50 above data without clusters (0.85 against 0.35, adjusted p = "
        "0.005)."
    )


def test_rivals_are_named():
    text = words.about_choice(choice(rivals=(1, 2), adjusted=[0.005, 0.2, 1]))
    assert "70 % of resamples, but it can't be told from ward with k = 3 (0.80), ward with k = 4 (0.70). As" in text


def test_many_rivals_are_counted():
    best = Best(**vars(candidate(2)), agreement="ari", rivals=tuple(candidate(k) for k in range(3, 10)))
    text = words.about_choice(dataclasses.replace(choice(), best=best))
    assert "ward with k = 6 (0.80) and 3 more. It was not" in text


def test_another_one_may_be_farther_above():
    text = words.about_choice(choice(adjusted=[0.05, 0.05, 1], excess=(0.2, 0.3, 0.1)))
    assert text.endswith("adjusted p = 0.05). Farther above them, by 0.30, is ward with k = 3.")


def test_the_best_may_be_no_better_than_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.3, 0.02, 1])).split("resamples. ")[1] == (
        "That is no better than data without clusters (adjusted p = 0.3). But ward with k = 3 lies 0.30 above data "
        "without clusters (0.75 against 0.45, adjusted p = 0.02), and is looked at below."
    )


def test_nothing_may_be_better_than_data_without_clusters():
    assert words.about_choice(choice(adjusted=[0.3, 0.2, 1])) == (
        "No k is better than data without clusters (smallest adjusted p = 0.2): the highest score, ward with k = 2 "
        "with ARI 0.90 [0.80, 1.00], can't be told from what data of one piece give."
    )
    text = words.about_choice(choice(adjusted=[0.3, 0.2, 1], ks=(2, 3, None)))
    assert text.startswith("Nothing is better than data without clusters")


def test_what_was_not_compared_is_not_known():
    assert words.about_choice(choice()).endswith(
        ". It was not compared with data without clusters, so it is not known whether there are any."
    )


def test_there_may_be_no_best():
    assert words.about_choice(choice(best=None)) == NO_BEST
    assert words.about_choice(choice(best=None, adjusted=[0.5, 0.5, 0.5])) == NO_BEST
    assert words.about_choice(choice(best=None, adjusted=[0.01, 0.5, 0.5])) == (
        f"{NO_BEST} But ward with k = 2, as the studies are, lies 0.50 above data without clusters (0.85 against 0.35, "
        "adjusted p = 0.01)."
    )


def test_one_candidate_is_not_said_to_be_the_best():
    alone = choice(adjusted=[0.01, 0.5, 0.5])
    alone = dataclasses.replace(
        alone,
        candidates=alone.candidates[:1],
        probability_best=np.ones(1),
        against=Against(*(values[:1] for values in vars(alone.against).values())),
    )
    assert words.about_choice(alone).startswith("ward with k = 2 has ARI 0.90 [0.80, 1.00] over all pairs of studies. ")


def test_a_clusterer_without_k_is_named_without():
    assert words.named(Candidate("dbscan", None, 0.5, 0.4, 0.6)) == "dbscan"


def test_a_tie_does_not_make_the_best_seldom_the_highest(studies):
    """What is never beaten is the highest in all resamples."""
    comparison = cr.compare({"first": THREE, "second": THREE}, studies, n_resamples=4, rng=0)
    distribution = np.ones_like(comparison.distribution)
    distribution[0, :, ::2] = 0.5  # the first is as good as the second in every other resample
    text = words.about_choice(dataclasses.replace(comparison, distribution=distribution).choice())
    assert text.startswith("second with k = 3 replicates best: ARI 1.00 [1.00, 1.00]")
    assert "the highest in 100 % of resamples" in text


# ---------------------------------------------------------------------------------------------------------------------
# studies in words


def crafted(found, mean, n=40, sd=0.01, estimate=None):
    """A replicability whose scores lie around these."""
    mean = np.array(mean, dtype=float)
    noise = sd * np.random.default_rng(0).normal(size=(n, *mean.shape))
    return dataclasses.replace(
        found.replicability,
        names=tuple("abcdef"[: len(mean)]),
        estimate=mean if estimate is None else np.array(estimate, dtype=float),
        distribution=mean + noise,
    )


ALIKE = [[0.9, 0.88, 0.88], [0.88, 0.9, 0.88], [0.88, 0.88, 0.9]]
ONE_APART = [[0.9, 0.88, 0.2], [0.88, 0.9, 0.2], [0.2, 0.25, 0.9]]


def test_two_studies(found):
    result = crafted(found, [[0.9, 0.5], [0.7, 0.9]])
    assert words.about_studies(result, None) == (
        "In ward with k = 3, b predicts a best (0.70), a predicts b worst (0.50)."
    )


def test_one_study_stands_apart(found):
    result = crafted(found, ONE_APART)
    text = words.about_studies(result, result.relations())
    assert "worst (0.20). c stands apart. More than 99 % of the variance between pairs is more than resampl" in text


def test_no_study_stands_apart(found):
    result = crafted(found, ALIKE, sd=0.05)
    text = words.about_studies(result, result.relations())
    assert " No study can be said to stand apart. " in text


def test_too_few_resamples_say_nothing_of_who_stands_apart(found):
    result = crafted(found, ONE_APART, n=19)
    assert "stand" not in words.about_studies(result, result.relations())


def test_clusters_that_do_not_repeat_within_their_study(found):
    result = crafted(found, [[0.3, 0.3, 0.3], [0.3, 0.9, 0.3], [0.3, 0.3, 0.2]])
    text = words.about_studies(result, result.relations())
    assert " Clusters do not even repeat within a (0.30) and c (0.20). " in text


def test_equal_pairs_are_told_once(found):
    result = crafted(found, [[1, 1], [1, 1]], sd=0)
    assert words.about_studies(result, None) == "In ward with k = 3, all pairs of studies score about 1.00."
    empty = crafted(found, [[1, np.nan], [np.nan, 1]])
    assert words.about_studies(empty, None) == "In ward with k = 3, no pair of studies has a score."


def test_one_resample_explains_nothing(found):
    result = crafted(found, ALIKE, n=1)
    assert "nan" not in words.about_studies(result, result.relations())


# ---------------------------------------------------------------------------------------------------------------------
# clusters, cautions and failures in words


def table(*rows):
    return pd.DataFrame(rows, columns=["train", "cluster", "test", "mean", "verdict"])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("a", "0", "b", 0.9, HOLDS)], "a: its cluster holds in b."),
        ([("a", c, "b", 0.9, HOLDS) for c in "01"], "a: both clusters hold in b."),
        (
            [("a", c, t, 0.9, HOLDS) for c in "012" for t in "bc"],
            "a: all 3 clusters hold everywhere else.",
        ),
        (
            [("a", "0", "b", 0.9, HOLDS), ("a", "1", "b", 0.3, WEAK), ("a", "2", "b", 0.3, NOT_ABOVE)],
            "a: 1 of 3 clusters holds in b; above data without clusters, but below 0.5: cluster 1; no better than data "
            "without clusters: cluster 2.",
        ),
        (
            [("a", "0", "b", 0.9, HOLDS), ("a", "0", "c", 0.3, WEAK), ("a", "1", "b", 0.3, NOT_ABOVE),
             ("a", "1", "c", 0.2, NOT_ABOVE)],
            "a: none of 2 clusters holds everywhere else; above data without clusters, but below 0.5: cluster 0 in "
            "c; no better than data without clusters: cluster 1 in b and c.",
        ),
        (
            [("a", "0", "b", 0.9, NOT_COMPARED), ("a", "1", "b", 0.3, NOT_COMPARED)],
            "a: the weakest of 2 clusters is cluster 1 in b (0.30).",
        ),
    ],
    ids=["one", "both", "all", "some", "several studies", "not compared"],
)  # fmt: skip
def test_clusters_in_words(rows, text):
    assert words.about_clusters(table(*rows)) == [text]


def test_every_training_study_has_its_sentence():
    said = words.about_clusters(table(("z", "0", "b", 0.9, HOLDS), ("b", "0", "z", 0.1, NOT_ABOVE)))
    assert said == [
        "z: its cluster holds in b.",
        "b: none of 1 cluster holds in z; no better than data without clusters: cluster 0.",
    ]
    assert words.about_clusters(pd.DataFrame()) == []


def test_cautions_of_two_humps_and_far_estimates(found):
    result = crafted(found, ALIKE)
    assert words.cautions(result) == []
    distribution = result.distribution.copy()
    distribution[:10, 0, 1] = 0.4
    distribution[10:, 0, 1] = 0.9
    distribution[:10, 2, 2] = 0.4  # a study with itself is not told
    estimate = result.estimate.copy()
    estimate[1, 2] = 0.5
    changed = dataclasses.replace(result, distribution=distribution, estimate=estimate)
    mean = distribution[:, 1, 2].mean()
    assert words.cautions(changed) == [
        "The scores have two humps, as of a clusterer that jumps between two solutions, so no interval sums them up: "
        "a → b (about 0.40 and 0.90, 75 % in the upper). Look at the distributions.",
        f"The score of the studies as they are lies far from the bootstrap's mean: b → c (0.50 against {mean:.2f}).",
    ]
    verdict = cr.Report(changed).facts["verdict"]
    assert [one["kind"] for one in verdict] == ["studies", "caution", "caution"]


def test_failures_in_words(studies):
    assert words.about_failures({}) == ""
    assert words.about_failures({"oh": 1}) == "1 score could not be had and is left out: oh (1)."
    assert words.about_failures({"oh": 1200, "no": 1}) == (
        "1,201 scores could not be had and are left out: oh (1,200); no (1)."
    )
    with pytest.warns(ReplicateWarning):
        result = cr.replicability(AgglomerativeClustering(19), studies, n_resamples=4, rng=0)
    last = cr.Report(result).facts["verdict"][-1]
    assert last["kind"] == "failure"
    assert last["text"] == words.about_failures(result.failures)


def test_lists_are_joined():
    assert [words.joined(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert words.percent(0.625) == "62 %"


# ---------------------------------------------------------------------------------------------------------------------
# what a report is made of


@pytest.fixture(scope="module")
def parts(studies):
    """Results of every kind, each from its own function."""
    alpha, few = studies["alpha"], {"n_resamples": 4, "rng": 0}
    comparison = cr.compare(WARD, studies, n_clusters=[2, 3], **few)
    result = cr.replicability(THREE, studies, **few)
    local = cr.local_replicability(THREE, train=alpha, test=studies, **few)
    return {
        "comparison": comparison,
        "replicability": result,
        "relations": result.relations(),
        "local": local,
        "null": cr.null_reference(comparison, 19),
        "null of pairs": cr.null_reference(result, 19),
        "counterparts": cr.counterparts(THREE, studies, **few),
        "leave one out": cr.leave_one_study_out(THREE, studies, **few),
        "validation": cr.validate(WARD, alpha, n_clusters=[2, 3], indices=("jaccard", "r", "test"), **few),
        "test": cr.cluster_test(alpha, n_resamples=19, rng=0),
        "other test": cr.cluster_test(studies["beta"], n_resamples=19, rng=0),
        "stability": cr.stability(THREE, alpha, **few),
        "sensitivity": cr.sensitivity(THREE, alpha, **few),
        "prediction": cr.prediction_strength(WARD, alpha, n_clusters=[2, 3], n_splits=2, rng=0),
        "instability": cr.bootstrap_instability(WARD, alpha, n_clusters=[2, 3], **few),
        "consensus": cr.consensus(THREE, alpha, **few),
        "assignment": cr.assignment_consistency(THREE, alpha, **few),
        "relative": cr.relative_validation(WARD, alpha, n_clusters=[2, 3], n_splits=2, rng=0),
    }


def sections(report):
    return [one["id"] for one in report.facts["sections"]]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["comparison"], ["data", "choice"]),
        (["comparison", "null"], ["data", "choice"]),
        (["comparison", "replicability", "local"], ["data", "choice", "pairs", "clusters", "map"]),
        (["replicability", "relations"], ["data", "pairs"]),
        (["local"], ["data", "clusters", "map"]),
        (["local", "counterparts"], ["data", "clusters", "map"]),
        (["null of pairs"], ["data", "nullreference-1"]),
        (["leave one out"], ["data", "leaveonestudyout-1"]),
        (["validation"], ["data", "validation-1"]),
        (["test", "other test"], ["data", "clustertest-1", "clustertest-2"]),
        (["stability"], ["data", "stability-1"]),
        (["sensitivity"], ["data", "sensitivity-1"]),
        (["prediction", "instability"], ["data", "predictionstrength-1", "bootstrapinstability-2"]),
        (["consensus", "assignment", "relative"], ["data", "consensus-1", "assignmentconsistency-2",
                                                   "relativevalidation-3"]),
    ],
    ids=lambda value: ", ".join(value),
)  # fmt: skip
def test_any_results_make_a_report(names, expected, parts):
    made = cr.Report(*(parts[name] for name in names))
    assert sections(made) == expected
    json.dumps(made.facts, allow_nan=False)
    assert "NaN" not in made.to_json()
    assert made.to_html().startswith("<!doctype html>")
    assert made.to_markdown().startswith("# ")
    assert made.facts["provenance"][0][0] == "seed"


def test_the_first_result_in_focus_is_shown_first(parts, studies):
    made = cr.Report(parts["comparison"], parts["replicability"], parts["local"])
    assert "Shown first: AgglomerativeClustering with k = 3." in made.to_markdown()
    kinds = [one["kind"] for one in made.facts["verdict"]]
    assert kinds[:3] == ["best", "studies", "clusters"]


def test_one_local_result_or_a_dict_of_several(parts):
    one = next(iter(parts["local"].values()))
    alone, several = cr.Report(one), cr.Report(parts["local"])
    views = [[view["name"] for view in made.facts["sections"][-1]["charts"][0]["views"]] for made in (alone, several)]
    assert views == [["alpha → beta"], ["alpha → beta", "alpha → gamma"]]
    assert len(several.facts["sections"][1]["tables"][0]["rows"]) == 6


def test_data_without_clusters_find_their_local_result(found):
    made = cr.Report(*found.local, *found.local_references)
    whole = cr.Report(found)
    of_clusters = [
        [row["qvalue"] for row in one.facts["sections"][sections(one).index("clusters")]["tables"][0]["rows"]]
        for one in (made, whole)
    ]
    assert of_clusters[0] == of_clusters[1]


NO_RESULT = "A report is made of results such as compare returns, got"


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (lambda parts, found: [], "A report needs at least one result."),
        (lambda parts, found: [{}], "A report needs at least one result."),
        (lambda parts, found: ["alpha"], f"{NO_RESULT} str."),
        (lambda parts, found: [parts["comparison"].summary()], f"{NO_RESULT} DataFrame."),
        (lambda parts, found: [parts["comparison"]] * 2, "A report has one Comparison, got 2."),
        (lambda parts, found: [parts["counterparts"]] * 2, "A report has one Counterparts, got 2."),
        (lambda parts, found: [found, parts["test"]], "An analysis makes a report of its own: pass nothing beside it."),
    ],
)
def test_what_makes_no_report_gets_its_sentence(results, sentence, parts, found):
    with pytest.raises(ParameterError) as caught:
        cr.Report(*results(parts, found))
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kind", ["relations", "null", "choice", "study", "series"])
def test_what_cannot_be_told_alone_gets_its_sentence(kind, parts, studies):
    """Or is told: the docstring promises a report of `null_reference` and `relations()`."""
    one = {
        **parts,
        "choice": parts["comparison"].choice(),
        "study": studies["alpha"],
        "series": pd.Series([1.0]),
    }[kind]
    try:
        made = cr.Report(one)
    except ParameterError:
        return
    assert made.to_html()


@pytest.mark.parametrize("names", [["test", "other test"], ["local"]], ids=["tests", "local"])
def test_all_studies_are_among_the_data(names, parts):
    made = cr.Report(*(parts[name] for name in names))
    told = {row["study"] for row in made.facts["sections"][0]["tables"][0]["rows"]}
    expected = {"alpha", "beta"} | ({"gamma"} if names == ["local"] else set())
    assert told == expected


# ---------------------------------------------------------------------------------------------------------------------
# facts


def test_facts_are_plain(report):
    text = json.dumps(report.facts, allow_nan=False)
    assert json.loads(text) == report.facts
    assert sections(report) == ["data", "choice", "pairs", "clusters", "map"]
    assert [one["kind"] for one in report.facts["verdict"]][:5] == ["best", "studies", *["clusters"] * 3]
    assert report.facts["subtitle"] == "alpha, beta, gamma: 90 samples"
    assert repr(report) == "\n".join(one["text"] for one in report.facts["verdict"])


def test_json_has_everything_but_charts(report):
    said = json.loads(report.to_json())
    assert all("charts" not in one for one in said["sections"])
    without = [{k: v for k, v in one.items() if k != "charts"} for one in report.facts["sections"]]
    assert said == {**report.facts, "sections": without}


def test_tables_have_the_rows_of_the_results(report, found):
    tables = {one["id"]: one for section in report.facts["sections"] for one in section["tables"]}
    assert sorted(tables) == [
        "choice-table", "clusters-table", "counterparts-table", "pairs-table", "relations-table", "studies-table",
    ]  # fmt: skip
    assert [row["mean"] for row in tables["clusters-table"]["rows"]] == numbers(found.clusters()["mean"].to_numpy())
    assert len(tables["choice-table"]["rows"]) == 2 * 2
    assert [row["samples"] for row in tables["studies-table"]["rows"]] == [30, 30, 30]
    kinds = {column["key"]: column["kind"] for column in tables["choice-table"]["columns"]}
    assert {"k": "count", "mean": "number", "pvalue": "p", "probability_best": "share"}.items() <= kinds.items()


def test_warnings_and_titles_are_told(found):
    made = cr.Report(dataclasses.replace(found, warnings=("mind <b>this</b>",)), title="Mine & yours")
    page = made.to_html()
    assert made.facts["warnings"] == ["mind <b>this</b>"]
    assert "mind &lt;b&gt;this&lt;/b&gt;" in page
    assert "<title>Mine &amp; yours</title>" in page


def test_nothing_to_look_at_is_told_without_charts_of_it(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(AgglomerativeClustering(), studies, n_clusters=[19, 20], null=None, n_resamples=4, rng=0)
    told = cr.Report(made)
    assert told.facts["verdict"][0]["text"] == NO_BEST
    json.dumps(told.facts, allow_nan=False)
    told.to_html()


# ---------------------------------------------------------------------------------------------------------------------
# methods


def test_the_paragraph_has_what_a_paper_needs(report, found):
    text, parameters, citation = report.facts["methods"]
    versions = found.provenance["versions"]
    for part in (
        "across 3 studies, alpha (n = 30), beta (n = 30), gamma (n = 30), on 3 shared features, not scaled.",
        "learned by ward for 2 and 3 clusters",
        "by the adjusted Rand index (ARI) and adjusted mutual information (AMI)",
        "with 20 bootstrap resamples",
        "Scores of the studies as they are were compared with those of 19 collections without clusters, drawn from a "
        "Gaussian with the size, mean and covariance of each study, as far as these can be told",
        f"clustrep {versions['clustrep']} (numpy {versions['numpy']}, scipy {versions['scipy']}, ",
        f"scikit-learn {versions['scikit-learn']}; Python {versions['python']}), seed 0.",
    ):
        assert part in text
    assert citation.startswith("Reference: Masoero L, ")
    (told,) = [value for name, value in report.facts["provenance"] if name == "clusterer"]
    assert told.startswith("AgglomerativeClustering(")
    assert "n_clusters=k" in told
    assert parameters == f"Clusterers: ward: {told}."


def test_scales_nulls_and_lack_of_them_are_told(studies):
    scaled = studies.scaled("robust")
    made = cr.analyse(WARD, scaled, n_clusters=[2, 3, 4], null=None, agreement="mi", n_resamples=2, rng=5)
    (text, _, _) = cr.Report(made).facts["methods"]
    assert "scaled by median and interquartile range within each study." in text
    assert "for 2 to 4 clusters" in text
    assert "without clusters" not in text
    assert "by MI (Masoero" in text
    made = cr.analyse(WARD, studies, n_clusters=[3], null="copula", n_null=19, n_resamples=2, rng=5)
    text = cr.Report(made).facts["methods"][0]
    assert "19 collections without clusters, drawn from a Gaussian copula with the size and margins" in text


def test_resampling_is_called_by_its_name(studies):
    made = cr.compare(WARD, studies, n_clusters=[2], n_resamples=2, rng=0, resampling=cr.Subsample(0.5))
    assert "bootstrap" not in cr.Report(made).facts["methods"][0]


@pytest.mark.parametrize(
    ("ks", "text"), [([2], "2"), ([2, 3], "2 and 3"), ([2, 3, 4], "2 to 4"), ([2, 3, 5], "2, 3 and 5")]
)
def test_ranges_of_k(ks, text):
    assert _range(ks) == text


# ---------------------------------------------------------------------------------------------------------------------
# the same page each time, with names that are only text


def test_the_same_results_are_the_same_page(found, report, tmp_path):
    page = report.to_html()
    assert cr.Report(found).to_html() == page
    found.save(tmp_path / "result.npz")
    assert cr.Report(cr.load(tmp_path / "result.npz")).to_html() == page
    report.write_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page


def test_a_name_that_attacks_is_text():
    hostile = cohorts_named("alpha", HOSTILE, "gamma")
    made = cr.analyse({HOSTILE: WARD}, hostile, n_clusters=[3], null=None, n_resamples=20, rng=0)
    told = cr.Report(made)
    for section in told.facts["sections"]:
        for chart in section["charts"]:
            drawn = json.dumps([[view["data"], view["layout"]] for view in chart["views"]])
            assert HOSTILE not in drawn
            assert literal(HOSTILE) in drawn or chart["id"] == "map"  # samples, clusters and axes alone
    page = told.to_html()
    assert HOSTILE not in page
    assert HOSTILE not in told.to_markdown()


# ---------------------------------------------------------------------------------------------------------------------
# charts


def chart(report, name):
    (found,) = [one for section in report.facts["sections"] for one in section["charts"] if one["id"] == name]
    return found


def test_curves_have_the_means_of_the_summary(report, found):
    drawn = chart(report, "curves")
    assert [view["name"] for view in drawn["views"]] == ["ARI", "AMI"]
    summary = found.comparison.summary()
    off = ~np.eye(3, dtype=bool)
    for a, (view, agreement) in enumerate(zip(drawn["views"], ("ari", "ami"), strict=True)):
        band, line, crosses, null = view["data"]
        own = summary[summary["agreement"] == agreement]
        assert line["name"] == "ward"
        assert line["x"] == [2, 3]
        assert line["y"] == numbers(own["score"].to_numpy())
        assert band["y"] == numbers([*own["low"], *own["high"][::-1]])
        assert crosses["y"] == numbers([float(found.comparison.estimate[c, a][off].mean()) for c in range(2)])
        upper = np.quantile(found.reference.overall_distribution[:, :, a], 0.95, axis=0)
        assert null["y"] == numbers(upper)


def test_a_clusterer_without_k_is_a_line_across(studies):
    comparison = cr.compare(
        {"ward": WARD, "three": THREE.fit_predict}, studies, n_clusters=[2, 4], n_resamples=2, rng=0
    )
    lines = [one for one in chart(cr.Report(comparison), "curves")["views"][0]["data"] if one.get("name")]
    assert {one["name"]: one["x"] for one in lines} == {"ward": [2, 4], "three": [2, 4]}
    assert len(set(lines[1]["y"])) == 1


def test_heat_maps_have_the_means_of_pairs(report, found):
    views = chart(report, "matrices")["views"]
    assert [view["name"] for view in views] == ["ward, k = 3", "ward, k = 2"]
    for view, k in zip(views, (3, 2), strict=True):
        (trace,) = view["data"]
        mean = found.comparison.replicability("ward", k).mean
        assert trace["z"] == numbers(mean)
        assert trace["text"] == [[f"{value:.2f}" for value in row] for row in mean]
        assert trace["x"] == trace["y"] == ["alpha", "beta", "gamma"]


def test_strips_have_every_resample(report, found):
    every, mean, estimate = chart(report, "strips")["views"][0]["data"]
    result = found.replicability
    assert len(every["x"]) == 6 * 20
    assert every["x"][:20] == numbers(result.distribution[:, 0, 1])
    assert every["y"][20] == "alpha → gamma"
    assert mean["x"] == numbers([float(result.mean[s, t]) for s in range(3) for t in range(3) if s != t])
    assert estimate["x"] == numbers([float(result.estimate[s, t]) for s in range(3) for t in range(3) if s != t])


def test_the_tree_has_the_heights_of_the_relations(report, found):
    traces = chart(report, "tree")["views"][0]["data"]
    assert [max(one["x"]) for one in traces] == numbers(found.relations.tree[:, 2])


def test_bars_have_the_clusters_means_and_intervals(report, found):
    table = found.clusters()
    views = chart(report, "clusters")["views"]
    assert [view["name"] for view in views] == ["alpha", "beta", "gamma"]
    for view in views:
        for trace in view["data"]:
            own = table[(table["train"] == view["name"]) & (table["test"] == trace["name"].removeprefix("in "))]
            assert trace["x"] == own["cluster"].tolist()
            assert trace["y"] == numbers(own["mean"].to_numpy())
            assert trace["error_y"]["array"] == numbers((own["high"] - own["mean"]).to_numpy())
            assert trace["error_y"]["arrayminus"] == numbers((own["mean"] - own["low"]).to_numpy())
            assert all(verdict in text for verdict, text in zip(own["verdict"], trace["hovertext"], strict=True))


def test_maps_have_the_samples_places_and_scores(report, found):
    samples = found.samples()
    drawn = chart(report, "map")
    assert len(drawn["views"]) == 6
    for view in drawn["views"]:
        train, test = view["name"].split(" → ")
        own = samples[(samples["train"] == train) & (samples["test"] == test)]
        assert sum(len(trace["x"]) for trace in view["data"]) == 30
        for trace in view["data"]:
            of_cluster = own[own["cluster"] == trace["name"]]
            assert trace["x"] == numbers(of_cluster["x"].to_numpy())
            assert trace["y"] == numbers(of_cluster["y"].to_numpy())
            assert trace["marker"]["color"] == numbers(of_cluster["mean"].round(3).to_numpy())
            assert [text.split("<br>")[0] for text in trace["text"]] == of_cluster["sample"].tolist()
        assert view["layout"]["xaxis"]["title"]["text"] == found.coordinate_names[0]


def test_large_maps_are_thinned(found, monkeypatch):
    monkeypatch.setattr("clustrep.figures.plotly.charts.MOST_POINTS", 6 * 21)
    drawn = chart(cr.Report(found), "map")
    assert "at most 21 samples are drawn" in drawn["description"]
    assert sum(len(trace["x"]) for trace in drawn["views"][0]["data"]) == 15


def test_the_histogram_has_the_tests_numbers(parts):
    bars, line = chart(cr.Report(parts["test"]), "null-1")["views"][0]["data"]
    assert sum(bars["y"]) == 19
    assert line["x"] == numbers([parts["test"].statistic] * 2)


def test_indices_have_the_validations_numbers(parts):
    result = parts["validation"]
    views = chart(cr.Report(result), "indices-1")["views"]
    assert [view["name"] for view in views] == ["Jaccard coefficient", "R index"]
    for view, index in zip(views, ("jaccard", "r"), strict=True):
        clusters, whole = view["data"]
        assert whole["y"] == numbers(result.overall()[index].to_numpy(float))
        frame = result.to_frame()
        assert clusters["y"] == numbers(frame["value"][(frame["index"] == index) & ~result.whole].to_numpy())


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(1 / 3), 0.333333),
        (np.nan, None),
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
        (np.int64(3), 3),
        ([1, "x", None], [1, "x", None]),
        ((0.1234567,), [0.123457]),
    ],
)
def test_numbers_become_plain(value, plain):
    assert numbers(value) == plain


# ---------------------------------------------------------------------------------------------------------------------
# results that do not belong together, and large ones


def test_a_reference_is_told_beside_its_own_result_alone(studies):
    local = {
        k: cr.local_replicability(
            AgglomerativeClustering(k), train=studies["alpha"], test=studies["beta"], n_resamples=4, rng=0
        )
        for k in (2, 3)
    }
    reference = cr.null_reference(local[3], 19)
    rows = {}
    for k in (2, 3):
        facts = cr.Report(local[k], reference).facts
        (section,) = [one for one in facts["sections"] if one["id"] == "clusters"]
        rows[k] = {row["verdict"] for row in section["tables"][0]["rows"]}
    assert rows[2] == {"not compared with data without clusters"}
    assert not rows[3] & rows[2]
    with pytest.raises(ParameterError, match="one local result for each pair of studies"):
        cr.Report(local[2], local[3])


def test_a_comparison_and_a_local_result_make_a_report(studies, parts):
    local = cr.local_replicability(WARD, train=studies["alpha"], test=studies["beta"], n_resamples=3, rng=0)
    at_test = cr.local_replicability(
        WARD, train=studies["beta"], test=studies["alpha"], at=studies["alpha"], n_resamples=3, rng=0
    )
    facts = cr.Report(parts["comparison"], local, at_test).facts
    (drawn,) = [one for section in facts["sections"] for one in section["charts"] if one["id"] == "map"]
    assert [view["name"] for view in drawn["views"]] == ["alpha → beta"]
    assert cr.Report(local, at_test).to_html()


def test_a_clusterer_without_k_is_not_said_to_have_one(studies):
    made = cr.compare({"density": DBSCAN(eps=3.0)}, studies, agreement="ari", n_resamples=2, rng=0)
    (view,) = chart(cr.Report(made), "curves")["views"]
    texts = [text for trace in view["data"] for text in trace.get("text", [])]
    assert texts
    assert not any("k =" in text for text in texts)
    assert view["layout"]["xaxis"]["title"]["text"] == "(no number of clusters to set)"


def test_ten_studies_make_a_page_of_less_than_six_megabytes():
    rng = np.random.default_rng(0)
    tables = {f"study {i}": rng.normal(size=(200, 3)) + 9 * rng.integers(3, size=(200, 1)) for i in range(10)}
    made = cr.analyse(WARD, tables, n_clusters=range(2, 10), null=None, n_resamples=10, rng=0)
    page = cr.Report(made).to_html()
    assert len(page.encode()) < 6_000_000
    assert max(len(one["text"]) for one in cr.Report(made).facts["verdict"]) < 1500


def test_the_answer_is_given_to_scripts(report, found):
    answer = json.loads(report.to_json())["answer"]
    best = found.choice.best
    assert (answer["best"]["clusterer"], answer["best"]["k"]) == (best.clusterer, best.n_clusters)
    assert answer["best"]["mean"] == numbers(best.score)
    assert answer["best"]["adjusted"] == numbers(float(found.choice.against.adjusted[found.choice.place(best)]))
    assert [one["k"] for one in answer["rivals"]] == [one.n_clusters for one in best.rivals]
    assert answer["looked_at"]["k"] == found.focus.n_clusters
    assert answer["apart"] == [n for n, apart in zip(found.names, found.relations.apart, strict=True) if apart]


def test_more_collections_are_asked_for_where_they_are_too_few():
    table = pd.DataFrame(
        {"verdict": [words.TOO_FEW, words.TOO_FEW, words.NOT_ABOVE, words.NOISE], "qvalue": [0.1, 0.1, 0.9, np.nan]}
    )
    assert words.about_resolution(table).endswith("too few to tell: 59 collections (--null-collections) would do.")
    assert words.about_resolution(table[2:]) == ""

"""Bad inputs to functions and results: the type and the parameter of the error; its sentence is in sentences.md.

A sentence names the parameter, study or file, states the rule, shows the value or the place, and says what to do next
where that is not obvious. Nothing but the classes of `clustrep.errors` may come out.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.bad_inputs import (
    HALVES,
    HOLES,
    K_MEANS,
    MASKED,
    RAGGED,
    F,
    G,
    X,
    Y,
    case,
    check_refusal,
    comparison,
    local,
    result,
    run,
    run_compare,
    run_local,
    studies,
    under_their_headings,
)
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ClustrepError, DataError, NoBest, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# the three verbs

REPLICABILITY = [
    case("class", lambda: run(KMeans), ParameterError, "clusterer"),
    case("None", lambda: run(None), ParameterError, "clusterer"),
    case("text", lambda: run("kmeans"), ParameterError, "clusterer"),
    case("scaler", lambda: run(StandardScaler()), ParameterError, "clusterer"),
    case("pipeline of scalers", lambda: run(make_pipeline(StandardScaler())), ParameterError, "clusterer"),
    case("several", lambda: run([K_MEANS]), ParameterError, "clusterer"),
    case(
        "distances",
        lambda: run(AgglomerativeClustering(2, metric="precomputed", linkage="average")),
        ParameterError,
        "clusterer",
    ),
    case("affinities", lambda: run(SpectralClustering(2, affinity="precomputed")), ParameterError, "clusterer"),
    case("no clusters", lambda: run(KMeans(0)), AllReplicatesFailed),
    case("too many clusters", lambda: run(KMeans(99, n_init=1)), AllReplicatesFailed),
    case("a function that fails", lambda: run(lambda X: 1 / 0), AllReplicatesFailed),
    case("too few labels", lambda: run(lambda X: [0, 1]), DataError),
    case("no labels", lambda: run(lambda X: None), DataError),
    case("fractions", lambda: run(lambda X: X[:, 0]), DataError),
    case("missing labels", lambda: run(lambda X: [None] * len(X)), DataError),
    case("infinite labels", lambda: run(lambda X: np.full(len(X), np.inf)), DataError),
    case("one study", lambda: run(given=[X]), ParameterError, "studies"),
    case("an array", lambda: run(given=X), DataError),
    case("a study", lambda: run(given=cr.Study(X, "a")), DataError),
    case("a path", lambda: run(given="mainz.csv"), DataError),
    case("no study", lambda: run(given=[]), DataError),
    case("missing values", lambda: run(given=[X, HOLES]), DataError),
    case("agreement misspelt", lambda: run(agreement="arii"), ParameterError, "agreement"),
    case("agreement None", lambda: run(agreement=None), ParameterError, "agreement"),
    case("agreement empty", lambda: run(agreement=()), ParameterError, "agreement"),
    case("agreement twice", lambda: run(agreement=("ari", "ari")), ParameterError, "agreement"),
    case("agreement of several", lambda: run(agreement=("ari", "amy")), ParameterError, "agreement"),
    case("agreement text", lambda: run(agreement=lambda u, v: "x"), ClustrepError, "agreement"),
    case("agreement nothing", lambda: run(agreement=lambda u, v: None), ClustrepError, "agreement"),
    case("agreement array", lambda: run(agreement=lambda u, v: np.ones(2)), ClustrepError, "agreement"),
    case("agreement NaN", lambda: run(agreement=lambda u, v: np.nan), AllReplicatesFailed),
    case("n_resamples zero", lambda: run(n_resamples=0), ParameterError, "n_resamples"),
    case("n_resamples negative", lambda: run(n_resamples=-3), ParameterError, "n_resamples"),
    case("n_resamples fraction", lambda: run(n_resamples=2.5), ParameterError, "n_resamples"),
    case("n_resamples text", lambda: run(n_resamples="2"), ParameterError, "n_resamples"),
    case("n_resamples None", lambda: run(n_resamples=None), ParameterError, "n_resamples"),
    case("diagonal text", lambda: run(diagonal="no"), ParameterError, "diagonal"),
    case("diagonal number", lambda: run(diagonal=1), ParameterError, "diagonal"),
    case("noise", lambda: run(noise="dorp"), ParameterError, "noise"),
    case("resampling class", lambda: run(resampling=cr.resampling.Bootstrap), ParameterError, "resampling"),
    case("resampling text", lambda: run(resampling="bootstrap"), ParameterError, "resampling"),
    case("rng text", lambda: run(rng="seed"), ParameterError, "rng"),
    case("rng negative", lambda: run(rng=-1), ParameterError, "rng"),
    case("rng fraction", lambda: run(rng=1.5), ParameterError, "rng"),
    case("rng True", lambda: run(rng=True), ParameterError, "rng"),
    case("rng old", lambda: run(rng=np.random.RandomState(0)), ParameterError, "rng"),
    case("rng module", lambda: run(rng=np.random), ParameterError, "rng"),
    case("n_jobs zero", lambda: run(n_jobs=0), ParameterError, "n_jobs"),
    case("n_jobs text", lambda: run(n_jobs="all"), ParameterError, "n_jobs"),
    case("n_jobs fraction", lambda: run(n_jobs=1.5), ParameterError, "n_jobs"),
    case("progress", lambda: configured(run, progress="yes")(), ParameterError, "progress"),
    case("labels and clusterer", lambda: run(labels={"alpha": HALVES, "beta": HALVES}), ParameterError, "labels"),
    case("labels list", lambda: run(None, labels=[HALVES, HALVES]), ParameterError, "labels"),
    case("labels column", lambda: run(None, labels="type"), ParameterError, "labels"),
    case("labels of one", lambda: run(None, labels={"alpha": HALVES}), DataError),
    case(
        "labels of a stranger", lambda: run(None, labels={"alpha": HALVES, "beta": HALVES, "zeta": HALVES}), DataError
    ),
    case("labels unknown", lambda: run(None, labels=True), DataError),
    case("labels too few", lambda: run(None, labels={"alpha": HALVES, "beta": [0, 1]}), DataError),
    case("labels missing", lambda: run(None, labels={"alpha": HALVES, "beta": [np.nan] * 12}), DataError),
    case(
        "labels and Simulate",
        lambda: run(
            None,
            labels={"alpha": HALVES, "beta": HALVES},
            resampling=cr.resampling.Simulate(lambda study, rng: study.X),
        ),
        ParameterError,
        "labels",
    ),
]

RESAMPLING = [
    case("Subsample of nothing", lambda: cr.resampling.Subsample(0), ParameterError, "fraction"),
    case("Subsample of more", lambda: cr.resampling.Subsample(1.5), ParameterError, "fraction"),
    case("Subsample of a count", lambda: cr.resampling.Subsample(80), ParameterError, "fraction"),
    case("Subsample text", lambda: cr.resampling.Subsample("0.8"), ParameterError, "fraction"),
    case("Subsample NaN", lambda: cr.resampling.Subsample(np.nan), ParameterError, "fraction"),
    case("Subsample True", lambda: cr.resampling.Subsample(True), ParameterError, "fraction"),
    case("Simulate None", lambda: cr.resampling.Simulate(None), ParameterError, "sampler"),
    case("Simulate a number", lambda: cr.resampling.Simulate(0.8), ParameterError, "sampler"),
    case(
        "sampler of other features",
        lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: X[:, :2])),
        DataError,
    ),
    case("sampler of holes", lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: HOLES)), DataError),
    case("sampler of nothing", lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: None)), DataError),
    case("sampler of one point", lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: X[0])), DataError),
    case(
        "sampler of ragged rows", lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: RAGGED)), DataError
    ),
    case(
        "sampler of text",
        lambda: run(resampling=cr.resampling.Simulate(lambda study, rng: [list("uvw")] * 4)),
        DataError,
    ),
]

COMPARE = [
    case("class", lambda: run_compare(KMeans), ParameterError, "clusterer"),
    case("None", lambda: run_compare(None), ParameterError, "clusterer"),
    case("text", lambda: run_compare("kmeans"), ParameterError, "clusterer"),
    case("empty list", lambda: run_compare([]), ParameterError, "clusterers"),
    case("empty mapping", lambda: run_compare({}), ParameterError, "clusterers"),
    case("one that can't", lambda: run_compare({"fine": K_MEANS, "odd": "ward"}), ParameterError, "clusterer"),
    case("same class", lambda: run_compare([KMeans(2), KMeans(3)]), ParameterError, "clusterers"),
    case("two functions", lambda: run_compare([lambda X: HALVES, lambda X: HALVES]), ParameterError, "clusterers"),
    case("blank name", lambda: run_compare({"": K_MEANS}), ParameterError, "clusterers"),
    case("number as name", lambda: run_compare({2: K_MEANS}), ParameterError, "clusterers"),
    case("k one", lambda: run_compare(n_clusters=1), ParameterError, "n_clusters"),
    case("k from one", lambda: run_compare(n_clusters=range(1, 4)), ParameterError, "n_clusters"),
    case("k text", lambda: run_compare(n_clusters="3"), ParameterError, "n_clusters"),
    case("k fraction", lambda: run_compare(n_clusters=2.5), ParameterError, "n_clusters"),
    case("k fractions", lambda: run_compare(n_clusters=[2, 3.0]), ParameterError, "n_clusters"),
    case("k none", lambda: run_compare(n_clusters=range(5, 2)), ParameterError, "n_clusters"),
    case("k twice", lambda: run_compare(n_clusters=[2, 3, 2]), ParameterError, "n_clusters"),
    case("k True", lambda: run_compare(n_clusters=True), ParameterError, "n_clusters"),
    case("k too many", lambda: run_compare(n_clusters=50), ParameterError, "n_clusters"),
    case("one study", lambda: run_compare(given=[X]), ParameterError, "studies"),
    case("agreement", lambda: run_compare(agreement=("ari", "nmi")), ParameterError, "agreement"),
    case("n_resamples", lambda: run_compare(n_resamples=0), ParameterError, "n_resamples"),
    case("diagonal", lambda: run_compare(diagonal=None), ParameterError, "diagonal"),
    case("noise", lambda: run_compare(noise=-1), ParameterError, "noise"),
    case("resampling", lambda: run_compare(resampling=0.8), ParameterError, "resampling"),
    case("rng", lambda: run_compare(rng=[1, 2]), ParameterError, "rng"),
    case("n_jobs", lambda: run_compare(n_jobs=0), ParameterError, "n_jobs"),
]

LOCAL = [
    case("train None", lambda: run_local(train=None), ClustrepError),
    case("train a name", lambda: run_local(train="alpha"), ClustrepError),
    case("train studies", lambda: run_local(train=studies()), ClustrepError, "train"),
    case("test a name", lambda: run_local(test="beta"), ClustrepError),
    case("test a mapping", lambda: run_local(test={"beta": G}), ParameterError, "test"),
    case("test a list", lambda: run_local(test=[F, G]), ParameterError, "test"),
    case("test empty", lambda: run_local(test=[]), ClustrepError),
    case("test only the training study", lambda: run_local(test=cr.Studies({"alpha": F})), ParameterError, "test"),
    case("two studies of the same name", lambda: run_local(test=cr.Study(G, "alpha")), ParameterError, "train"),
    case("train named test", lambda: run_local(train=cr.Study(F, "test"), test=G), ParameterError, "train"),
    case("test named train", lambda: run_local(train=X, test=cr.Study(Y, "train")), ParameterError, "train"),
    case(
        "a test study named train",
        lambda: run_local(train=X, test=cr.Studies({"train": Y, "other": X + 1})),
        ParameterError,
        "train",
    ),
    case("no common feature", lambda: run_local(test=cr.Study(G.rename(columns=str.upper), "beta")), DataError),
    case("numbers of features", lambda: run_local(train=X, test=Y[:, :2]), DataError),
    case("at other features", lambda: run_local(at=X[:, :2]), DataError),
    case("at one point", lambda: run_local(at=X[0]), DataError),
    case("at missing", lambda: run_local(at=[[1.0, np.nan, 2.0]]), DataError),
    case("at masked", lambda: run_local(at=MASKED), DataError),
    case("at ragged", lambda: run_local(at=RAGGED), DataError),
    case("at nothing", lambda: run_local(at=X[:0]), DataError),
    case("at a name", lambda: run_local(at="beta"), ClustrepError),
    case("at studies", lambda: run_local(at=studies()), ParameterError, "at"),
    case("at lacks features", lambda: run_local(at=F[["a"]]), DataError),
    case(
        "at a study that lacks features", lambda: run_local(at=cr.Study(F[["a", "b"]], "q")), ClustrepError, "features"
    ),
    case("at text", lambda: run_local(at=F.assign(b="u")), DataError),
    case("several agreements", lambda: run_local(agreement=("ari", "ami")), ParameterError, "agreement"),
    case("agreement", lambda: run_local(agreement="amii"), ParameterError, "agreement"),
    case("agreement NaN", lambda: run_local(agreement=lambda u, v: np.nan), AllReplicatesFailed),
    case("agreement text", lambda: run_local(agreement=lambda u, v: "x"), ClustrepError, "agreement"),
    case("clusterer", lambda: run_local(KMeans), ParameterError, "clusterer"),
    case("clusterer None", lambda: run_local(None), ParameterError, "clusterer"),
    case("clusterer fails", lambda: run_local(lambda X: 1 / 0), AllReplicatesFailed),
    case("too many clusters", lambda: run_local(KMeans(99, n_init=1)), AllReplicatesFailed),
    case("labels missing", lambda: run_local(None, labels={"alpha": HALVES}), DataError),
    case("labels and clusterer", lambda: run_local(labels={"alpha": HALVES, "beta": HALVES}), ParameterError, "labels"),
    case("n_resamples", lambda: run_local(n_resamples=0), ParameterError, "n_resamples"),
    case("noise", lambda: run_local(noise="keep"), ParameterError, "noise"),
    case("resampling", lambda: run_local(resampling=3), ParameterError, "resampling"),
    case("rng", lambda: run_local(rng="x"), ParameterError, "rng"),
    case("n_jobs", lambda: run_local(n_jobs=0), ParameterError, "n_jobs"),
    case("progress", lambda: configured(run_local, progress="yes")(), ParameterError, "progress"),
]

INDUCED = [
    case("None", lambda: run(cr.Induced(None)), ParameterError, "clusterer"),
    case("class", lambda: run(cr.Induced(KMeans)), ParameterError, "clusterer"),
    case("text", lambda: run(cr.Induced("kmeans")), ParameterError, "clusterer"),
    case("scaler", lambda: run(cr.Induced(StandardScaler())), ParameterError, "clusterer"),
    case(
        "distances",
        lambda: run(cr.Induced(AgglomerativeClustering(2, metric="precomputed", linkage="average"))),
        ParameterError,
        "clusterer",
    ),
    case("metric", lambda: run(cr.Induced(K_MEANS, metric="nearest")), ClustrepError, "metric"),
    case("metric number", lambda: run(cr.Induced(K_MEANS, metric=3)), ClustrepError, "metric"),
    case("classifier", lambda: run(cr.Induced(K_MEANS, classifier="knn")), ParameterError, "classifier"),
    case("classifier class", lambda: run(cr.Induced(K_MEANS, classifier=KMeans)), ParameterError, "classifier"),
]


# ---------------------------------------------------------------------------------------------------------------------
# results


RESULTS = [
    case("level in per cent", lambda: result().confidence_interval(95), ParameterError, "confidence_level"),
    case("level one", lambda: result().confidence_interval(1), ParameterError, "confidence_level"),
    case("level zero", lambda: result().confidence_interval(0.0), ParameterError, "confidence_level"),
    case("level text", lambda: result().confidence_interval("0.95"), ParameterError, "confidence_level"),
    case("level None", lambda: result().confidence_interval(None), ParameterError, "confidence_level"),
    case("level NaN", lambda: result().confidence_interval(np.nan), ParameterError, "confidence_level"),
    case("level of a frame", lambda: result().to_frame(2), ParameterError, "confidence_level"),
    case(
        "level of a study",
        lambda: result().for_training_on("alpha").confidence_interval(-1),
        ParameterError,
        "confidence_level",
    ),
    case("level of a comparison", lambda: comparison().to_frame(90), ParameterError, "confidence_level"),
    case("level of a summary", lambda: comparison().summary(90), ParameterError, "confidence_level"),
    case("level of points", lambda: local().confidence_interval(True), ParameterError, "confidence_level"),
    case("level of a frame of points", lambda: local().to_frame("x"), ParameterError, "confidence_level"),
    case("level of clusters", lambda: local().by_cluster(95), ParameterError, "confidence_level"),
    case("quantile", lambda: result().quantile(2), ParameterError, "q"),
    case("quantiles", lambda: result().quantile([0.5, -1]), ParameterError, "q"),
    case("quantile text", lambda: result().quantile("half"), ParameterError, "q"),
    case("quantile None", lambda: result().quantile(None), ParameterError, "q"),
    case("quantile of points", lambda: local().quantile(50), ParameterError, "q"),
    case("training study", lambda: result().for_training_on("alpa"), ParameterError, "name"),
    case("training study by number", lambda: result().for_training_on(0), ParameterError, "name"),
    case("function of a stranger", lambda: result().clustering_function("gamma"), ParameterError, "name"),
    case("function of a resample beyond", lambda: result().clustering_function("alpha", 2), ParameterError, "resample"),
    case(
        "function of a negative resample", lambda: result().clustering_function("alpha", -1), ParameterError, "resample"
    ),
    case(
        "function of a resample in words",
        lambda: result().clustering_function("alpha", "full"),
        ParameterError,
        "resample",
    ),
    case("points of other features", lambda: result().clustering_function("alpha")(X[:, :2]), DataError),
    case("one point", lambda: result().clustering_function("alpha")(X[0]), DataError),
    case("points missing", lambda: result().clustering_function("alpha")([[0.0, np.nan, 0.0]]), DataError),
    case("points text", lambda: result().clustering_function("alpha")([["u", "v", "w"]]), DataError),
    case("points ragged", lambda: result().clustering_function("alpha")(RAGGED), DataError),
    case("no points", lambda: result().clustering_function("alpha")(X[:0]), DataError),
    case("points of a study", lambda: result().clustering_function("alpha")(studies()["beta"]), DataError),
    case("points None", lambda: result().clustering_function("alpha")(None), DataError),
    case("clusterer unknown", lambda: comparison().replicability("kmeans", 2), ParameterError, "clusterer"),
    case("k not given", lambda: comparison().replicability("k-means"), ParameterError, "n_clusters"),
    case("k not run", lambda: comparison().replicability("k-means", 7), ParameterError, "n_clusters"),
    case("k in words", lambda: comparison().replicability("k-means", "2"), ParameterError, "n_clusters"),
    case("k of a clusterer without", lambda: comparison().replicability("density", 2), ParameterError, "n_clusters"),
    case("agreement not run", lambda: comparison().replicability("k-means", 2, "ri"), ParameterError, "agreement"),
    case("best by what was not run", lambda: comparison().best("ri"), ParameterError, "agreement"),
    case("plot by what was not run", lambda: comparison().plot(agreement="ri"), ParameterError, "agreement"),
    case("nothing can be best", lambda: run_compare(DBSCAN(eps=1e3)).best(), NoBest),
    case("point beyond", lambda: local().co_clustering(12), ParameterError, "point"),
    case("point negative", lambda: local().co_clustering(-1), ParameterError, "point"),
    case("point by name", lambda: local().co_clustering("s1"), ParameterError, "point"),
    case("plot other points", lambda: local().plot(points=X[:3]), DataError),
    case("plot no coordinates", lambda: local().plot(points=X[:, :0]), ClustrepError),
    case("plot words", lambda: local().plot(points=[["u", "v"]] * 12), ClustrepError),
    case("plot on no axes", lambda: result().plot(ax="here"), ClustrepError, "ax"),
    case("plot curves on no axes", lambda: comparison().plot(ax=np.empty(2, object)), ClustrepError, "ax"),
    case("plot points on no axes", lambda: local().plot(ax=3), ClustrepError, "ax"),
]


# ---------------------------------------------------------------------------------------------------------------------
# labelings, and simulated cohorts


def labelings(function):
    name = function.__name__
    return [
        case(f"{name}: lengths", lambda: function([0, 1], [0, 1, 1]), DataError),
        case(f"{name}: empty", lambda: function([], []), DataError),
        case(f"{name}: text", lambda: function("aab", "abb"), DataError),
        case(f"{name}: None", lambda: function([0], None), DataError),
        case(f"{name}: table", lambda: function([[0, 1]], [0]), DataError),
        case(f"{name}: ragged", lambda: function([[0], [1, 2]], [0, 1]), DataError),
        case(f"{name}: missing", lambda: function([0, np.nan], [0, 1]), DataError),
        case(f"{name}: fractions", lambda: function([0, 1.5], [0, 1]), DataError),
        case(f"{name}: infinite", lambda: function([0, 1], [0, np.inf]), DataError),
        case(f"{name}: set", lambda: function({0, 1}, [0, 1]), DataError),
        case(f"{name}: weights too few", lambda: function([0, 1], [0, 1], weights=[1]), DataError),
        case(f"{name}: weights negative", lambda: function([0, 1], [0, 1], weights=[1, -2]), DataError),
        case(f"{name}: weights fractions", lambda: function([0, 1], [0, 1], weights=[1, 0.5]), DataError),
        case(f"{name}: weights missing", lambda: function([0, 1], [0, 1], weights=[1, np.nan]), DataError),
        case(f"{name}: weights zero", lambda: function([0, 1], [0, 1], weights=[0, 0]), DataError),
        case(f"{name}: weights text", lambda: function([0, 1], [0, 1], weights=["a", "b"]), DataError),
        case(f"{name}: weights huge", lambda: function([0, 1], [0, 1], weights=[1e300, 1]), DataError),
        case(f"{name}: one weight", lambda: function([0, 1], [0, 1], weights=2), DataError),
        case(f"{name}: weights ragged", lambda: function([0, 1], [0, 1], weights=[[1], [1, 2]]), DataError),
    ]


AGREEMENT = [
    *labelings(cr.agreement.contingency_table),
    *labelings(cr.agreement.adjusted_rand_index),
    case("rand_index: lengths", lambda: cr.agreement.rand_index([0], [0, 1]), DataError),
    case("mutual_information: lengths", lambda: cr.agreement.mutual_information([0], [0, 1]), DataError),
    case("ami: lengths", lambda: cr.agreement.adjusted_mutual_information([0], [0, 1]), DataError),
    case(
        "ami: average",
        lambda: cr.agreement.adjusted_mutual_information([0], [0], average="mean"),
        ParameterError,
        "average",
    ),
]


def simulated(**options):
    return cr.datasets.simulate_cohorts(**{"n_samples": 4, "rng": 0, **options})


DATASETS = [
    case("no cohorts", lambda: simulated(n_cohorts=0), ParameterError, "n_cohorts"),
    case("too many cohorts", lambda: simulated(n_cohorts=11), ParameterError, "n_cohorts"),
    case("cohorts in words", lambda: simulated(n_cohorts="two"), ParameterError, "n_cohorts"),
    case("one subtype", lambda: simulated(n_subtypes=1), ParameterError, "n_subtypes"),
    case("too many subtypes", lambda: simulated(n_subtypes=9, n_features=20), ParameterError, "n_subtypes"),
    case("one sample", lambda: simulated(n_samples=1), ParameterError, "n_samples"),
    case("too few features", lambda: simulated(n_features=3), ParameterError, "n_features"),
    case("separation in words", lambda: simulated(separation="far"), ParameterError, "separation"),
    case("separation None", lambda: simulated(separation=None), ParameterError, "separation"),
    case("separation NaN", lambda: simulated(separation=np.nan), ParameterError, "separation"),
    case("separation infinite", lambda: simulated(separation=np.inf), ParameterError, "separation"),
    case("separation negative", lambda: simulated(separation=-1.0), ParameterError, "separation"),
    case("missing in a stranger", lambda: simulated(missing={"aplha": "A"}), ParameterError, "missing"),
    case("missing a stranger", lambda: simulated(missing={"alpha": "Z"}), ParameterError, "missing"),
    case("missing a list", lambda: simulated(missing=["alpha"]), ParameterError, "missing"),
    case("missing a name", lambda: simulated(missing="alpha"), ParameterError, "missing"),
    case("shifted a stranger", lambda: simulated(shifted={"omega": 1.0}), ParameterError, "shifted"),
    case("shifted in words", lambda: simulated(shifted={"alpha": "up"}), ParameterError, "shifted"),
    case("shifted NaN", lambda: simulated(shifted={"alpha": np.nan}), ParameterError, "shifted"),
    case("shifted a list", lambda: simulated(shifted=["alpha"]), ParameterError, "shifted"),
    case("shifted a number", lambda: simulated(shifted=3), ParameterError, "shifted"),
    case("rng", lambda: simulated(rng="seed"), ParameterError, "rng"),
]


EVERYWHERE = {
    "replicability": REPLICABILITY,
    "resampling": RESAMPLING,
    "compare": COMPARE,
    "local_replicability": LOCAL,
    "Induced": INDUCED,
    "results": RESULTS,
    "agreement": AGREEMENT,
    "simulate_cohorts": DATASETS,
}


@pytest.mark.parametrize("bad", under_their_headings(EVERYWHERE))
def test_bad_input_is_refused(bad):
    check_refusal(bad)


def test_a_clustering_function_never_mixes_up_the_columns_of_a_frame():
    """Columns in another order are put right by name; taking them by place would be a silent mistake."""
    spread = F * [1.0, 10.0, 100.0]
    function = run(KMeans(3, n_init=1), {"one": spread, "two": G * [1.0, 10.0, 100.0]}).clustering_function("one")
    turned = spread[["c", "b", "a"]]
    np.testing.assert_array_equal(function(turned), function(spread))


def test_every_error_is_one_of_the_package_and_a_usual_one():
    """Scripts that catch ValueError go on working."""
    for error in (DataError, ParameterError):
        assert issubclass(error, ClustrepError)
        assert issubclass(error, ValueError)
    assert issubclass(AllReplicatesFailed, ClustrepError)
    assert not issubclass(AllReplicatesFailed, ValueError)

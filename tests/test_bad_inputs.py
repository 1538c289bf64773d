"""Bad inputs to functions and results, and the sentence that each gets.

A sentence names the parameter, study or file, states the rule, shows the value or the place, and says what to do next
where that is not obvious. Nothing but the classes of `clustrep.errors` may come out.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
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
    check_sentence,
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


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# the three verbs

# fmt: off
REPLICABILITY = [
    case("class", lambda: run(KMeans), ParameterError, r"clusterer must be an object, not a class: write KMeans\(\)"),
    case("None", lambda: run(None), ParameterError, r"clusterer is None: pass a clusterer, or known labels"),
    case("text", lambda: run("kmeans"),
         ParameterError, r"clusterer must have fit_predict, or be a function .* got 'kmeans'"),
    case("scaler", lambda: run(StandardScaler()),
         ParameterError, r"clusterer must have fit_predict.* got StandardScaler\(\)"),
    case("pipeline of scalers", lambda: run(make_pipeline(StandardScaler())),
         ParameterError, r"clusterer must have fit_predict"),
    case("several", lambda: run([K_MEANS]), ParameterError, r"clusterer must have fit_predict.* got \["),
    case("distances", lambda: run(AgglomerativeClustering(2, metric="precomputed", linkage="average")),
         ParameterError, r"metric='precomputed', but is given points.*name the metric"),
    case("affinities", lambda: run(SpectralClustering(2, affinity="precomputed")),
         ParameterError, r"affinity='precomputed', but is given points"),
    case("no clusters", lambda: run(KMeans(0)),
         AllReplicatesFailed, r"Not one resample could be scored.*'n_clusters'.*Got 0"),
    case("too many clusters", lambda: run(KMeans(99, n_init=1)),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("a function that fails", lambda: run(lambda X: 1 / 0),
         AllReplicatesFailed, r"ZeroDivisionError: division by zero \(12\)"),
    case("too few labels", lambda: run(lambda X: [0, 1]),
         DataError, r"clusterer's labels must have one label .* 12; got 2"),
    case("no labels", lambda: run(lambda X: None), DataError, r"clusterer's labels must be a sequence .* got None"),
    case("fractions", lambda: run(lambda X: X[:, 0]),
         DataError, r"clusterer's labels must hold whole numbers or text, got -?\d"),
    case("missing labels", lambda: run(lambda X: [None] * len(X)), DataError, r"clusterer's labels .*12 missing"),
    case("infinite labels", lambda: run(lambda X: np.full(len(X), np.inf)),
         DataError, r"clusterer's labels must .*inf"),
    case("one study", lambda: run(given=[X]),
         ParameterError, r"studies must hold at least two studies, got 1\..*Studies\.split\(X\)"),
    case("an array", lambda: run(given=X), DataError, r"studies must be .* got ndarray"),
    case("a study", lambda: run(given=cr.Study(X, "a")), DataError, r"studies must be .* got Study"),
    case("a path", lambda: run(given="mainz.csv"), DataError, r"studies must be .* got str"),
    case("no study", lambda: run(given=[]), DataError, r"studies is empty"),
    case("missing values", lambda: run(given=[X, HOLES]),
         DataError, r"Study '2' has 3 missing values .* first at sample"),
    case("agreement misspelt", lambda: run(agreement="arii"),
         ParameterError, r"agreement must be one of 'ari', 'ami', .* got 'arii'\. Did you mean 'ari'"),
    case("agreement None", lambda: run(agreement=None), ParameterError, r"agreement must be one of .* got None"),
    case("agreement empty", lambda: run(agreement=()), ParameterError, r"agreement must be .* got \(\)"),
    case("agreement twice", lambda: run(agreement=("ari", "ari")),
         ParameterError, r"agreement needs a name of its own, but 'ari' came twice"),
    case("agreement of several", lambda: run(agreement=("ari", "amy")),
         ParameterError, r"agreement must be one of .* got 'amy'\. Did you mean 'ami'"),
    case("agreement text", lambda: run(agreement=lambda u, v: "x"), ClustrepError, r"agreement.*number.*'x'"),
    case("agreement nothing", lambda: run(agreement=lambda u, v: None), ClustrepError, r"agreement.*number.*None"),
    case("agreement array", lambda: run(agreement=lambda u, v: np.ones(2)), ClustrepError, r"agreement.*number"),
    case("agreement NaN", lambda: run(agreement=lambda u, v: np.nan),
         AllReplicatesFailed, r"the agreement failed or is not a number"),
    case("n_resamples zero", lambda: run(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("n_resamples negative", lambda: run(n_resamples=-3),
         ParameterError, r"n_resamples must be a positive integer, got -3\.$"),
    case("n_resamples fraction", lambda: run(n_resamples=2.5),
         ParameterError, r"n_resamples must be a positive integer, got 2\.5"),
    case("n_resamples text", lambda: run(n_resamples="2"),
         ParameterError, r"n_resamples must be a positive integer, got '2'"),
    case("n_resamples None", lambda: run(n_resamples=None),
         ParameterError, r"n_resamples must be a positive integer, got None"),
    case("diagonal text", lambda: run(diagonal="no"), ParameterError, r"diagonal must be True or False, got 'no'"),
    case("diagonal number", lambda: run(diagonal=1), ParameterError, r"diagonal must be True or False, got 1"),
    case("noise", lambda: run(noise="dorp"),
         ParameterError, r"noise must be one of 'label', 'drop', 'singletons'; got 'dorp'\. Did you mean 'drop'"),
    case("resampling class", lambda: run(resampling=cr.Bootstrap),
         ParameterError, r"resampling must be Bootstrap\(\), .* got <class"),
    case("resampling text", lambda: run(resampling="bootstrap"),
         ParameterError, r"resampling must be Bootstrap\(\), .* got 'bootstrap'"),
    case("rng text", lambda: run(rng="seed"),
         ParameterError, r"rng must be a non-negative integer, a numpy Generator, .* got 'seed'"),
    case("rng negative", lambda: run(rng=-1), ParameterError, r"rng must be .* got -1"),
    case("rng fraction", lambda: run(rng=1.5), ParameterError, r"rng must be .* got 1\.5"),
    case("rng True", lambda: run(rng=True), ParameterError, r"rng must be .* got True"),
    case("rng old", lambda: run(rng=np.random.RandomState(0)),
         ParameterError, r"rng must be .* Generator.* got RandomState"),
    case("rng module", lambda: run(rng=np.random), ParameterError, r"rng must be .* got <module"),
    case("n_jobs zero", lambda: run(n_jobs=0),
         ParameterError, r"n_jobs must be a positive integer, a negative one \(-1: all cores\) or None, got 0"),
    case("n_jobs text", lambda: run(n_jobs="all"), ParameterError, r"n_jobs must be .* got 'all'"),
    case("n_jobs fraction", lambda: run(n_jobs=1.5), ParameterError, r"n_jobs must be .* got 1\.5"),
    case("progress", lambda: configured(run, progress="yes")(),
         ParameterError, r"progress must be True, False or 'auto', got 'yes'"),
    case("labels and clusterer", lambda: run(labels={"alpha": HALVES, "beta": HALVES}),
         ParameterError, r"either a clusterer or labels, not both"),
    case("labels list", lambda: run(None, labels=[HALVES, HALVES]),
         ParameterError, r"labels must map each study's name to its labels, got list"),
    case("labels column", lambda: run(None, labels="type"),
         ParameterError, r"labels must map each study's name to its labels, got str"),
    case("labels of one", lambda: run(None, labels={"alpha": HALVES}),
         DataError, r"labels are missing for 'beta': every study needs them"),
    case("labels of a stranger", lambda: run(None, labels={"alpha": HALVES, "beta": HALVES, "zeta": HALVES}),
         DataError, r"labels name 'zeta', but there is no such study: correct the name, or leave it out"),
    case("labels unknown", lambda: run(None, labels=True), DataError, r"labels are missing for 'alpha', 'beta'"),
    case("labels too few", lambda: run(None, labels={"alpha": HALVES, "beta": [0, 1]}),
         DataError, r"labels of study 'beta' must have one label .* 12; got 2"),
    case("labels missing", lambda: run(None, labels={"alpha": HALVES, "beta": [np.nan] * 12}),
         DataError, r"labels of study 'beta' .*12 missing labels"),
    case(
        "labels and Simulate",
        lambda: run(None, labels={"alpha": HALVES, "beta": HALVES}, resampling=cr.Simulate(lambda study, rng: study.X)),
        ParameterError,
        r"labels can't be used with Simulate",
    ),
]
# fmt: on

# fmt: off
RESAMPLING = [
    case("Subsample of nothing", lambda: cr.Subsample(0),
         ParameterError, r"fraction must be a number above 0 and at most 1, got 0\.$"),
    case("Subsample of more", lambda: cr.Subsample(1.5), ParameterError, r"fraction must be .* got 1\.5"),
    case("Subsample of a count", lambda: cr.Subsample(80), ParameterError, r"fraction must be .* got 80"),
    case("Subsample text", lambda: cr.Subsample("0.8"), ParameterError, r"fraction must be .* got '0\.8'"),
    case("Subsample NaN", lambda: cr.Subsample(np.nan), ParameterError, r"fraction must be .* got nan"),
    case("Subsample True", lambda: cr.Subsample(True), ParameterError, r"fraction must be .* got True"),
    case("Simulate None", lambda: cr.Simulate(None),
         ParameterError, r"sampler must be a function of \(study, rng\), got None"),
    case("Simulate a number", lambda: cr.Simulate(0.8),
         ParameterError, r"sampler must be a function of \(study, rng\), got 0\.8"),
    case("sampler of other features", lambda: run(resampling=cr.Simulate(lambda study, rng: X[:, :2])),
         DataError, r"sampler must return the 3 features of study 'alpha', got 2"),
    case("sampler of holes", lambda: run(resampling=cr.Simulate(lambda study, rng: HOLES)),
         DataError, r"sampler returned for study 'alpha' has 3 missing values"),
    case("sampler of nothing", lambda: run(resampling=cr.Simulate(lambda study, rng: None)),
         DataError, r"sampler returned for study 'alpha' must be a table.* None"),
    case("sampler of one point", lambda: run(resampling=cr.Simulate(lambda study, rng: X[0])),
         DataError, r"sampler returned for study 'alpha' is one-dimensional"),
    case("sampler of ragged rows", lambda: run(resampling=cr.Simulate(lambda study, rng: RAGGED)),
         DataError, r"sampler returned for study 'alpha' has rows of different lengths"),
    case("sampler of text", lambda: run(resampling=cr.Simulate(lambda study, rng: [list("uvw")] * 4)),
         DataError, r"sampler returned for study 'alpha' has 3 columns that are not numeric.*Leave them out"),
]
# fmt: on

# fmt: off
COMPARE = [
    case("class", lambda: run_compare(KMeans), ParameterError, r"not a class: write KMeans\(\)"),
    case("None", lambda: run_compare(None), ParameterError, r"must have fit_predict.*got None"),
    case("text", lambda: run_compare("kmeans"), ParameterError, r"must have fit_predict.*'kmeans'"),
    case("empty list", lambda: run_compare([]), ParameterError, r"clusterers is empty: pass at least one"),
    case("empty mapping", lambda: run_compare({}), ParameterError, r"clusterers is empty"),
    case("one that can't", lambda: run_compare({"fine": K_MEANS, "odd": "ward"}),
         ParameterError, r"must have fit_predict.*got 'ward'"),
    case("same class", lambda: run_compare([KMeans(2), KMeans(3)]),
         ParameterError, r"same class need names: pass a mapping such as \{'first': KMeans\(\.\.\.\)"),
    case("two functions", lambda: run_compare([lambda X: HALVES, lambda X: HALVES]),
         ParameterError, r"need names: pass a mapping"),
    case("blank name", lambda: run_compare({"": K_MEANS}),
         ParameterError, r"name of a clusterer must be a text that is not empty, got ''"),
    case("number as name", lambda: run_compare({2: K_MEANS}),
         ParameterError, r"name of a clusterer must be a text .* got 2"),
    case("k one", lambda: run_compare(n_clusters=1),
         ParameterError, r"n_clusters must be an integer of at least 2, got 1"),
    case("k from one", lambda: run_compare(n_clusters=range(1, 4)),
         ParameterError, r"n_clusters must be an integer of at least 2, got 1"),
    case("k text", lambda: run_compare(n_clusters="3"),
         ParameterError, r"n_clusters must be an integer or several, such as range\(2, 9\); got '3'"),
    case("k fraction", lambda: run_compare(n_clusters=2.5),
         ParameterError, r"n_clusters must be an integer or several.* got 2\.5"),
    case("k fractions", lambda: run_compare(n_clusters=[2, 3.0]),
         ParameterError, r"n_clusters must be an integer .* got 3\.0"),
    case("k none", lambda: run_compare(n_clusters=range(5, 2)),
         ParameterError, r"n_clusters must hold at least one number.* got range\(5, 2\)"),
    case("k twice", lambda: run_compare(n_clusters=[2, 3, 2]),
         ParameterError, r"n_clusters must hold every number once, got \[2, 3, 2\]"),
    case("k True", lambda: run_compare(n_clusters=True), ParameterError, r"n_clusters must be an integer .* got True"),
    case("k too many", lambda: run_compare(n_clusters=50),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("one study", lambda: run_compare(given=[X]), ParameterError, r"studies must hold at least two studies, got 1"),
    case("agreement", lambda: run_compare(agreement=("ari", "nmi")),
         ParameterError, r"agreement must be one of .* got 'nmi'\. Did you mean"),
    case("n_resamples", lambda: run_compare(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("diagonal", lambda: run_compare(diagonal=None), ParameterError, r"diagonal must be True or False, got None"),
    case("noise", lambda: run_compare(noise=-1), ParameterError, r"noise must be one of .* got -1"),
    case("resampling", lambda: run_compare(resampling=0.8), ParameterError, r"resampling must be .* got 0\.8"),
    case("rng", lambda: run_compare(rng=[1, 2]), ParameterError, r"rng must be .* got \[1, 2\]"),
    case("n_jobs", lambda: run_compare(n_jobs=0), ParameterError, r"n_jobs must be .* got 0"),
]
# fmt: on

# fmt: off
LOCAL = [
    case("train None", lambda: run_local(train=None), ClustrepError, r"'?train'? must be .*None"),
    case("train a name", lambda: run_local(train="alpha"), ClustrepError, r"'?train'? must be .*'alpha'"),
    case("train studies", lambda: run_local(train=studies()), ClustrepError, r"'?train'? must be one (study|table)"),
    case("test a name", lambda: run_local(test="beta"), ClustrepError, r"'?test'? must be .*'beta'"),
    case("test a mapping", lambda: run_local(test={"beta": G}),
         ParameterError, r"test must be a Study, one table or Studies: for several tables pass Studies"),
    case("test a list", lambda: run_local(test=[F, G]), ParameterError, r"test must be a Study, one table or Studies"),
    case("test empty", lambda: run_local(test=[]), ClustrepError, r"'?test'? .*(empty|no samples|0 samples)"),
    case("test only the training study", lambda: run_local(test=cr.Studies({"alpha": F})),
         ParameterError, r"test must hold a study other than the training study: add it"),
    case("two studies of the same name", lambda: run_local(test=cr.Study(G, "alpha")),
         ParameterError, r"different studies with the same name 'alpha': rename one"),
    case("train named test", lambda: run_local(train=cr.Study(F, "test"), test=G),
         ParameterError, r"train is named 'test'.*rename it"),
    case("test named train", lambda: run_local(train=X, test=cr.Study(Y, "train")), ParameterError, r"'train'.*rename"),
    case("a test study named train", lambda: run_local(train=X, test=cr.Studies({"train": Y, "other": X + 1})),
         ParameterError, r"'train'.*rename"),
    case("no common feature", lambda: run_local(test=cr.Study(G.rename(columns=str.upper), "beta")),
         DataError, r"no feature in common"),
    case("numbers of features", lambda: run_local(train=X, test=Y[:, :2]),
         DataError, r"different numbers of features \(train 3, test 2\)"),
    case("at other features", lambda: run_local(at=X[:, :2]),
         DataError, r"at must have the 3 features of the studies, got 2"),
    case("at one point", lambda: run_local(at=X[0]), DataError, r"'?at'? is one-dimensional|at must be a table"),
    case("at missing", lambda: run_local(at=[[1.0, np.nan, 2.0]]),
         DataError, r"'?at'? has 1 missing value .* feature 'b'"),
    case("at masked", lambda: run_local(at=MASKED), DataError, r"'?at'? has 3 (missing|masked) values"),
    case("at ragged", lambda: run_local(at=RAGGED), DataError, r"'?at'?.*(same|length|row|ragged)"),
    case("at nothing", lambda: run_local(at=X[:0]),
         DataError, r"'?at'? has 0 samples: at least 1 is needed|'?at'? .*(empty|no points)"),
    case("at a name", lambda: run_local(at="beta"), ClustrepError, r"'?at'? must be .*'beta'"),
    case("at studies", lambda: run_local(at=studies()),
         ParameterError, r"at must be one study or one table of points, got Studies"),
    case("at lacks features", lambda: run_local(at=F[["a"]]), DataError, r"at lacks 2 features of the studies: b, c"),
    case("at a study that lacks features", lambda: run_local(at=cr.Study(F[["a", "b"]], "q")),
         ClustrepError, r"(at|'q').*c"),
    case("at text", lambda: run_local(at=F.assign(b="u")), DataError, r"'?at'? .*not num.*'u'"),
    case("several agreements", lambda: run_local(agreement=("ari", "ami")),
         ParameterError, r"agreement must be one of .* got \('ari', 'ami'\)"),
    case("agreement", lambda: run_local(agreement="amii"),
         ParameterError, r"agreement must be one of .* got 'amii'\. Did you mean 'ami'"),
    case("agreement NaN", lambda: run_local(agreement=lambda u, v: np.nan), AllReplicatesFailed, r"not a number"),
    case("agreement text", lambda: run_local(agreement=lambda u, v: "x"), ClustrepError, r"agreement.*number.*'x'"),
    case("clusterer", lambda: run_local(KMeans), ParameterError, r"not a class: write KMeans\(\)"),
    case("clusterer None", lambda: run_local(None),
         ParameterError, r"clusterer is None: pass a clusterer, or known labels"),
    case("clusterer fails", lambda: run_local(lambda X: 1 / 0),
         AllReplicatesFailed, r"failed on study 'alpha' as it is.*division by zero"),
    case("too many clusters", lambda: run_local(KMeans(99, n_init=1)),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("labels missing", lambda: run_local(None, labels={"alpha": HALVES}),
         DataError, r"labels are missing for 'beta'"),
    case("labels and clusterer", lambda: run_local(labels={"alpha": HALVES, "beta": HALVES}),
         ParameterError, r"either a clusterer or labels"),
    case("n_resamples", lambda: run_local(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("noise", lambda: run_local(noise="keep"), ParameterError, r"noise must be one of .* got 'keep'"),
    case("resampling", lambda: run_local(resampling=3), ParameterError, r"resampling must be .* got 3"),
    case("rng", lambda: run_local(rng="x"), ParameterError, r"rng must be .* got 'x'"),
    case("n_jobs", lambda: run_local(n_jobs=0), ParameterError, r"n_jobs must be .* got 0"),
    case("progress", lambda: configured(run_local, progress="yes")(),
         ParameterError, r"progress must be True, False or 'auto', got 'yes'"),
]
# fmt: on

# fmt: off
INDUCED = [
    case("None", lambda: run(cr.Induced(None)), ParameterError, r"fit_predict.*None"),
    case("class", lambda: run(cr.Induced(KMeans)), ParameterError, r"not a class: write KMeans\(\)"),
    case("text", lambda: run(cr.Induced("kmeans")), ParameterError, r"fit_predict.*'kmeans'"),
    case("scaler", lambda: run(cr.Induced(StandardScaler())), ParameterError, r"fit_predict.*StandardScaler"),
    case("distances", lambda: run(cr.Induced(AgglomerativeClustering(2, metric="precomputed", linkage="average"))),
         ParameterError, r"metric='precomputed', but is given points"),
    case("metric", lambda: run(cr.Induced(K_MEANS, metric="nearest")), ClustrepError, r"[Mm]etric.*nearest"),
    case("metric number", lambda: run(cr.Induced(K_MEANS, metric=3)), ClustrepError, r"metric"),
    case("classifier", lambda: run(cr.Induced(K_MEANS, classifier="knn")), ParameterError, r"classifier must .*'knn'"),
    case("classifier class", lambda: run(cr.Induced(K_MEANS, classifier=KMeans)),
         ParameterError, r"classifier must .*KMeans"),
]
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# results


LEVEL = r"confidence_level must be a number strictly between 0 and 1, got "

# fmt: off
RESULTS = [
    case("level in per cent", lambda: result().confidence_interval(95), ParameterError, LEVEL + "95"),
    case("level one", lambda: result().confidence_interval(1), ParameterError, LEVEL + "1"),
    case("level zero", lambda: result().confidence_interval(0.0), ParameterError, LEVEL + r"0\.0"),
    case("level text", lambda: result().confidence_interval("0.95"), ParameterError, LEVEL + r"'0\.95'"),
    case("level None", lambda: result().confidence_interval(None), ParameterError, LEVEL + "None"),
    case("level NaN", lambda: result().confidence_interval(np.nan), ParameterError, LEVEL + "nan"),
    case("level of a frame", lambda: result().to_frame(2), ParameterError, LEVEL + "2"),
    case("level of a study", lambda: result().for_training_on("alpha").confidence_interval(-1),
         ParameterError, LEVEL + "-1"),
    case("level of a comparison", lambda: comparison().to_frame(90), ParameterError, LEVEL + "90"),
    case("level of a summary", lambda: comparison().summary(90), ParameterError, LEVEL + "90"),
    case("level of points", lambda: local().confidence_interval(True), ParameterError, LEVEL + "True"),
    case("level of a frame of points", lambda: local().to_frame("x"), ParameterError, LEVEL + "'x'"),
    case("level of clusters", lambda: local().by_cluster(95), ParameterError, LEVEL + "95"),
    case("quantile", lambda: result().quantile(2), ParameterError, r"q must .* 2"),
    case("quantiles", lambda: result().quantile([0.5, -1]), ParameterError, r"q must .* -1"),
    case("quantile text", lambda: result().quantile("half"), ParameterError, r"q must .* 'half'"),
    case("quantile None", lambda: result().quantile(None), ParameterError, r"q must .* None"),
    case("quantile of points", lambda: local().quantile(50), ParameterError, r"q must .* 50"),
    case("training study", lambda: result().for_training_on("alpa"),
         ParameterError, r"no study 'alpa'; there are alpha, beta\. Did you mean 'alpha'\?"),
    case("training study by number", lambda: result().for_training_on(0),
         ParameterError, r"no study 0; there are alpha, beta"),
    case("function of a stranger", lambda: result().clustering_function("gamma"),
         ParameterError, r"no study 'gamma'; there are alpha, beta"),
    case("function of a resample beyond", lambda: result().clustering_function("alpha", 2),
         ParameterError, r"resample must be below 2, got 2"),
    case("function of a negative resample", lambda: result().clustering_function("alpha", -1),
         ParameterError, r"resample must be an integer of at least 0, got -1"),
    case("function of a resample in words", lambda: result().clustering_function("alpha", "full"),
         ParameterError, r"resample must be an integer .* got 'full'"),
    case("points of other features", lambda: result().clustering_function("alpha")(X[:, :2]),
         DataError, r"[Pp]oints must be a table with 3 features, got an array of \(12, 2\)"),
    case("one point", lambda: result().clustering_function("alpha")(X[0]),
         DataError, r"[Pp]oints must be a table with 3 features, got an array of \(3,\)"),
    case("points missing", lambda: result().clustering_function("alpha")([[0.0, np.nan, 0.0]]),
         DataError, r"[Pp]oints.*missing"),
    case("points text", lambda: result().clustering_function("alpha")([["u", "v", "w"]]),
         DataError, r"table of points has 3 columns that are not numeric"),
    case("points ragged", lambda: result().clustering_function("alpha")(RAGGED),
         DataError, r"table of points has rows of different lengths: every sample needs a value of every feature"),
    case("no points", lambda: result().clustering_function("alpha")(X[:0]), DataError, r"[Pp]oints"),
    case("points of a study", lambda: result().clustering_function("alpha")(studies()["beta"]),
         DataError, r"[Pp]oints.*\.X"),
    case("points None", lambda: result().clustering_function("alpha")(None),
         DataError, r"[Pp]oints must be a table with 3 features.*None"),
    case("clusterer unknown", lambda: comparison().replicability("kmeans", 2),
         ParameterError, r"no clusterer 'kmeans'; there are k-means, density\. Did you mean 'k-means'\?"),
    case("k not given", lambda: comparison().replicability("k-means"),
         ParameterError, r"n_clusters must be given: 'k-means' was run with \[2, 3\]"),
    case("k not run", lambda: comparison().replicability("k-means", 7), ParameterError, r"'k-means'.* 7.* 2, 3"),
    case("k in words", lambda: comparison().replicability("k-means", "2"), ParameterError, r"'k-means'.*'2'.* 2, 3\.$"),
    case("k of a clusterer without", lambda: comparison().replicability("density", 2), ParameterError, r"'density'"),
    case("agreement not run", lambda: comparison().replicability("k-means", 2, "ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("best by what was not run", lambda: comparison().best("ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("plot by what was not run", lambda: comparison().plot(agreement="ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("nothing can be best", lambda: run_compare(DBSCAN(eps=1e3)).best(),
         NoBest, r"No configuration can be best: in each, more than 5 % .* See summary\(\)"),
    case("point beyond", lambda: local().co_clustering(12), ParameterError, r"point must be below 12, got 12"),
    case("point negative", lambda: local().co_clustering(-1),
         ParameterError, r"point must be an integer of at least 0, got -1"),
    case("point by name", lambda: local().co_clustering("s1"), ParameterError, r"point must be an integer .* got 's1'"),
    case("plot other points", lambda: local().plot(points=X[:3]),
         DataError, r"points must have 12 rows, got an array of \(3, 3\)"),
    case("plot no coordinates", lambda: local().plot(points=X[:, :0]), ClustrepError, r"points must"),
    case("plot words", lambda: local().plot(points=[["u", "v"]] * 12), ClustrepError, r"points must .*number"),
    case("plot on no axes", lambda: result().plot(ax="here"), ClustrepError, r"ax must be .*Axes"),
    case("plot curves on no axes", lambda: comparison().plot(ax=np.empty(2, object)),
         ClustrepError, r"ax must be .*Axes"),
    case("plot points on no axes", lambda: local().plot(ax=3), ClustrepError, r"ax must be .*Axes"),
]
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# labelings, and simulated cohorts


def labelings(function):
    name = function.__name__
    # fmt: off
    return [
        case(f"{name}: lengths", lambda: function([0, 1], [0, 1, 1]),
             DataError, r"v must have one label for every point of u: 2; got 3"),
        case(f"{name}: empty", lambda: function([], []), DataError, r"u is empty: there must be at least one point"),
        case(f"{name}: text", lambda: function("aab", "abb"),
             DataError, r"u must be a sequence of labels, .* got 'aab'"),
        case(f"{name}: None", lambda: function([0], None), DataError, r"v must be a sequence of labels, .* got None"),
        case(f"{name}: table", lambda: function([[0, 1]], [0]), DataError, r"u must be one-dimensional, .* \(1, 2\)"),
        case(f"{name}: ragged", lambda: function([[0], [1, 2]], [0, 1]), DataError, r"u must be one-dimensional"),
        case(f"{name}: missing", lambda: function([0, np.nan], [0, 1]),
             DataError, r"u has 1 missing label, the first at position 2"),
        case(f"{name}: fractions", lambda: function([0, 1.5], [0, 1]),
             DataError, r"u must hold whole numbers or text, got 1\.5"),
        case(f"{name}: infinite", lambda: function([0, 1], [0, np.inf]), DataError, r"v must .*inf"),
        case(f"{name}: set", lambda: function({0, 1}, [0, 1]), DataError, r"u must be (a sequence|one-dimensional)"),
        case(f"{name}: weights too few", lambda: function([0, 1], [0, 1], weights=[1]),
             DataError, r"weights must have one number for every point: 2; got an array of \(1,\)"),
        case(f"{name}: weights negative", lambda: function([0, 1], [0, 1], weights=[1, -2]),
             DataError, r"weights must be whole numbers.*-2"),
        case(f"{name}: weights fractions", lambda: function([0, 1], [0, 1], weights=[1, 0.5]),
             DataError, r"weights must be whole numbers, got 0\.5"),
        case(f"{name}: weights missing", lambda: function([0, 1], [0, 1], weights=[1, np.nan]),
             DataError, r"weights must be whole numbers.*nan"),
        case(f"{name}: weights zero", lambda: function([0, 1], [0, 1], weights=[0, 0]),
             DataError, r"weights are all zero: at least one point must count"),
        case(f"{name}: weights text", lambda: function([0, 1], [0, 1], weights=["a", "b"]),
             DataError, r"weights must be whole numbers"),
        case(f"{name}: weights huge", lambda: function([0, 1], [0, 1], weights=[1e300, 1]),
             DataError, r"weights must .*1e\+300"),
        case(f"{name}: one weight", lambda: function([0, 1], [0, 1], weights=2),
             DataError, r"weights must have one number for every point: 2"),
        case(f"{name}: weights ragged", lambda: function([0, 1], [0, 1], weights=[[1], [1, 2]]),
             DataError, r"weights must have one number for every point: 2"),
    ]
    # fmt: on


# fmt: off
AGREEMENT = [
    *labelings(cr.contingency_table),
    *labelings(cr.adjusted_rand_index),
    case("rand_index: lengths", lambda: cr.rand_index([0], [0, 1]), DataError, r"v must have one label .* u: 1; got 2"),
    case("mutual_information: lengths", lambda: cr.mutual_information([0], [0, 1]),
         DataError, r"v must have one label"),
    case("ami: lengths", lambda: cr.adjusted_mutual_information([0], [0, 1]), DataError, r"v must have one label"),
    case("ami: average", lambda: cr.adjusted_mutual_information([0], [0], average="mean"),
         ParameterError, r"average must be one of 'arithmetic', 'max'; got 'mean'"),
]
# fmt: on


def simulated(**options):
    return cr.datasets.simulate_cohorts(**{"n_samples": 4, "rng": 0, **options})


# fmt: off
DATASETS = [
    case("no cohorts", lambda: simulated(n_cohorts=0), ParameterError, r"n_cohorts must be a positive integer, got 0"),
    case("too many cohorts", lambda: simulated(n_cohorts=11), ParameterError, r"n_cohorts must be at most 10, got 11"),
    case("cohorts in words", lambda: simulated(n_cohorts="two"), ParameterError, r"n_cohorts must be .* got 'two'"),
    case("one subtype", lambda: simulated(n_subtypes=1),
         ParameterError, r"n_subtypes must be an integer of at least 2, got 1"),
    case("too many subtypes", lambda: simulated(n_subtypes=9, n_features=20),
         ParameterError, r"n_subtypes must be at most 8, got 9"),
    case("one sample", lambda: simulated(n_samples=1),
         ParameterError, r"n_samples must be an integer of at least 2, got 1"),
    case("too few features", lambda: simulated(n_features=3),
         ParameterError, r"n_features must be an integer of at least 4.*, got 3"),
    case("separation in words", lambda: simulated(separation="far"), ParameterError, r"separation must .*'far'"),
    case("separation None", lambda: simulated(separation=None), ParameterError, r"separation must .*None"),
    case("separation NaN", lambda: simulated(separation=np.nan), ParameterError, r"separation must .*nan"),
    case("separation infinite", lambda: simulated(separation=np.inf), ParameterError, r"separation must .*inf"),
    case("separation negative", lambda: simulated(separation=-1.0), ParameterError, r"separation must .*-1"),
    case("missing in a stranger", lambda: simulated(missing={"aplha": "A"}),
         ParameterError, r"no cohort 'aplha'; there are alpha, .* Did you mean 'alpha'"),
    case("missing a stranger", lambda: simulated(missing={"alpha": "Z"}),
         ParameterError, r"no subtype 'Z'; there are A, B, C, D"),
    case("missing a list", lambda: simulated(missing=["alpha"]), ParameterError, r"missing must (be a mapping|map) "),
    case("missing a name", lambda: simulated(missing="alpha"),
         ParameterError, r"missing must (be a mapping|map) .*'alpha'"),
    case("shifted a stranger", lambda: simulated(shifted={"omega": 1.0}),
         ParameterError, r"no cohort 'omega'; there are alpha"),
    case("shifted in words", lambda: simulated(shifted={"alpha": "up"}), ParameterError, r"shifted.*'up'"),
    case("shifted NaN", lambda: simulated(shifted={"alpha": np.nan}), ParameterError, r"shifted.*nan"),
    case("shifted a list", lambda: simulated(shifted=["alpha"]), ParameterError, r"shifted must (be a mapping|map) "),
    case("shifted a number", lambda: simulated(shifted=3), ParameterError, r"shifted must (be a mapping|map) "),
    case("rng", lambda: simulated(rng="seed"), ParameterError, r"rng must be .* got 'seed'"),
]
# fmt: on


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


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings(EVERYWHERE))
def test_bad_input_gets_its_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call()
    check_sentence(str(caught.value))


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

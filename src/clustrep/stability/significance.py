"""Section 2.4: is there more than one cluster at all? The test of McShane et al. (2002)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_flag, check_integer
from clustrep.data.study import Study, check_complete
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.execution.forecast import Cost
from clustrep.execution.run import Plan, run
from clustrep.execution.seeds import Rng, Stream, make_generator, one_thread, root_entropy, seed_of
from clustrep.fitting.neighbours import by_tree, nearest_distances
from clustrep.fitting.parameters import describe
from clustrep.fitting.resample import provenance_of_data
from clustrep.null.gaussian import GaussianModel, NullModel
from clustrep.null.models import Sampler, draw_given
from clustrep.resampling.gaussian import covariance_factor, principal_axes
from clustrep.stability.reclustering import one_study
from clustrep.stability.results import ClusterTest
from clustrep.statistics import null_pvalue, thin_svd
from clustrep.text import argument, option
from clustrep.types import FloatArray

OBSERVED = 0  # the number of the study itself
# Seconds, roughly: to draw a data set, to find a sample's nearest neighbour in a tree, and to compare two numbers.
DRAW_SECONDS, POINT_SECONDS, NUMBER_SECONDS = 2e-4, 8e-7, 1e-9


def cluster_test(
    X: Any,
    *,
    null: str | Sampler = "gaussian",
    n_resamples: int = 999,
    whiten: bool = False,
    n_components: int | None = None,
    squared: bool = True,
    rng: Rng = None,
    n_jobs: int | None = None,
) -> ClusterTest:
    """Test whether distances to the nearest neighbour are those of a null model (section 2.4).

    With the distribution functions G_0 of the nearest-neighbour distances of the data, and G_1, …, G_B of those of B
    simulated data sets, the statistic of data set b, and the p-value::

        T_b = ∫ {G_b(y) − (1/B) Σ_{b′≠b} G_b′(y)}² dy
        p = (1 + #{b ≥ 1 : T_b ≥ T_0}) / (1 + B)

    The integral is a sum over all distances, exact, without a grid.

    Parameters
    ----------
    X : Study or array-like of shape (n_samples, n_features)
        The study.
    null : "gaussian", "sample" or function of (study, rng), default="gaussian"
        The null model: by default a Gaussian with the mean of X and its covariance as far as it differs from sampling
        noise; "sample": with the sample covariance, as in the paper; a function returns a table of the
        same shape as that of the study it is given, X or its principal components.
    n_resamples : int, default=999
        Number of simulated null data sets.
    whiten : bool, default=False
        Whiten every data set, observed and simulated, by its own covariance: exact under any Gaussian. Without it, a
        covariance that was estimated makes the test conservative for few features, with hundreds of samples more so in
        five dimensions than in two. With the sample covariance of p features and fewer than about p²/2 samples the test
        rejects far too often: more than half of round Gaussians of 60 × 20. The default null does not.
    n_components : int, default=None
        Work on this number of principal components of X, as McShane et al. do. None: on the features.
    squared : bool, default=True
        Square the distances, as the paper does; its published p-values are of distances that are not squared.
    rng, n_jobs
        As in `replicability`.

    Returns
    -------
    ClusterTest
        `statistic`, `pvalue`, and `null_distribution` of shape (n_resamples,).

    See Also
    --------
    null_reference : Replicability scores beside their null distributions.
    stability : Which clusters are found again.

    Notes
    -----
    A test of the null model, by default of a Gaussian: a small p-value is evidence that distances are not those of a
    Gaussian, which skewness or heavy tails can cause without any clusters; a large one is no evidence that there are
    none. The test finds no clusters and no number of them. Nearest neighbours carry little information where features
    are many: McShane et al. work on the first three principal components.

    References
    ----------
    .. [1] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(m, 0.1, (50, 2)) for m in (0, 3)])
    >>> cluster_test(X, n_resamples=99, rng=0).pvalue
    0.01
    """
    study = one_study(X)
    check_complete([study])
    if not callable(null):
        check_choice(null, "null", ("gaussian", "sample"), or_else="a function of (study, rng)")
    data = study.X.astype(float)
    if n_components is not None:
        most = min(data.shape[1], len(data) - 1)
        if check_integer(n_components, "n_components") > most:
            raise ParameterError(f"n_components must be at most {most}, got {n_components}.", parameter="n_components")
        with one_thread():
            data = (data - data.mean(axis=0)) @ principal_axes(data)[:n_components].T
    n_samples, p = data.shape
    # A sample covariance has p (p + 1) / 2 free numbers; from about as many samples on, the test keeps its level.
    if not check_flag(whiten, "whiten") and null == "sample" and 2 * n_samples <= p**2:
        warn(
            f"Study {study.name!r} has {p:,} features and {n_samples:,} samples: with the sample covariance of so few "
            f"samples the test can reject too often. Use {argument('null', 'gaussian')} or {argument('whiten', True)}.",
            DataWarning,
        )
    n, root = check_integer(n_resamples, "n_resamples"), root_entropy(rng)
    squared = check_flag(squared, "squared")
    plan = TestPlan(Study(data, study.name, label=False), null, squared, whiten, root)
    measured = run(plan, range(OBSERVED, n + 1), n_jobs)
    values = np.stack(measured)  # (1 + n_resamples, n_samples)
    scores = cdf_distances(values)
    # Equal up to rounding counts as an exceedance.
    exceeding = np.count_nonzero(scores[1:] >= scores[0] - 1e-12 * abs(scores[0]))
    return ClusterTest(
        statistic=float(scores[0]),
        pvalue=float(null_pvalue(exceeding, n)),
        null_distribution=scores[1:],
        values=values[0],
        null_mean_values=np.sort(values[1:], axis=1).mean(axis=0),
        provenance=provenance_of_data(
            root,
            [study],
            null=describe(null),
            whiten=whiten,
            n_components=n_components,
            squared=squared,
            n_resamples=n,
        ),
    )


@dataclass(frozen=True, eq=False)
class TestPlan(Plan[FloatArray]):
    """Everything that a data set's values follow from, except its number."""

    __test__ = False  # not for pytest

    study: Study
    null: str | Sampler
    squared: bool
    whiten: bool
    root: int

    @cached_property
    def simulated(self) -> NullModel:
        """The null model; after whitening, any covariance gives the same Gaussian."""
        if callable(self.null):
            return partial(draw_given, (self.study,), self.null)
        if self.whiten or self.null == "sample":
            return partial(draw_like, self.study.X.mean(axis=0), covariance_factor(self.study.X), len(self.study))
        with one_thread():
            return GaussianModel.of([self.study.X]).draw

    description = "cluster test"

    @property
    def in_threads(self) -> bool:
        """Whether null data are simulated here, not by a user's function."""
        return not callable(self.null)

    @property
    def cost(self) -> Cost:
        """Roughly how long a data set takes, whose samples are searched in a tree or compared with each other."""
        if not self.in_threads:
            return super().cost
        n, p = self.study.X.shape
        kernels = n * (POINT_SECONDS if by_tree("euclidean", p) else n * p * NUMBER_SECONDS)
        return Cost(kernels, DRAW_SECONDS, n_bytes=8 * n)

    @property
    def compiles(self) -> bool:
        """Nothing is compiled here."""
        return False

    def replicate(self, number: int) -> FloatArray:
        """Measure the study, or a simulated null data set."""
        X = self.study.X
        if number != OBSERVED:
            (drawn,) = self.simulated(make_generator(seed_of(self.root, Stream.NULL, self.study.name, number)))
            X = drawn.astype(float, copy=False)
        distances = nearest_distances(whitened(X) if self.whiten else X)
        return distances**2 if self.squared else distances


def draw_like(mean: FloatArray, factor: FloatArray, n: int, rng: np.random.Generator) -> list[FloatArray]:
    """Draw n samples of a Gaussian with this mean, and a factor of its covariance: see `covariance_factor`."""
    return [np.asarray(mean + rng.standard_normal((n, len(factor))) @ factor)]


def whitened(X: FloatArray) -> FloatArray:
    """Return the data with mean 0 and unit covariance, up to a rotation, which changes no distance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data, with at least two more samples than features.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    n, p = X.shape
    u, s, _ = thin_svd(X - X.mean(axis=0))
    # With p + 1 samples all distances would be the same.
    if n < p + 2 or s[-1] <= s[0] * max(n, p) * np.finfo(float).eps:
        raise DataError(
            f"{option('whiten')} needs data whose {p} features vary independently, in at least {p + 2} samples; here "
            f"are {n:,}. Choose fewer features (on the command line --features FILE)."
        )
    return np.asarray(u * np.sqrt(n - 1))


def cdf_distances(values: FloatArray) -> FloatArray:
    """Return for every row ∫ {G_b(y) − (1/B) Σ_{b′≠b} G_b′(y)}² dy, with G the rows' distribution functions.

    The average of all others differs from G_b by (B + 1)/B times what the average Ḡ of all rows does.
    """
    n_rows, n = values.shape
    ascending = np.sort(values, axis=None)
    # Between two neighbours of all values the average is i / size. Between two of a row's own, G_b is constant: the
    # integral there is a quadratic in it, with coefficients that are differences of cumulative sums.
    widths, heights = np.diff(ascending), np.arange(1, values.size) / values.size
    places = np.pad(np.searchsorted(ascending, np.sort(values, axis=1)), ((0, 0), (1, 1)))
    places[:, -1] = values.size - 1
    moments = (widths, widths * heights, widths * (heights * heights))
    zeroth, first, second = (np.diff(np.cumsum(np.append(0.0, moment))[places]) for moment in moments)
    steps = np.arange(n + 1) / n
    integrals = second - 2.0 * steps * first + steps * steps * zeroth
    return np.asarray(np.maximum(0.0, integrals.sum(axis=1)) * (n_rows / (n_rows - 1)) ** 2)

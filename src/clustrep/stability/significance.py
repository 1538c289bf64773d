"""Section 2.4: is there more than one cluster at all? The test of McShane et al. (2002)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_flag, check_integer, check_points
from clustrep.data.study import check_complete
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.execution.engines import EngineLike
from clustrep.execution.forecast import Cost
from clustrep.execution.run import Plan, on_engine, run
from clustrep.execution.seeds import Rng, Stream, make_generator, one_thread, root_entropy, seed_of
from clustrep.fitting.neighbours import by_tree, nearest_distances
from clustrep.fitting.parameters import describe
from clustrep.fitting.resample import provenance_of_data
from clustrep.kernels.reductions import integrate_steps
from clustrep.null.gaussian import GaussianModel
from clustrep.resampling.gaussian import GaussianNull, principal_axes
from clustrep.stability.reclustering import one_study
from clustrep.stability.results import ClusterTest
from clustrep.statistics import null_pvalue
from clustrep.text import argument, option, wording
from clustrep.types import FloatArray

Sampler: TypeAlias = Callable[[FloatArray, np.random.Generator], ArrayLike]

Measure: TypeAlias = Callable[[FloatArray], ArrayLike]

Statistic: TypeAlias = Callable[[FloatArray], ArrayLike]  # of all values, (1 + n_resamples, n_values)

OBSERVED = 0  # the replicate that is the data themselves
# Seconds, roughly: to draw a data set, to find a point's nearest neighbour in a tree, and to compare two numbers.
DRAW_SECONDS, POINT_SECONDS, NUMBER_SECONDS = 2e-4, 8e-7, 1e-9


@on_engine
def cluster_test(
    X: Any,
    *,
    null: str | Sampler = "gaussian",
    n_resamples: int = 999,
    whiten: bool = False,
    n_components: int | None = None,
    squared: bool = True,
    measure: str | Measure = "nearest",
    statistic: str | Statistic = "cdf",
    rng: Rng = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> ClusterTest:
    """Test whether distances to the nearest neighbour are those of data without clusters (section 2.4).

    With the distribution functions G_0 of the nearest-neighbour distances of the data, and G_1, …, G_B of those of B
    simulated data sets, the statistic of data set b, and the p-value::

        T_b = ∫ {G_b(y) − (1/B) Σ_{b′≠b} G_b′(y)}² dy
        p = (1 + #{b ≥ 1 : T_b ≥ T_0}) / (1 + B)

    The integral is a sum over all distances, exact, without a grid.

    Parameters
    ----------
    X : Study or table
        Samples by features.
    null : "gaussian", "sample" or function of (X, rng)
        Data without clusters: by default Gaussian with the mean of X and its covariance as far as it differs from
        sampling noise; "sample": with the sample covariance, as in the paper; a function returns a table like the
        one that it is given, X or its principal components.
    n_resamples : int
        Number of simulated data sets.
    whiten : bool
        Whiten every data set, observed and simulated, by its own covariance: exact under any Gaussian. Without it, a
        covariance that was estimated makes the test conservative for few features, with hundreds of samples more so in
        five dimensions than in two. With the sample covariance of p features and fewer than about p²/2 samples the test
        rejects far too often: more than half of round Gaussians of 60 × 20. The default null does not.
    n_components : int, optional
        Work on so many principal components of X, as McShane et al. do.
    squared : bool
        Square the distances, as the paper does.
    measure : "nearest" or function of a table
        Other values to compare than the nearest-neighbour distances: any number of them, the same for every data set.
    statistic : "cdf" or function of an array, (1 + n_resamples, n_values)
        Another statistic: one number for every row of values, the observed ones first; large where the null does not
        hold.
    rng, n_jobs, engine
        As in `replicability`.

    Returns
    -------
    ClusterTest
        `statistic`, `pvalue`, `null_distribution`.

    See Also
    --------
    null_reference : Data without clusters as the reference of a replicability score.
    stability : Which clusters are found again.

    Notes
    -----
    A test of the null, by default of a Gaussian: a small p-value says that distances are not those of a Gaussian, which
    skewness or heavy tails can cause without any clusters; a large one does not say that there are none. It
    names no clusters and no number of them. Nearest neighbours carry little information where features are many:
    McShane et al. work on the first three principal components.

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
        check_choice(null, "null", ("gaussian", "sample"), or_else="a function of (X, rng)")
    if not callable(measure):
        check_choice(measure, "measure", ("nearest",), or_else="a function of a table")
    if not callable(statistic):
        check_choice(statistic, "statistic", ("cdf",), or_else="a function of all values")
    data = study.X.astype(float)
    if n_components is not None:
        with one_thread():
            data = _principal_components(data, check_integer(n_components, "n_components"))
    check_flag(squared, "squared")
    if not check_flag(whiten, "whiten") and not callable(null) and null == "sample":
        _warn_of_many_features("X" if study.name == "X" else f"Study {study.name!r}", *data.shape)
    root = root_entropy(rng)
    plan = TestPlan(data, null, measure, squared, whiten, root, study.name)
    n = check_integer(n_resamples, "n_resamples")
    replicates = run(plan, range(OBSERVED, n + 1), n_jobs)
    if len({len(values) for values in replicates}) > 1:
        raise DataError("measure must return as many values for every data set as for the observed one.")
    values = np.stack(replicates)
    scores = (
        cdf_distances(values) if not callable(statistic) else _checked_scores(statistic(values.copy()), len(values))
    )
    return ClusterTest(
        statistic=float(scores[0]),
        pvalue=float(null_pvalue(np.count_nonzero(scores[1:] >= scores[0] - 1e-12 * abs(scores[0])), n)),
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
            measure=describe(measure),
            statistic=describe(statistic),
            n_resamples=n,
        ),
    )


@dataclass(frozen=True, eq=False)
class TestPlan(Plan[FloatArray]):
    """Everything that a data set's values follow from, except its number."""

    __test__ = False  # not for pytest

    data: FloatArray
    null: str | Sampler
    measure: str | Measure
    squared: bool
    whiten: bool
    root: int
    study: str

    @cached_property
    def gaussian(self) -> GaussianNull | GaussianModel:
        """The Gaussian with the data's mean and covariance; after whitening, it does not matter which covariance."""
        if self.whiten or self.null == "sample":
            return GaussianNull(self.data)
        with one_thread():
            return GaussianModel.of([self.data])

    description = "cluster test"

    @property
    def in_threads(self) -> bool:
        """Whether data are drawn and measured here: neither is a user's function."""
        return not callable(self.null) and not callable(self.measure)

    @property
    def cost(self) -> Cost:
        """Roughly how long a data set takes, whose points are searched in a tree or compared with each other."""
        if not self.in_threads:
            return super().cost
        n, p = self.data.shape
        kernels = n * (POINT_SECONDS if by_tree("euclidean", p) else n * p * NUMBER_SECONDS)
        return Cost(kernels, DRAW_SECONDS, n_bytes=8 * n)

    @property
    def compiles(self) -> bool:
        """Nothing is compiled here."""
        return False

    def replicate(self, number: int) -> FloatArray:
        """Measure the observed data, or a data set drawn from the null."""
        X = self.data if number == OBSERVED else self._draw(number)
        if self.whiten:
            X = whitened(X)
        if callable(self.measure):
            return _checked_values(self.measure(X.copy()))
        distances = nearest_distances(X)
        return distances**2 if self.squared else distances

    def _draw(self, number: int) -> FloatArray:
        rng = make_generator(seed_of(self.root, Stream.NULL, self.study, number))
        if callable(self.null):
            X = check_points(self.null(self.data.copy(), rng), "What null returned", samples_at_least=2)
            if X.shape != self.data.shape:
                raise DataError(f"null must return a table like X, of {self.data.shape}, got {X.shape}.")
            return X.astype(float)
        drawn = self.gaussian.draw(rng)
        return drawn[0] if isinstance(drawn, list) else drawn


def whitened(X: FloatArray) -> FloatArray:
    """Return the data with mean 0 and unit covariance; the axes don't matter to distances."""
    n, p = X.shape
    u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    # With p + 1 samples all distances would be the same.
    if n < p + 2 or s[-1] <= s[0] * max(n, p) * np.finfo(float).eps:
        raise DataError(
            f"{option('whiten')} needs data whose {p} features vary independently, in at least {p + 2} samples; here "
            f"are {n:,}. "
            + wording(
                python="Pass n_components to work on a few principal components.",
                command_line=f"Choose fewer features with {option('features')}.",
            )
        )
    return np.asarray(u * np.sqrt(n - 1))


def cdf_distances(values: FloatArray) -> FloatArray:
    """Return for every row ∫ {G_b(y) − (1/B) Σ_{b′≠b} G_b′(y)}² dy, with G the rows' distribution functions.

    The average of all others differs from G_b by (B + 1)/B times what the average Ḡ of all rows does.
    """
    n_rows, n = values.shape
    integrals = np.empty((n_rows, n + 1))
    integrate_steps(values, np.argsort(values, axis=None), integrals)
    return np.asarray(np.maximum(0.0, integrals.sum(axis=1)) * (n_rows / (n_rows - 1)) ** 2)


def _principal_components(X: FloatArray, q: int) -> FloatArray:
    most = min(X.shape[1], len(X) - 1)
    if q > most:
        raise ParameterError(f"n_components must be at most {most}, got {q}.", parameter="n_components")
    return np.asarray((X - X.mean(axis=0)) @ principal_axes(X)[:q].T)


def _warn_of_many_features(subject: str, n: int, p: int) -> None:
    if 2 * n <= p**2:
        warn(
            f"{subject} has {p:,} features and {n:,} samples: with so few samples for the number of features, a "
            "Gaussian that is fitted to them can make the test reject too often. "
            + wording(
                python="cluster_test(whiten=True) is exact; cluster_test(n_components=...) works on a few principal "
                "components.",
                command_line=f"{argument('whiten', True)} is exact, where samples outnumber features.",
            ),
            DataWarning,
        )


def _checked_values(values: Any) -> FloatArray:
    array = _as_numbers(values)
    if array is None or array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise DataError(f"measure must return finite numbers in one dimension, got {values!r}.")
    return array


def _as_numbers(values: Any) -> FloatArray | None:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None


def _checked_scores(scores: Any, n: int) -> FloatArray:
    array = _as_numbers(scores)
    if array is None or array.shape != (n,) or np.isnan(array).any():
        raise DataError(f"statistic must return one number for each of the {n} data sets, got {scores!r}.")
    return array

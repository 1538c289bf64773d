"""Counts divided into two independent parts: count splitting, as one more way to draw a replicate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clustrep.checks import check_fraction, read_only
from clustrep.engine.replicates import Rng, make_generator
from clustrep.errors import DataError, ParameterError
from clustrep.resampling import LEFT_OUT, Draw, Perturbation, written
from clustrep.studies.counts import check_counts
from clustrep.studies.study import Study
from clustrep.text import plural
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from clustrep.studies.collection import Studies

RAW_COUNTS = (
    "take the raw counts, such as a layer of an h5ad file (rep='counts'), and normalise after thinning, with "
    "embed=TrainEmbedding(normalise='log1p')."
)
ESTIMATE = "estimate"


@dataclass(frozen=True)
class Thin(Perturbation):
    """Divide the counts of every sample and feature at random into two independent parts (count splitting).

    Of a count x, the training part has x₁ and the test part x − x₁. For Poisson counts x₁ is binomial with probability
    `eps`; for negative binomial counts with variance μ + αμ² it is beta-binomial, with parameters eps/α and
    (1 − eps)/α. Then both parts are independent, with means eps·μ and (1 − eps)·μ and otherwise the same distribution.

    Parameters
    ----------
    eps : float
        The share of the counts in the training part, between 0 and 1.
    overdispersion : float, sequence of float, or "estimate"
        α: 0 for Poisson counts, one number for all features, or one for each. "estimate" takes for every feature
        (variance − mean) / mean² over the study's samples, or 0 where that is negative.

    See Also
    --------
    Studies.split : Divides samples, not counts.

    Notes
    -----
    In functions of several studies a draw is the test part, and what is compared on the diagonal are the clusters of
    both parts of one division: do the same samples belong together by counts that are independent? Without clusters the
    expected ARI is 0 there. Clusters of two resamples of the same samples, by contrast, also agree about their noise
    (docs/single-cells.md has a simulation). For a single study, `Thin(...).split(X)` returns both parts as two studies.
    `stability` compares with the clusters of all counts, which contain both parts: there it gains no independence.
    Data without clusters (`null_reference`) are not counts, so they can't be thinned.

    Both parts are independent only if the counts have the distribution named. With an overdispersion that is too small
    they are positively correlated, too large negatively. Estimates include the variation between clusters: then α is
    too large for features that differ between them.

    References
    ----------
    .. [1] Neufeld, A., Gao, L. L., Popp, J., Battle, A. and Witten, D. (2024). Inference after latent variable
       estimation for single-cell RNA sequencing data. Biostatistics 25, 270-287.
    .. [2] Neufeld, A., Dharamshi, A., Gao, L. L. and Witten, D. (2024). Data thinning for convolution-closed
       distributions. Journal of Machine Learning Research 25, 1-35.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.array([[4.0, 0.0], [10.0, 6.0], [2.0, 1.0]]), "a")
    >>> train, test = Thin(0.5).halves_of(study.X, np.random.default_rng(0))
    >>> (train + test).tolist()
    [[4.0, 0.0], [10.0, 6.0], [2.0, 1.0]]
    """

    eps: float = 0.5
    overdispersion: float | tuple[float, ...] | str = field(default=0.0, metadata=LEFT_OUT)
    halves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fraction(self.eps, "eps")
        given = self.overdispersion
        if isinstance(given, str) and given == ESTIMATE:
            return
        try:
            values = np.atleast_1d(np.asarray(given, dtype=float)) if not isinstance(given, str) else np.array([np.nan])
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
            raise ParameterError(
                f"overdispersion must be a number from 0, one for each feature, or 'estimate'; got {given!r}.",
                parameter="overdispersion",
            )
        plain = float(values[0]) if np.ndim(given) == 0 else tuple(values.tolist())
        object.__setattr__(self, "overdispersion", plain)

    def __repr__(self) -> str:
        return written(self)

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Take the test part."""
        return replace(draw, points=self._halves(draw, rng)[1])

    def change_to_other_half(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Take the training part."""
        return replace(draw, points=self._halves(draw, rng)[0])

    def _halves(self, draw: Draw, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return self.halves_of(draw.points, rng, f"Study {draw.study!r}")

    def halves_of(self, X: FloatArray, rng: np.random.Generator, subject: str = "X") -> tuple[FloatArray, FloatArray]:
        """Divide a table of counts.

        Parameters
        ----------
        X : ndarray, (n_samples, n_features)
            Counts.
        rng : numpy.random.Generator
            Where random numbers come from.
        subject : str
            What an error calls the table.

        Returns
        -------
        tuple of ndarray
            The training part and the test part, of the same shape: they add up to `X`.
        """
        check_counts(X, subject, RAW_COUNTS)
        rows, columns = np.nonzero(X)
        alpha = self._overdispersion_of(X, subject)[columns]
        share = np.full(len(columns), float(self.eps))
        over = alpha > 0
        share[over] = rng.beta(self.eps / alpha[over], (1 - self.eps) / alpha[over])
        train = np.zeros_like(X)
        train[rows, columns] = rng.binomial(X[rows, columns].astype(np.int64), share)
        return train, X - train

    def _overdispersion_of(self, X: FloatArray, subject: str) -> FloatArray:
        """Return α for every feature, (n_features,)."""
        if self.overdispersion == ESTIMATE:
            means, variances = X.mean(axis=0, dtype=float), X.var(axis=0, ddof=1, dtype=float)
            return np.asarray(np.maximum(variances - means, 0) / np.where(means > 0, means, 1.0) ** 2)
        given = np.asarray(self.overdispersion, dtype=float)
        if given.ndim and len(given) != X.shape[1]:
            raise DataError(
                f"overdispersion has {len(given)} values, but {subject} has {plural(X.shape[1], 'feature')}: give one "
                "for each, or one for all."
            )
        return np.broadcast_to(given, X.shape[1])

    def split(self, X: Any, *, rng: Rng = None) -> Studies:
        """Make two studies of one, with the same samples and independent counts.

        Parameters
        ----------
        X : Study, array_like or DataFrame
            Counts, samples by features.
        rng : int, Generator or None
            The seed.

        Returns
        -------
        Studies
            "train" with the share `eps` of the counts, and "test" with the others.

        Examples
        --------
        >>> Thin(0.5).split([[4, 0], [10, 6], [2, 1]], rng=0)
        Studies: 2 studies, 2 shared features
          train  3 samples
          test   3 samples
        """
        from clustrep.studies.collection import Studies

        study = X if isinstance(X, Study) else Study(X, "X", label=False)
        train, test = self.halves_of(study.X, make_generator(rng), f"Study {study.name!r}")
        parts = {"train": train, "test": test}
        return Studies(
            [
                study._with(X=read_only(part), name=name, samples=tuple(f"{name}/{sample}" for sample in study.samples))
                for name, part in parts.items()
            ]
        )

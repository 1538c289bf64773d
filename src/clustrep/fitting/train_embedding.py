"""`TrainEmbedding`: scaled variable features and their principal components, as the first step of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from clustrep.checks import check_choice, check_integer
from clustrep.data.study import NORMALISATIONS, Normalise
from clustrep.data.values import log_normalised, median_total
from clustrep.fitting.parameters import table_for
from clustrep.types import FloatArray


class TrainEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components of the most variable features, scaled: a transformer with scikit-learn's interface.

    Parameters
    ----------
    n_features : int, default=2000
        How many features are kept: those with the highest variance. Of fewer, all are.
    n_components : int, default=50
        How many principal components, at most; there are no more than features, and fewer than samples.
    normalise : {"none", "log1p"}, default="none"
        "log1p" takes counts and normalises them first, as `Study.normalised` does, to the median total of the samples
        that it is fitted to: for counts that are divided by `Thin`.
    random_state : int or None, default=None
        The seed of scikit-learn's randomised solver, which it takes for large tables; None: that of the replicate.

    Attributes
    ----------
    target_sum_ : float or None
        The total to which counts are brought; None where they are not normalised.
    kept_ : ndarray of int
        Which features are kept, in their order.
    scaler_ : StandardScaler
        Their means and standard deviations.
    pca_ : PCA
        The components.

    See Also
    --------
    replicability : Fits the first steps of a pipeline to every draw of a training study.

    Notes
    -----
    Counts must be normalised, by the study's own totals (`Studies.normalised`) or here: else the features with most
    counts are the most variable.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 3, 0.5, 2]
    >>> embedding = TrainEmbedding(n_features=3, n_components=2).fit(X)
    >>> embedding.kept_.tolist(), embedding.transform(X).shape
    ([0, 1, 3], (50, 2))
    """

    def __init__(
        self,
        n_features: int = 2000,
        n_components: int = 50,
        normalise: Normalise = "none",
        random_state: int | None = None,
    ):
        self.n_features = n_features
        self.n_components = n_components
        self.normalise = normalise
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> TrainEmbedding:
        """Choose features, learn their scaling, and find the components."""
        check_integer(self.n_features, "n_features")
        check_integer(self.n_components, "n_components")
        check_choice(self.normalise, "normalise", NORMALISATIONS)
        table = check_array(X, dtype=(np.float64, np.float32))
        self.n_features_in_ = table.shape[1]
        self.target_sum_ = None if self.normalise == "none" else median_total(table)
        table = self._normalised(table)
        variances = table.var(axis=0, dtype=float)
        self.kept_ = np.sort(np.argsort(-variances, kind="stable")[: self.n_features])
        self.scaler_ = StandardScaler().fit(table[:, self.kept_])
        scaled = self.scaler_.transform(table[:, self.kept_])
        n_components = max(1, min(self.n_components, scaled.shape[1], len(scaled) - 1))
        self.pca_ = PCA(n_components, random_state=self.random_state).fit(scaled)
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the components of any samples with the same features, (n_samples, n_components)."""
        check_is_fitted(self, "pca_")
        table = self._normalised(table_for(self, X))
        return np.asarray(self.pca_.transform(self.scaler_.transform(table[:, self.kept_])))

    def _normalised(self, table: FloatArray) -> FloatArray:
        return table if self.target_sum_ is None else log_normalised(table, self.target_sum_)

"""Statistics that several features need."""

import numpy as np
import pytest

from clustrep.statistics import thin_svd


@pytest.mark.parametrize("converges", [True, False])
@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
def test_a_matrix_is_decomposed_even_where_the_faster_algorithm_fails(shape, converges, monkeypatch):
    X = np.random.default_rng(0).normal(size=shape)
    if not converges:

        def fails(*_args, **_options):
            raise np.linalg.LinAlgError("SVD did not converge")

        monkeypatch.setattr(np.linalg, "svd", fails)
    U, s, Vt = thin_svd(X)
    assert U.shape[1] == len(s) == len(Vt) == 6
    np.testing.assert_allclose(U * s @ Vt, X, atol=1e-12)
    np.testing.assert_allclose(s**2, np.sort(np.linalg.eigvalsh(X @ X.T))[::-1][:6], atol=1e-10)

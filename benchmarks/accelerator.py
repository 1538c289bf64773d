"""placeholder"""

import numpy as np


def mixture(n, p, k, spread, n_studies=2, seed=0):
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(k, p))
    return [centres[rng.integers(k, size=n)] + rng.normal(size=(n, p)) for _ in range(n_studies)]

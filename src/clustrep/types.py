"""Array types, named by what they hold."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]

IntArray: TypeAlias = NDArray[np.integer[Any]]

BoolArray: TypeAlias = NDArray[np.bool_]

Labels: TypeAlias = NDArray[Any]

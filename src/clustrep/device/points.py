"""Points on the device: sent once, without their mean, in units of their largest coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.device.available import CARD, torch_device
from clustrep.remembered import cached_property
from clustrep.types import FloatArray

# Rows that are sent at once.
ROWS = 2**16


@dataclass(frozen=True, eq=False)
class DevicePoints:
    """A table of points on the device.

    Products are rounded in proportion to the longest point, so the mean is taken off. In units of the largest
    coordinate, two halves of 11 bits hold what a float of 32 bits does, and the card multiplies halves fastest.

    Attributes
    ----------
    device : str
        "cuda" or "torch".
    X : Tensor, (n_points, n_features)
        Of 32 bits on a card, unless it is sent as `exact`, else of 64.
    mean : ndarray, (n_features,)
    unit : float
        Points are mean + unit · X.
    """

    device: str
    X: Any
    mean: FloatArray
    unit: float
    is_finite: bool = True

    @classmethod
    def send(cls, X: FloatArray, device: str, *, exact: bool = False) -> DevicePoints:
        """Send a table; numbers that are not finite are for the caller to refuse."""
        import torch

        mean = X.mean(axis=0, dtype=float)
        table = torch.empty(X.shape, dtype=torch.float64, device=torch_device(device))
        for begin in range(0, len(X), ROWS):
            rows = slice(begin, begin + ROWS)
            table[rows] = torch.as_tensor(X[rows] - mean, dtype=torch.float64)
        largest = float(table.abs().max()) if table.numel() else 1.0
        is_finite = bool(np.isfinite(largest))
        unit = largest if is_finite and largest > 0 else 1.0
        table /= unit
        return cls(device, table.float() if device == CARD and not exact else table, mean, unit, is_finite)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.X.shape[1])

    @cached_property
    def lengths(self) -> Any:
        """Squared lengths, (n_points,)."""
        return (self.X * self.X).sum(dim=1)

    @cached_property
    def squares(self) -> Any:
        """Squared lengths in 64 bits, (n_points,)."""
        return (self.X.double() ** 2).sum(dim=1)

    def rows_inside(self, X: FloatArray) -> Any:
        """Return many rows in these coordinates, computed on the device."""
        import torch

        rows = torch.as_tensor(np.array(X), device=self.X.device).double()  # a copy, because X may be read-only
        return ((rows - torch.as_tensor(self.mean, device=self.X.device)) / self.unit).to(self.X.dtype)

    def inside(self, centres: FloatArray) -> Any:
        """Return centres in these coordinates, on the device."""
        import torch

        return torch.as_tensor((centres - self.mean) / self.unit, dtype=self.X.dtype, device=self.X.device)

    def outside(self, centres: Any) -> FloatArray:
        """Return centres in the data's own coordinates."""
        return np.asarray(centres.double().cpu().numpy() * self.unit + self.mean)

"""Points on the device: sent once, without their mean, in units of their largest coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.cached import cached_property
from clustrep.execution.devices import GPU, torch_device
from clustrep.types import FloatArray, IntArray

# Rows that are sent at once.
ROWS = 2**16


@dataclass(frozen=True, eq=False)
class DevicePoints:
    """A table of points on the device.

    Products are rounded in proportion to the longest point, so the mean is taken off. In units of the largest
    coordinate, two halves of 11 bits hold what a float of 32 bits does, and the GPU multiplies halves fastest.

    Attributes
    ----------
    device : str
        "cuda" or "torch".
    X : Tensor, (n_points, n_features)
        Of 32 bits on a GPU, unless it is sent as `exact`, else of 64.
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
        return cls(device, table.float() if device == GPU and not exact else table, mean, unit, is_finite)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_tables(self) -> int:
        """How many tables there are."""
        return 1 if self.X.ndim == 2 else int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.X.shape[-1])

    @cached_property
    def lengths(self) -> Any:
        """Squared lengths, (n_points,), or (n_tables, n_points)."""
        return (self.X * self.X).sum(dim=-1)

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

    def of_tables(self, tables: IntArray) -> DevicePoints:
        """Return the coordinates of some tables: there is one."""
        return self

    def units_of(self, tables: IntArray) -> FloatArray:
        """Return the units of some tables, (n_tables,)."""
        return np.full(len(tables), self.unit)


@dataclass(frozen=True, eq=False)
class DeviceTables(DevicePoints):
    """Several tables of equally many points on the device, each in other coordinates.

    Attributes
    ----------
    X : Tensor, (n_tables, n_points, n_features)
    mean : ndarray, (n_tables, 1, n_features)
    unit : ndarray, (n_tables, 1, 1)
    """

    unit: Any

    @classmethod
    def send_all(cls, tables: Sequence[FloatArray], device: str) -> DeviceTables:
        """Send tables of the same shape together: the same numbers as one after the other."""
        import torch

        mean = np.stack([X.mean(axis=0, dtype=float)[None] for X in tables])
        stacked = torch.empty((len(tables), *tables[0].shape), dtype=torch.float64, device=torch_device(device))
        step = max(1, ROWS // max(1, len(tables[0])))
        for begin in range(0, len(tables), step):
            some = slice(begin, begin + step)
            stacked[some] = torch.as_tensor(np.stack(tables[some]) - mean[some], dtype=torch.float64)
        largest = stacked.abs().amax(dim=(1, 2), keepdim=True).cpu().numpy()
        unit = np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
        stacked /= torch.as_tensor(unit, device=stacked.device)
        is_finite = bool(np.isfinite(largest).all())
        return cls(device, stacked.float() if device == GPU else stacked, mean, unit, is_finite)

    def __len__(self) -> int:
        return int(self.X.shape[1])

    def of_tables(self, tables: IntArray) -> DevicePoints:
        """Return the coordinates of some tables, one for each set of centres."""
        return DeviceTables(self.device, self.X, self.mean[tables], self.unit[tables])

    def units_of(self, tables: IntArray) -> FloatArray:
        """Return the units of some tables, (n_tables,)."""
        return np.asarray(self.unit[tables, 0, 0])

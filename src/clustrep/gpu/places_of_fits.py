"""Where fits stand in the arrays that kernels read: those that share a program see the same table of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, eq=False)
class Layout:
    """Which fit stands where: groups of places are the programs of a kernel.

    Attributes
    ----------
    order : Tensor of int, (n_places,)
        The fit in each place, -1 for none; the first place of a group is the last to be left empty.
    place : slice, or Tensor of int, (n_fits,)
        Where each fit stands.
    per_group : int
    """

    order: Any
    place: Any
    per_group: int

    @classmethod
    def of_one_table(cls, n_fits: int, per_group: int, device: Any) -> Layout:
        """Place fits one after the other."""
        order = torch.arange(-(-n_fits // per_group) * per_group, device=device)
        return cls(order.masked_fill_(order >= n_fits, -1), slice(0, n_fits), per_group)

    @classmethod
    def of_several(cls, table: Any, n_tables: int, per_group: int) -> Layout:
        """Place the fits of every table, (n_fits,), into separate groups, of which some may be empty."""
        n_fits, device = len(table), table.device
        counts = torch.zeros(n_tables, dtype=torch.int64, device=device)
        counts.index_add_(0, table, torch.ones_like(table))
        filled = -(-counts // per_group) * per_group
        begin = filled.cumsum(0) - filled - (counts.cumsum(0) - counts)
        by_table = table.argsort(stable=True)
        place = torch.empty_like(by_table)
        place[by_table] = torch.arange(n_fits, device=device) + begin[table[by_table]]
        n_groups = min(n_fits, n_fits // per_group + n_tables)  # at most
        order = torch.full((n_groups * per_group,), -1, dtype=torch.int64, device=device)
        order[place] = torch.arange(n_fits, device=device)
        return cls(order, place, per_group)

    def __len__(self) -> int:
        return int(self.order.shape[0])

    @property
    def n_groups(self) -> int:
        """How many groups there are, some of them empty."""
        return len(self) // self.per_group

    def filled(self, values: Any) -> Any:
        """Return values of fits, (n_fits,), by place, with zeros between them."""
        by_place = torch.zeros(len(self), dtype=values.dtype, device=values.device)
        by_place[self.place] = values
        return by_place

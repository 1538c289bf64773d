"""How features are scaled: the names. `Studies.scaled` has the formulas."""

from __future__ import annotations

from typing import TypeAlias

Scale: TypeAlias = str  # one of SCALES, or "reference=NAME" with the name of a study

SCALES = ("none", "pooled", "study")

SCALES_OF_ONE = ("none", "study")  # those that need no other study

REFERENCE = "reference="

AUTO = "auto"  # an analysis decides: it takes the studies unscaled

"""`functools.cached_property` without a lock.

Up to Python 3.11 it holds one lock per property for all objects of a class while it computes: of several threads that
fit different draws, one would work and the others wait. Python 3.12 has removed the lock, and with Python 3.11 this
module goes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  # the name of what it stands for
        """A property that is computed once for each object, and then lies in its `__dict__`."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value

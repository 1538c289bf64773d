"""Options that every run shares and that nobody wants in every signature.

They change how a run is carried out; `accelerate=False` also fits k-means with scikit-learn's own random numbers.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from clustrep.checks import check_choice, check_flag
from clustrep.errors import ParameterError


@dataclasses.dataclass(frozen=True)
class Config:
    """The options in force.

    Attributes
    ----------
    accelerate : bool
        Use the exact shortcuts: kernels for k-means, one tree for all k, fewer coordinates where features outnumber
        samples. False fits the clusterers themselves, for k-means with scikit-learn's own random numbers.
    progress : bool or "auto"
        Show a progress bar; "auto" shows one on a terminal and in a notebook.
    """

    accelerate: bool = True
    progress: bool | str = "auto"

    def __post_init__(self) -> None:
        check_flag(self.accelerate, "accelerate")
        if not isinstance(self.progress, bool) and self.progress != "auto":
            raise ParameterError(
                f"progress must be True, False or 'auto', got {self.progress!r}.", parameter="progress"
            )


_of_process = Config()
_of_context: ContextVar[Config | None] = ContextVar("clustrep_config", default=None)


def config() -> Config:
    """Return the options in force: those of the innermost `config_context`, else those of the process."""
    return _of_context.get() or _of_process


def get_config() -> dict[str, Any]:
    """Return the options in force as a dictionary.

    See Also
    --------
    set_config, config_context

    Examples
    --------
    >>> sorted(get_config())
    ['accelerate', 'progress']
    """
    return dataclasses.asdict(config())


def set_config(**options: Any) -> None:
    """Set options for the whole process.

    Parameters
    ----------
    accelerate : bool, default True
        Use the exact shortcuts: kernels for k-means, one tree for all k, fewer coordinates where features outnumber
        samples. False fits the clusterers themselves, for k-means with scikit-learn's own random numbers.
    progress : bool or "auto", default "auto"
        Show a progress bar; "auto" shows one on a terminal and in a notebook.

    See Also
    --------
    config_context : the same for a block of code.

    Examples
    --------
    >>> set_config(progress=False)
    >>> get_config()["progress"]
    False
    >>> set_config(progress="auto")
    """
    global _of_process
    _of_process = dataclasses.replace(_of_process, **_checked(options))


@contextlib.contextmanager
def config_context(**options: Any) -> Iterator[None]:
    """Set options for a block of code; they are as before afterwards.

    Parameters
    ----------
    accelerate, progress
        As in `set_config`.

    See Also
    --------
    set_config : the same for the whole process.

    Examples
    --------
    >>> with config_context(accelerate=False):
    ...     get_config()["accelerate"]
    False
    >>> get_config()["accelerate"]
    True
    """
    token = _of_context.set(dataclasses.replace(config(), **_checked(options)))
    try:
        yield
    finally:
        _of_context.reset(token)


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        check_choice(name, "An option", [field.name for field in dataclasses.fields(Config)])
    return options

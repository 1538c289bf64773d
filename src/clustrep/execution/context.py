"""How and where work is done: the options of `config_context`, and what a run has opened by them.

Options change how a run is carried out, never what it is about; `accelerate=False` also fits k-means with
scikit-learn's random numbers. One context variable carries them: a nested call works as the call around it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from clustrep.checks import check_choice, check_flag
from clustrep.errors import ParameterError

if TYPE_CHECKING:
    from clustrep.execution.checkpoints import Checkpoint
    from clustrep.execution.engines import Engine

DEVICES = ("cpu", "cuda", "auto", "torch")


@dataclass(frozen=True)
class Config:
    """The options in force, and what was opened by them.

    Attributes
    ----------
    accelerate : bool
        Use the exact shortcuts: kernels for k-means, one tree for all k, fewer coordinates where features outnumber
        samples. False fits the clusterers themselves, for k-means with scikit-learn's own random numbers.
    progress : bool, "auto" or function
        Show a progress bar; "auto" shows one on a terminal and in a notebook. A function takes preliminary answers.
    device : {"cpu", "cuda", "auto", "torch"}
        Where k-means is fitted, nearest points are found and labels are compared; see `set_config`.
    engine : None, dask.distributed.Client or str
        Other machines; see `set_config`.
    checkpoint : str, path or None
        The folder of finished blocks; see `set_config`.
    opened : Engine or None
        What computes on these machines.
    in_progress : Checkpoint or None
        Where the run that has begun keeps what it finishes.
    """

    accelerate: bool = True
    progress: bool | str | Callable[[Any], None] = "auto"
    device: str = "cpu"
    engine: Any = None
    checkpoint: str | os.PathLike[str] | None = None
    opened: Engine[Any] | None = None
    in_progress: Checkpoint | None = None

    def __post_init__(self) -> None:
        check_flag(self.accelerate, "accelerate")
        check_choice(self.device, "device", DEVICES)
        if not isinstance(self.progress, bool) and self.progress != "auto" and not callable(self.progress):
            raise ParameterError(
                f"progress must be True, False, 'auto' or a function, got {self.progress!r}.", parameter="progress"
            )
        folder = self.checkpoint
        if folder is not None and (not isinstance(folder, str | os.PathLike) or not str(folder)):
            raise ParameterError(f"checkpoint must be the name of a folder, got {folder!r}.", parameter="checkpoint")


OPTIONS = tuple(field.name for field in fields(Config))[:5]


_of_process = Config()
_of_context: ContextVar[Config | None] = ContextVar("clustrep_config", default=None)


def config() -> Config:
    """Return the options in force: those of the innermost `config_context`, else those of the process."""
    return _of_context.get() or _of_process


def get_config() -> dict[str, Any]:
    """Return the options in force as a dictionary.

    Returns
    -------
    dict
        The value of every option, by name.

    See Also
    --------
    set_config : Set options for the whole process.
    config_context : Set options for a block of code.

    Examples
    --------
    >>> sorted(get_config())
    ['accelerate', 'checkpoint', 'device', 'engine', 'progress']
    """
    return {name: getattr(config(), name) for name in OPTIONS}


def set_config(**options: Any) -> None:
    """Set options for the whole process.

    Parameters
    ----------
    accelerate : bool, default=True
        Use the exact shortcuts: kernels for k-means, one tree for all k, fewer coordinates where features outnumber
        samples. False fits the clusterers themselves, for k-means with scikit-learn's own random numbers.
    progress : bool, "auto" or function, default="auto"
        Show a progress bar; "auto" shows one on a terminal and in a notebook. Where progress is shown, `analyse` also
        writes preliminary answers to stderr: what the first 20 resamples say, and where these show no separated
        clusters again with the first 19 or 39 simulated data sets. They are the first of those that the analysis uses
        anyway. A function is called with each of them instead of writing it, and bars are shown as by "auto".
    device : {"cpu", "cuda", "auto", "torch"}, default="cpu"
        Where functions of several studies fit k-means and compare its labels: by compiled kernels on the processor; on
        a GPU ("cuda", needs PyTorch: `pip install 'clustrep[gpu]'`); on a GPU where there is one ("auto");
        or by the GPU's code in plain PyTorch on the processor ("torch"), which is slower than the kernels and there to
        be compared. Draws and first centres are the same everywhere; a GPU rounds to 32 bits, so labels can differ
        where two centres are as near as that. Other clusterers are fitted on the processor; for those without a
        `predict`, nearest training points by Euclidean distance are found and labels are counted on the device, with
        the same result. A run on a device takes neither workers nor an engine. Results say on which device they were
        computed.
    engine : None, dask.distributed.Client, "dask://host:port", "ray" or "ray://host:port", default=None
        Other machines, instead of the workers of this one: they never change a result (docs/clusters.md). An address
        is connected to at once, and left when another engine is set or the context ends.
    checkpoint : str, path or None, default=None
        A folder in which `replicability`, `compare`, `local_replicability` and `analyse` keep finished work: the
        same call resumes there after it was interrupted or killed; with more resamples, clusterers or numbers of
        clusters it computes only the new ones. Needs a seed. A checkpoint depends on data, clusterers, seed, versions,
        and the code of your own classes and functions; it is refused for others.

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
    previous, _of_process = _of_process, _changed(_of_process, options)
    if previous.opened is not None and previous.opened is not _of_process.opened:
        previous.opened.close()


@contextlib.contextmanager
def config_context(**options: Any) -> Iterator[None]:
    """Set options for a block of code; afterwards the previous ones are in force again.

    Parameters
    ----------
    accelerate, progress, device, engine, checkpoint
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
    before = config()
    within = _changed(before, options)
    try:
        with in_force(within):
            yield
    finally:
        if within.opened is not None and within.opened is not before.opened:
            within.opened.close()


@contextlib.contextmanager
def in_force(within: Config) -> Iterator[None]:
    """Let options be in force in a block of code."""
    token = _of_context.set(within)
    try:
        yield
    finally:
        _of_context.reset(token)


def _changed(before: Config, options: dict[str, Any]) -> Config:
    """Check options, and open the engine that they name."""
    for name in options:
        check_choice(name, "An option", OPTIONS)
    changed = replace(before, **options)
    if "engine" not in options:
        return changed
    from clustrep.execution.engines import open_engine

    return replace(changed, opened=None if changed.engine is None else open_engine(changed.engine))


def shows_progress() -> bool:
    """Whether the user is told how far a run has come."""
    shown = config().progress
    if isinstance(shown, bool):
        return shown
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def told_progress() -> Callable[[Any], None] | None:
    """Return what takes preliminary answers: the user's function, or lines on stderr where progress is shown."""
    shown = config().progress
    if callable(shown):
        return shown
    return write_progress if shows_progress() else None


def write_progress(text: object) -> None:
    """Write a line to stderr, above the bars."""
    from tqdm.auto import tqdm

    tqdm.write(str(text), file=sys.stderr)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"

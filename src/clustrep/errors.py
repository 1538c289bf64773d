"""Everything that this package raises or warns about.

ClustrepError                       .sentence, worded by each front end
├── DataError(ValueError)           a table, a file or a labelling that can't be used
├── ParameterError(ValueError)      an argument out of its range, or an invalid combination: .parameter
│   └── OtherRun                    a folder with checkpoints of another run
├── AllReplicatesFailed             all resamples failed
├── WorkerKilled                    a process that computed resamples was killed, and another with fewer beside it
├── EngineLost                      an engine on other machines does not answer, or has no workers
└── NoBest                          nothing that was compared can be called the best

ClustrepWarning(UserWarning)        .sentence, worded by each front end
├── DataWarning                     data that can be used, but may not be what was intended
├── ReplicateWarning                some resamples failed, or the clusterer itself warned
└── MachineWarning                  the machine made the work slower; the results are the same

`invalid` and `DataError.unreadable` write the two most frequent sentences. How arguments are worded: `clustrep.text`.
"""

from __future__ import annotations

import sys
import warnings

from clustrep import text as sentences


class ClustrepError(sentences.Worded):
    """Base class of all errors that this package raises on purpose."""


class DataError(ClustrepError, ValueError):
    """A table, a file or a labelling that can't be used."""

    @classmethod
    def unreadable(cls, path: object, error: OSError, hint: str = "") -> DataError:
        """Return the error of a file that the system does not let this process read.

        Parameters
        ----------
        path : path
            The file, as the user wrote it.
        error : OSError
            Why it can't be read.
        hint : str, default=""
            A further sentence, such as which file may have been meant.

        Returns
        -------
        DataError

        Examples
        --------
        >>> str(DataError.unreadable("mainz.csv", PermissionError(13, "Permission denied")))
        "mainz.csv can't be read: Permission denied. Name another file, or make it readable."
        """
        return cls(f"{path} can't be read: {error.strerror}. Name another file, or make it readable.{hint}")


class ParameterError(ClustrepError, ValueError):
    """An argument out of its range, or an invalid combination of arguments.

    Attributes
    ----------
    parameter : str or None
        The name of the invalid parameter, where it is a single one.
    """

    def __init__(self, sentence: str = "", *, parameter: str | None = None):
        super().__init__(sentence)
        self.parameter = parameter


def invalid(parameter: str, rule: str, value: object) -> ParameterError:
    """Return the error of an argument that breaks a rule.

    Parameters
    ----------
    parameter : str
        The name of the parameter; the command line writes the option that sets it.
    rule : str
        What the value must be: "a positive integer".
    value : object
        What was given instead.

    Returns
    -------
    ParameterError
        With the attribute `parameter`.

    Examples
    --------
    >>> str(invalid("n_resamples", "a positive integer", -3))
    'n_resamples must be a positive integer, got -3.'
    """
    return ParameterError(f"{parameter} must be {rule}, got {value!r}.", parameter=parameter)


class OtherRun(ParameterError):  # noqa: N818 - a name that reads as the finding
    """A folder with what another run has finished.

    Attributes
    ----------
    differences : str
        What differs between the two runs.
    """

    def __init__(self, sentence: str = "", *, parameter: str | None = None, differences: str = ""):
        super().__init__(sentence, parameter=parameter)
        self.differences = differences


class AllReplicatesFailed(ClustrepError, RuntimeError):  # noqa: N818 - a name that reads as the finding
    """All resamples failed."""


class WorkerKilled(ClustrepError, RuntimeError):  # noqa: N818 - a name that reads as the finding
    """A process that computed resamples was killed, and again with half as many beside it."""


class EngineLost(ClustrepError, RuntimeError):  # noqa: N818 - a name that reads as the finding
    """An engine on other machines does not answer, or has no workers, or none of this version."""


class NoBest(ClustrepError, RuntimeError):  # noqa: N818 - a name that reads as the finding
    """Nothing that was compared can be called the best."""


class ClustrepWarning(sentences.Worded, UserWarning):
    """Base class of all warnings that this package gives."""


class DataWarning(ClustrepWarning):
    """Data that can be used, but may not be what was intended."""


class ReplicateWarning(ClustrepWarning):
    """Some resamples failed, or the clusterer itself warned."""


class MachineWarning(ClustrepWarning):
    """The machine made the work slower, because a file or a process was lost. The results are the same."""


def warn(message: str, category: type[ClustrepWarning]) -> None:
    """Warn at the line outside this package that led here.

    Parameters
    ----------
    message : str
        A sentence, in which arguments may be marked (`clustrep.text.argument`).
    category : type
        A `ClustrepWarning`; filters of `warnings` choose by it.

    Notes
    -----
    The line of the caller is what a user can change, and what Python shows beside the warning. The number of frames in
    between differs from one call to the next, so that a fixed `stacklevel` would name a line of this package.
    """
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame = frame.f_back
        level += 1
    warnings.warn(category(message), stacklevel=level)  # an instance: filters then match its text, not its marks

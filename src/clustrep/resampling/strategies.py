"""Where X⁽ᵇ⁾ comes from: small frozen objects that draw one resample of a study.

Those that change a study's own samples can be added: `Subsample(0.8) + Jitter(0.1)` does one after the other.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep.cached import cached_property
from clustrep.checks import check_flag, check_fraction, check_points, check_positive, read_only
from clustrep.data.study import Study
from clustrep.data.values import check_counts
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.execution.seeds import Rng, make_generator
from clustrep.text import listing, plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from clustrep.data.studies import Studies

# Of fields that are left out of descriptions where they have their default.
LEFT_OUT = MappingProxyType({"left_out": True})


def is_shown(of: Field[Any], thing: object) -> bool:
    """Whether a field belongs to the description of an object."""
    return not (of.metadata.get("left_out") and getattr(thing, of.name) == of.default)


# Noise of this many standard deviations has the variance Ŝ²/2 of the paper's section C.1.
HALF_THE_VARIANCE = math.sqrt(0.5)


@dataclass(frozen=True, eq=False)
class Draw:
    """One resample of a study: its samples, and which of them were drawn, in the order of drawing.

    A sample drawn twice has weight two in every table; a sample that was not drawn has weight zero, and still has a
    label under a clustering function.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_features)
        All samples that may have been drawn, as a clusterer sees them.
    order : ndarray of int, shape (n_drawn,)
        Which of them were drawn: rows of `points`.
    originals : ndarray of shape (n_samples, n_features)
        The same samples without noise; `points` itself where there is none.
    groups : mapping of str to ndarray of shape (n_samples,)
        The units to which the samples belong, such as donors.
    study : str, default=""
        The study's name.
    """

    points: FloatArray
    order: IntArray
    originals: FloatArray = None  # type: ignore[assignment]
    groups: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    study: str = ""

    def __post_init__(self) -> None:
        if self.originals is None:
            object.__setattr__(self, "originals", self.points)

    @property
    def sample(self) -> FloatArray:
        """The drawn samples, written out: what a clusterer is fitted to, (n_drawn, n_features)."""
        return self.points[self.order]

    @cached_property
    def weights(self) -> IntArray:
        """How often each sample was drawn, (n_samples,)."""
        return np.bincount(self.order, minlength=len(self.points))

    def n_distinct(self) -> int:
        """Count the different samples among those drawn: equal rows count once."""
        return len(np.unique(self.points[self.weights > 0], axis=0))


class Resampling(Protocol):
    """What can draw resamples of a study."""

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one resample."""
        ...


class Perturbation(ABC):
    """A change to a study's own samples; several can be added.

    A perturbation of your own is a subclass with `change(draw, rng)`. Only the class attributes below are presumed of
    it.

    Attributes
    ----------
    keeps_points : bool, default=False
        Whether the samples drawn are the study's own, with all features: then distances and neighbours that were
        computed once for the study serve all resamples.
    keeps_features : bool, default=True
        Whether the samples drawn have all features: else the resamples of two studies cannot be compared.
    halves : bool, default=False
        Whether what a draw leaves is another draw, independent of it.
    """

    keeps_points: ClassVar[bool] = False
    keeps_features: ClassVar[bool] = True
    halves: ClassVar[bool] = False

    @abstractmethod
    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Change what has been drawn so far.

        Parameters
        ----------
        draw : Draw
            The study, or what earlier steps of a sum have drawn.
        rng : numpy.random.Generator
            Where random numbers come from: nothing else may be random.

        Returns
        -------
        Draw
            A new one: neither `draw` nor its arrays are changed.
        """

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one resample."""
        return self.change(whole(study), rng)

    def draw_many(self, study: Study, words: IntArray) -> list[Draw] | None:
        """Draw resamples as `draw` does, all in one call of a kernel; None where there is no kernel for it.

        words : those of their seeds, (n_draws, n_words)
        """
        return None

    def change_to_other_half(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Make the other half of the same change, with the same random numbers.

        Where there is none, the same samples are drawn, but points are changed by other random numbers: noise that both
        halves share would make them agree.
        """
        if self.keeps_points or not self.keeps_features:
            return self.change(draw, rng)
        (other,) = rng.spawn(1)
        self.change(draw, rng)  # what follows has the numbers of the first half
        return self.change(draw, other)

    def draw_other_half(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw what `draw` leaves with the same random numbers."""
        return self.change_to_other_half(whole(study), rng)

    def changes_nothing(self, n_samples: int, n_features: int) -> bool:
        """Whether a study of this shape is unchanged, except for the order of its samples."""
        return False

    def __repr__(self) -> str:
        """Write the parameters, without units where there are none."""
        all_fields: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        shown: list[str] = [each.name for each in all_fields if is_shown(each, self)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def __add__(self, other: object) -> Combination:
        if not isinstance(other, Perturbation):
            return NotImplemented
        return Combination((*_steps(self), *_steps(other)))


@dataclass(frozen=True, repr=False)
class Bootstrap(Perturbation):
    """Draw as many samples as the study has, with replacement (Algorithms 1 to 3).

    Parameters
    ----------
    distinct : bool, default=False
        Keep each drawn sample once: about 63 % of them. What functions of several studies take by default, unless
        features outnumber samples; the paper's experiments use False.
    groups : str, default=None
        Units to which samples belong, such as "donor": a key of `Study.groups`. Units are drawn with replacement, as
        many as there are, then the samples within each that was drawn.

    See Also
    --------
    Subsample : Draws without replacement.
    Simulate : Draws new data instead of resampling.

    Notes
    -----
    Copies of a sample always agree with each other, so that with `distinct=False` many small clusters score too high;
    docs/calibration.md compares both. Cells of one donor are more alike than those of different donors: intervals over
    cells drawn one by one are then too narrow, and `groups` makes them wider (docs/single-cells.md has a simulation).

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.arange(10.0).reshape(5, 2), "a")
    >>> Bootstrap().draw(study, np.random.default_rng(0)).weights
    array([0, 2, 1, 1, 1])
    >>> Bootstrap(distinct=True).draw(study, np.random.default_rng(0)).weights
    array([0, 1, 1, 1, 1])
    """

    distinct: bool = False
    groups: str | None = field(default=None, metadata=LEFT_OUT)
    keeps_points: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self.distinct, "distinct")
        _check_groups(self.groups)

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Draw with replacement."""
        if self.groups is not None:
            members = _members(draw, self.groups)
            drawn = [members[unit] for unit in rng.integers(len(members), size=len(members))]
            order = np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in drawn])
            return replace(draw, order=np.unique(order) if self.distinct else order)
        n = len(draw.order)
        order = draw.order[rng.integers(n, size=n)]
        if self.distinct:
            order = np.flatnonzero(np.bincount(order, minlength=len(draw.points)))  # as np.unique, but faster
        return replace(draw, order=order)

    def draw_many(self, study: Study, words: IntArray) -> list[Draw] | None:
        """Draw from many seeds at once, unless units are drawn, or a subclass draws in its own way."""
        if self.groups is not None or type(self) is not Bootstrap:
            return None
        from clustrep.kernels.fit_batch import draw_with_replacement

        orders, counts = np.empty((2, len(words), len(study)), np.int64)
        draw_with_replacement(words, orders, counts)
        if self.distinct:
            kept, weights = [np.flatnonzero(drawn) for drawn in counts], np.minimum(counts, 1)
        else:
            kept, weights = list(orders), counts
        draws = [Draw(study.X, order, groups=study.groups, study=study.name) for order in kept]
        for draw, known in zip(draws, weights, strict=True):
            draw.__dict__["weights"] = known  # they need not be counted again
        return draws


@dataclass(frozen=True, repr=False)
class Subsample(Perturbation):
    """Draw a fraction of the study's samples without replacement.

    Parameters
    ----------
    fraction : float, default=0.8
        Above 0 and at most 1; at least two samples are drawn.
    groups : str, default=None
        Units to which samples belong, such as "donor": a key of `Study.groups`. This fraction of the units is drawn, at
        least two, with all samples of each.

    See Also
    --------
    Bootstrap : Draws with replacement.

    Notes
    -----
    Subsamples of a large fraction overlap much, so that scores on them vary less than scores on new studies would: the
    interval over subsamples is too narrow as a confidence interval.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.arange(10.0).reshape(5, 2), "a")
    >>> len(Subsample(0.6).draw(study, np.random.default_rng(0)).order)
    3
    """

    fraction: float = 0.8
    groups: str | None = field(default=None, metadata=LEFT_OUT)
    keeps_points: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "fraction", one_allowed=True)
        _check_groups(self.groups)

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Draw without replacement."""
        if self.groups is not None:
            members = _members(draw, self.groups)
            if len(members) == 2 and self.fraction < 1:
                raise ParameterError(
                    f"groups={self.groups!r}, but study {draw.study!r} has only two of these units, and at least "
                    f"two are drawn: every draw would be the whole study. Use Bootstrap(groups={self.groups!r}).",
                    parameter="groups",
                )
            units = rng.permutation(len(members))[: max(2, _share(self.fraction, len(members)))]
            return replace(draw, order=np.concatenate([members[unit] for unit in units]))
        n = len(draw.order)
        size = max(2, _share(self.fraction, n))
        return replace(draw, order=draw.order[rng.permutation(n)[:size]])

    def changes_nothing(self, n_samples: int, n_features: int) -> bool:
        """Whether all samples are drawn."""
        return max(2, _share(self.fraction, n_samples)) >= n_samples and (self.groups is None or self.fraction == 1)


@dataclass(frozen=True)
class FeatureSubset(Perturbation):
    """Keep all samples and a random fraction of the features (Smolkin and Ghosh).

    Parameters
    ----------
    fraction : float, default=0.8
        Above 0 and at most 1; ⌊fraction · p⌋ features are kept, at least one.

    See Also
    --------
    stability : Takes it by default for `index="inclusion"`.

    Notes
    -----
    Within one study only: a function of some features cannot be applied to a study of which others were drawn.
    Few features that carry all clusters are lost in many draws, though the clusters are clear.

    References
    ----------
    .. [1] Smolkin, M. and Ghosh, D. (2003). Cluster stability scores for microarray data in cancer studies. BMC
       Bioinformatics 4, 36.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.arange(10.0).reshape(2, 5), "a")
    >>> FeatureSubset(0.4).draw(study, np.random.default_rng(0)).points.shape
    (2, 2)
    """

    fraction: float = 0.8
    keeps_features: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "fraction", one_allowed=True)

    def n_kept(self, n_features: int) -> int:
        """Return how many of a number of features are kept."""
        return max(1, _share(self.fraction, n_features))

    def changes_nothing(self, n_samples: int, n_features: int) -> bool:
        """Whether all features are kept."""
        return self.n_kept(n_features) == n_features

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Keep some features, in their order."""
        p = draw.points.shape[1]
        kept = np.sort(rng.permutation(p)[: self.n_kept(p)])
        originals = np.ascontiguousarray(draw.originals[:, kept])
        same = draw.points is draw.originals
        return replace(
            draw, points=originals if same else np.ascontiguousarray(draw.points[:, kept]), originals=originals
        )


@dataclass(frozen=True)
class Jitter(Perturbation):
    """Add Gaussian noise, independent for every sample and feature.

    A sample that a bootstrap drew twice has the same noise twice.

    Parameters
    ----------
    scale : float, default=√½
        The noise's standard deviation, in units of each feature's own; by default its variance is half the feature's.
    relative : bool, default=True
        False: `scale` is in the data's units instead, the same for all features.

    See Also
    --------
    sensitivity : An index at several scales of noise.

    Notes
    -----
    In units of standard deviations, features that carry the clusters get as much noise as those that carry none; with
    many features, small noise in each adds up. The scale is a choice, and any cluster is lost under enough noise.

    References
    ----------
    .. [1] McShane, L. M. et al. (2002). Methods for assessing reproducibility of clustering patterns observed in
       analyses of microarray data. Bioinformatics 18, 1462-1469.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.arange(10.0).reshape(5, 2), "a")
    >>> draw = Jitter(0.1).draw(study, np.random.default_rng(0))
    >>> bool(np.abs(draw.points - study.X).max() > 0), draw.weights
    (True, array([1, 1, 1, 1, 1]))
    """

    scale: float = HALF_THE_VARIANCE
    relative: bool = True

    def __post_init__(self) -> None:
        check_positive(self.scale, "scale")
        check_flag(self.relative, "relative")

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Move every point."""
        unit = draw.originals.std(axis=0, ddof=1, dtype=float) if self.relative else 1.0
        noise = self.scale * unit * rng.standard_normal(draw.points.shape)
        return replace(draw, points=(draw.points + noise).astype(draw.points.dtype))


@dataclass(frozen=True)
class Rerun(Perturbation):
    """Change nothing: what varies is the clusterer's own randomness.

    See Also
    --------
    Jitter : Changes the points a little.

    Notes
    -----
    Shows how much of an index's variation comes from random starts. A deterministic clusterer, or one with a fixed
    `random_state`, gives the same clusters every time.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.arange(4.0).reshape(2, 2), "a")
    >>> Rerun().draw(study, np.random.default_rng(0)).points is study.X
    True
    """

    keeps_points: ClassVar[bool] = True

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Change nothing."""
        return draw

    def changes_nothing(self, n_samples: int, n_features: int) -> bool:
        """It never changes anything."""
        return True


@dataclass(frozen=True, repr=False)
class Combination(Perturbation):
    """Several changes, one after the other; the sum of perturbations.

    Parameters
    ----------
    steps : tuple of Perturbation
        In the order in which they are made. `Subsample(0.8) + Jitter(0.1)` moves the samples that were drawn; the other
        order draws from samples that were moved, and has the same distribution.

    Examples
    --------
    >>> Subsample(0.5) + Jitter(0.1) + Rerun()
    Subsample(fraction=0.5) + Jitter(scale=0.1, relative=True) + Rerun()
    """

    steps: tuple[Perturbation, ...]

    def __post_init__(self) -> None:
        for name, combined in (("keeps_points", all), ("keeps_features", all), ("halves", any)):
            object.__setattr__(self, name, combined(getattr(step, name) for step in self.steps))

    def change_to_other_half(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Make every change, and take the other half where there is one."""
        for step in self.steps:
            draw = step.change_to_other_half(draw, rng)
        return draw

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Make every change."""
        for step in self.steps:
            draw = step.change(draw, rng)
        return draw

    def changes_nothing(self, n_samples: int, n_features: int) -> bool:
        """Whether none of the steps changes anything."""
        return all(step.changes_nothing(n_samples, n_features) for step in self.steps)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.steps))


@dataclass(frozen=True)
class Simulate:
    """Draw fresh data from the distribution that a study came from: Monte Carlo instead of bootstrap.

    Parameters
    ----------
    sampler : function of (study, rng)
        Returns a table with the study's features. `study.name` says which study, `len(study)` how large it is.

    See Also
    --------
    Bootstrap : Resamples the study itself.

    Notes
    -----
    For methods research, where the distribution is known: scores then vary as they do between new studies. Known labels
    cannot be used with it, because simulated samples have none.

    Examples
    --------
    >>> import numpy as np
    >>> Simulate(lambda study, rng: rng.normal(size=study.X.shape))  # doctest: +ELLIPSIS
    Simulate(sampler=...)
    """

    sampler: Callable[[Study, np.random.Generator], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.sampler):
            raise ParameterError(
                f"sampler must be a function of (study, rng), got {self.sampler!r}.", parameter="sampler"
            )

    def draw(self, study: Study, rng: np.random.Generator) -> Draw:
        """Draw one resample."""
        X = check_points(
            self.sampler(study, rng), f"What the sampler returned for study {study.name!r}", samples_at_least=2
        )
        if X.shape[1] != study.X.shape[1]:
            raise DataError(
                f"sampler must return the {study.X.shape[1]} features of study {study.name!r}, got {X.shape[1]}."
            )
        return Draw(X, np.arange(len(X)))


def whole(study: Study) -> Draw:
    """Take the whole study."""
    return Draw(study.X, np.arange(len(study)), groups=study.groups, study=study.name)


def resampling_for(resampling: Resampling | None, studies: Sequence[Study], groups: str | None = None) -> Resampling:
    """Return the resampling that was asked for; None: the one that suits the studies, by units where these are named.

    The bootstrap with each drawn sample counted once: copies of a sample agree with each other, which raises the scores
    of many small clusters. Where any study has more features than samples, 80 % of the samples without replacement:
    there scores depend much on the number of samples, and the bootstrap keeps 63 % of them (docs/calibration.md).

    Examples
    --------
    >>> import numpy as np
    >>> few, many = Study(np.zeros((5, 9)), "few"), Study(np.zeros((9, 5)), "many")
    >>> resampling_for(None, [many, many]), resampling_for(None, [many, few]), resampling_for(Jitter(1.0), [few])
    (Bootstrap(distinct=True), Subsample(fraction=0.8), Jitter(scale=1.0, relative=True))
    """
    if resampling is None:
        more_features = any(study.X.shape[1] > study.X.shape[0] for study in studies)
        two_units = groups is not None and any(len(set(study.groups.get(groups, ()))) == 2 for study in studies)
        subsample = more_features and not two_units  # which would draw both of two units every time
        resampling = Subsample(0.8, groups=groups) if subsample else Bootstrap(distinct=True, groups=groups)
    _warn_of_shared_units(resampling, studies)
    return resampling


def resamples_in_words(resampling: str, of: str) -> str:
    """Name the resamples of something in a sentence, by the resampling as provenance writes it.

    Parameters
    ----------
    resampling : str
        The `repr` of a strategy.
    of : str
        What is resampled, such as "the study" or "both studies".

    Returns
    -------
    str

    Examples
    --------
    >>> resamples_in_words(repr(Bootstrap(distinct=True)), "the study")
    'bootstrap resamples of the study with each drawn sample counted once'
    >>> resamples_in_words(repr(Subsample(0.8)), "the study")
    'subsamples of the study with 80 % of its samples'
    """
    if resampling in ("Bootstrap()", repr(Bootstrap())):
        return f"bootstrap resamples of {of}"
    if resampling == repr(Bootstrap(distinct=True)):
        return f"bootstrap resamples of {of} with each drawn sample counted once"
    if (unit := re.fullmatch(r"(Bootstrap|Subsample)\((.*), groups='(\w+)'\)", resampling)) is not None:
        plain = resamples_in_words(f"{unit[1]}({unit[2]})", of)
        return f"{plain}, drawn by {unit[3]}"
    fraction = re.fullmatch(r"Subsample\((?:fraction=)?([0-9.]+)\)", resampling)
    if fraction is not None:
        whose = "their" if of.endswith("s") else "its"
        return f"subsamples of {of} with {100 * float(fraction[1]):g} % of {whose} samples"
    return f"resamples of {of} by {resampling}"


def check_resampling(resampling: object) -> Resampling:
    """Check that something can draw resamples of studies that are to be compared with each other.

    It has `draw(study, rng)`, and keeps all features: a function of some features cannot label samples of which others
    were drawn.
    """
    if isinstance(resampling, type) or not hasattr(resampling, "draw"):
        raise ParameterError(
            "resampling must be Bootstrap(), Subsample(fraction), Jitter(scale), Simulate(sampler) or a sum such as "
            f"Subsample(0.8) + Jitter(0.1), got {resampling!r}.",
            parameter="resampling",
        )
    if not getattr(resampling, "keeps_features", True):
        raise ParameterError(
            f"resampling must keep the features, got {resampling!r}: a function of some features says nothing of a "
            "study of which others were drawn. Within one study, use stability(..., perturbation=FeatureSubset()).",
            parameter="resampling",
        )
    return resampling


def check_perturbation(perturbation: object) -> Perturbation:
    """Check that something changes a study's own samples."""
    if not isinstance(perturbation, Perturbation):
        raise ParameterError(
            "perturbation must be Bootstrap(), Subsample(fraction), FeatureSubset(fraction), Jitter(scale), Rerun() "
            f"or a sum such as Subsample(0.8) + Jitter(0.1), got {perturbation!r}.",
            parameter="perturbation",
        )
    return perturbation


def _steps(perturbation: Perturbation) -> tuple[Perturbation, ...]:
    return perturbation.steps if isinstance(perturbation, Combination) else (perturbation,)


def _check_groups(groups: object) -> None:
    if groups is not None and (not isinstance(groups, str) or not groups):
        raise ParameterError(
            f"groups must be the name of units, such as 'donor', got {groups!r}: pass the units themselves to the "
            "studies, Study(X, name, groups={'donor': [...]}).",
            parameter="groups",
        )


def _members(draw: Draw, key: str) -> list[IntArray]:
    """Return the drawn rows of every unit, in the order of the units' names."""
    if key not in draw.groups:
        there = f"; it has {', '.join(map(repr, draw.groups))}" if draw.groups else ""
        raise ParameterError(
            f"groups={key!r}, but study {draw.study!r} has no groups of this name{there}: pass them with "
            f"Studies.from_anndata(..., groups={key!r}) or studies.with_groups({{...}}).",
            parameter="groups",
        )
    codes = np.unique(draw.groups[key], return_inverse=True)[1][draw.order]
    members = [draw.order[codes == code] for code in np.unique(codes)]
    if len(members) < 2:
        raise ParameterError(
            f"groups={key!r}, but study {draw.study!r} has only one of these units: at least two are needed.",
            parameter="groups",
        )
    return members


def _warn_of_shared_units(resampling: Resampling, studies: Sequence[Study]) -> None:
    """Warn of studies that have units in common: they are not independent of each other."""
    steps = _steps(resampling) if isinstance(resampling, Perturbation) else ()
    for key in dict.fromkeys(key for step in steps if (key := getattr(step, "groups", None)) is not None):
        units = {study.name: set(study.groups.get(key, np.empty(0, dtype=str)).tolist()) for study in studies}
        for (first, of_first), (second, of_second) in combinations(sorted(units.items()), 2):
            shared = sorted(of_first & of_second)
            if shared:
                warn(
                    f"Studies {first!r} and {second!r} have {len(shared)} of the same units {key!r} "
                    f"({listing(shared, 5)}): they are not independent, and scores between them are too high.",
                    DataWarning,
                )


def _share(fraction: float, n: int) -> int:
    return math.floor(fraction * n + 1e-9)  # 0.29 · 100 is 28.999…


# ---------------------------------------------------------------------------------------------------------------------
# counts divided into two independent parts: count splitting


RAW_COUNTS = (
    "take the raw counts, such as a layer of an h5ad file (rep='counts'), and normalise after thinning, with "
    "TrainEmbedding(normalise='log1p') as the first step of the clusterer."
)
ESTIMATE = "estimate"


@dataclass(frozen=True, repr=False)
class Thin(Perturbation):
    """Divide the counts of every sample and feature at random into two independent parts (count splitting).

    Of a count x, the training part has x₁ and the test part x − x₁. For Poisson counts x₁ is binomial with probability
    `eps`; for negative binomial counts with variance μ + αμ² it is beta-binomial, with parameters eps/α and
    (1 − eps)/α. Then both parts are independent, with means eps·μ and (1 − eps)·μ and otherwise the same distribution.

    Parameters
    ----------
    eps : float, default=0.5
        The share of the counts in the training part, between 0 and 1.
    overdispersion : float, array-like of shape (n_features,), or "estimate", default=0.0
        α: 0 for Poisson counts, one number for all features, or one for each. "estimate" takes for every feature
        (variance − mean) / mean² over the study's samples, or 0 where that is negative.

    See Also
    --------
    Studies.split : Divides samples, not counts.

    Notes
    -----
    In functions of several studies a draw is the test part, and what is compared on the diagonal are the clusters of
    both parts of one division: do the same samples belong together by counts that are independent? Without clusters the
    expected ARI is 0 there. Clusters of two resamples of the same samples, by contrast, also agree about their noise
    (docs/single-cells.md has a simulation). For a single study, `Thin(...).split(X)` returns both parts as two studies.
    `stability` compares with the clusters of all counts, which contain both parts: there it gains no independence.
    Data without clusters (`null_reference`) are not counts, so they cannot be thinned.

    Both parts are independent only if the counts have the distribution named. With an overdispersion that is too small
    they are positively correlated, too large negatively. Estimates include the variation between clusters: then α is
    too large for features that differ between them.

    References
    ----------
    .. [1] Neufeld, A., Gao, L. L., Popp, J., Battle, A. and Witten, D. (2024). Inference after latent variable
       estimation for single-cell RNA sequencing data. Biostatistics 25, 270-287.
    .. [2] Neufeld, A., Dharamshi, A., Gao, L. L. and Witten, D. (2024). Data thinning for convolution-closed
       distributions. Journal of Machine Learning Research 25, 1-35.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Study
    >>> study = Study(np.array([[4.0, 0.0], [10.0, 6.0], [2.0, 1.0]]), "a")
    >>> train, test = Thin(0.5).halves_of(study.X, np.random.default_rng(0))
    >>> (train + test).tolist()
    [[4.0, 0.0], [10.0, 6.0], [2.0, 1.0]]
    """

    eps: float = 0.5
    overdispersion: float | tuple[float, ...] | str = field(default=0.0, metadata=LEFT_OUT)
    halves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fraction(self.eps, "eps")
        given = self.overdispersion
        if isinstance(given, str) and given == ESTIMATE:
            return
        try:
            values = np.atleast_1d(np.asarray(given, dtype=float)) if not isinstance(given, str) else np.array([np.nan])
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
            raise ParameterError(
                f"overdispersion must be a number from 0, one for each feature, or 'estimate'; got {given!r}.",
                parameter="overdispersion",
            )
        plain = float(values[0]) if np.ndim(given) == 0 else tuple(values.tolist())
        object.__setattr__(self, "overdispersion", plain)

    def change(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Take the test part."""
        return replace(draw, points=self.halves_of(draw.points, rng, f"Study {draw.study!r}")[1])

    def change_to_other_half(self, draw: Draw, rng: np.random.Generator) -> Draw:
        """Take the training part."""
        return replace(draw, points=self.halves_of(draw.points, rng, f"Study {draw.study!r}")[0])

    def halves_of(self, X: FloatArray, rng: np.random.Generator, subject: str = "X") -> tuple[FloatArray, FloatArray]:
        """Divide a table of counts.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Counts.
        rng : numpy.random.Generator
            Where random numbers come from.
        subject : str, default="X"
            What an error calls the table.

        Returns
        -------
        tuple of ndarray
            The training part and the test part, of the same shape: they add up to `X`.
        """
        check_counts(X, subject, RAW_COUNTS)
        rows, columns = np.nonzero(X)
        alpha = self._overdispersion_of(X, subject)[columns]
        share = np.full(len(columns), float(self.eps))
        over = alpha > 0
        share[over] = rng.beta(self.eps / alpha[over], (1 - self.eps) / alpha[over])
        train = np.zeros_like(X)
        train[rows, columns] = rng.binomial(X[rows, columns].astype(np.int64), share)
        return train, X - train

    def _overdispersion_of(self, X: FloatArray, subject: str) -> FloatArray:
        """Return α for every feature, (n_features,)."""
        if self.overdispersion == ESTIMATE:
            means, variances = X.mean(axis=0, dtype=float), X.var(axis=0, ddof=1, dtype=float)
            return np.asarray(np.maximum(variances - means, 0) / np.where(means > 0, means, 1.0) ** 2)
        given = np.asarray(self.overdispersion, dtype=float)
        if given.ndim and len(given) != X.shape[1]:
            raise DataError(
                f"overdispersion has {len(given)} values, but {subject} has {plural(X.shape[1], 'feature')}: give one "
                "for each, or one for all."
            )
        return np.broadcast_to(given, X.shape[1])

    def split(self, X: Any, *, rng: Rng = None) -> Studies:
        """Make two studies of one, with the same samples and independent counts.

        Parameters
        ----------
        X : Study or array-like of shape (n_samples, n_features)
            Counts.
        rng : int, Generator, SeedSequence or None, default=None
            The seed.

        Returns
        -------
        Studies
            "train" with the share `eps` of the counts, and "test" with the others.

        Examples
        --------
        >>> Thin(0.5).split([[4, 0], [10, 6], [2, 1]], rng=0)
        Studies: 2 studies, 2 shared features
          train  3 samples
          test   3 samples
        """
        from clustrep.data.studies import Studies

        study = X if isinstance(X, Study) else Study(X, "X", label=False)
        train, test = self.halves_of(study.X, make_generator(rng), f"Study {study.name!r}")
        parts = {"train": train, "test": test}
        samples = {name: tuple(f"{name}/{sample}" for sample in study.samples) for name in parts}
        return Studies([study._with(X=read_only(X), name=name, samples=samples[name]) for name, X in parts.items()])

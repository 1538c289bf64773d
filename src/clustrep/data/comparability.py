"""Whether studies can be compared: what to look at in their values before anything is clustered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clustrep.data import duplicates
from clustrep.data.duplicates import Pair
from clustrep.text import argument, in_python, listing, plural, printable, wording
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from clustrep.data.study import Study

ALL = "all studies"

# Fewer samples: a cluster of a tenth of them is one sample or two, and no score has a narrow interval.
SMALL = 20

# Studies of fewer samples are left out where locations and spreads are compared: theirs are unknown.
FEWEST = 8

# Differences that matter: those of location in sd within studies, those of spread as a factor. Composition alone moves
# a mean by 1 sd only where about half of the samples change their cluster. Both must also exceed sampling error, with
# a chance of ERROR_RATE that any feature of any study does without a reason.
SHIFT, FACTOR, ERROR_RATE = 1.0, 2.0, 0.01

# Values beyond this many robust sd are left out of means and sd, up to the bound.
BOUND = 5.0

# A cell is extreme beyond EXTREME robust sd if it is 3 times as far away as the next, or, where that is beyond BOUND
# itself, NEXT times: a slipped decimal point is. At most PART of the values, and at most MOST_CELLS, since more are a
# tail or a cluster.
EXTREME, NEXT, MOST_CELLS, PART = 10.0, 10.0, 3, 0.01

# The standard error of the logarithm of a robust sd is this, divided by the root of the number of samples (Gaussian).
ERROR_OF_SPREAD = 1.17

# More features than this part of them, and than MOST_CELLS + 2, with extreme cells in different samples: long tails.
LONG_TAILED = 0.05

SENTINELS = (-99999.0, -9999.0, -999.0, -99.0, -9.0, 99.0, 999.0, 9999.0, 99999.0)

# Counts have at least this many features, values up to at least this one, and totals of samples that differ by TOTALS.
COUNTED_FEATURES, LARGE_COUNT, TOTALS = 20, 20, 2.0

# A feature with at most CODES values, all of them whole numbers, is probably a code where another feature is measured,
# that is, has more than MEASURED values.
CODES, MEASURED = 6, 20

# A study is a duplicate if at least this part of its samples, and at least this number, are in another.
MOST_OF_STUDY, FEWEST_OF_STUDY = 0.5, 10

SHOWN = 3  # notes of each kind, and examples in each

VALUES = 4_000_000  # that are sorted at a time

IQR_OF_SD = 2 * NormalDist().inv_cdf(0.75)


@dataclass(frozen=True)
class Note:
    """Something to look at before studies are compared.

    Attributes
    ----------
    study : str
        The study, several with commas between them, or "all studies".
    kind : str
        "location", "spread", "duplicated study", "duplicated samples", "near-duplicated samples", "extreme values",
        "long tails", "constant features", "sentinel values", "raw counts", "small study", "codes", or "not checked".
    sentence : str
        What there is, with numbers.
    remedy : str
        What to do.
    """

    study: str
    kind: str
    sentence: str
    advice: str = field(repr=False)  # the remedy, in which arguments are marked

    @property
    def remedy(self) -> str:
        """What to do, in Python's terms."""
        return in_python(self.advice)


@dataclass(frozen=True)
class Comparability:
    """What to look at before studies are compared.

    Attributes
    ----------
    notes : tuple of Note
        Grouped by kind; empty where there is nothing to look at.

    See Also
    --------
    Studies.comparability : The checks.
    """

    notes: tuple[Note, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every note with its remedy."""
        return tuple(f"{note.sentence} {note.remedy}" for note in self.notes)

    def without(self, *kinds: str) -> Comparability:
        """Leave out notes of these kinds."""
        return Comparability(tuple(note for note in self.notes if note.kind not in kinds))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every note: study, kind, sentence, remedy."""
        import pandas as pd

        columns = ["study", "kind", "sentence", "remedy"]
        rows = [[getattr(note, column) for column in columns] for note in self.notes]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def __str__(self) -> str:
        return "\n".join(self.sentences) or "Nothing to look at."


def comparability(studies: Mapping[str, Study]) -> Comparability:
    """Look for what makes studies hard to compare, in their values.

    Parameters
    ----------
    studies : Studies, or mapping of name to Study
        With the same features; values may be missing.

    Returns
    -------
    Comparability

    Notes
    -----
    Means and standard deviations are those of values within 5 robust sd (interquartile range / 1.35) of the median,
    farther ones moved to that bound. Location and spread are compared with the median of the studies; of two studies,
    with each other.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> from clustrep import Studies
    >>> studies = Studies({"a": rng.normal(size=(50, 3)), "b": 10 + rng.normal(size=(50, 3))})
    >>> comparability(studies).to_frame()[["study", "kind"]]
      study      kind
    0  a, b  location
    """
    views = [_View.of(study) for study in studies.values()]
    notes = [*_small(views), *_counts(views), *_sentinels(views), *_extremes(views)]
    notes += [*_constants(views), *_codes(views, are_counts=any(note.kind == "raw counts" for note in notes))]
    notes += [*_differences(views), *_duplicates(views)]
    return Comparability(tuple(notes))


# ---------------------------------------------------------------------------------------------------------------------
# what all checks look at


class _Profile(NamedTuple):
    """The distribution of every feature in a study: arrays of shape (n_features,)."""

    n_known: FloatArray
    low: FloatArray
    high: FloatArray
    n_values: FloatArray
    middle: FloatArray  # the median
    spread: FloatArray  # the robust sd; 0 where half of the values are equal
    mean: FloatArray  # with values beyond BOUND moved to it
    sd: FloatArray
    ends: FloatArray  # (n_features, 2 · (MOST_CELLS + 1)): the lowest and highest values

    @classmethod
    def of(cls, X: FloatArray) -> _Profile:
        """Sort the features, some at a time."""
        step = max(1, VALUES // len(X))
        parts = [cls._of_few(np.sort(X[:, j : j + step].T, axis=1)) for j in range(0, X.shape[1], step)]
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def _of_few(cls, ordered: FloatArray) -> _Profile:
        """Take values in their order, missing ones last: (n_features, n_samples)."""
        missing = np.isnan(ordered)
        n_known = len(ordered[0]) - missing.sum(axis=1)
        last = np.maximum(n_known - 1, 0)

        def at(places: FloatArray) -> FloatArray:
            return np.asarray(np.take_along_axis(ordered, places.astype(np.int64)[:, None], axis=1)[:, 0], dtype=float)

        middle = (at(np.floor(last / 2)) + at(np.ceil(last / 2))) / 2
        spread = (at(np.ceil(0.75 * last)) - at(np.floor(0.25 * last))) / IQR_OF_SD
        bound = np.where(spread > 0, BOUND * spread, np.inf)[:, None]
        near = np.clip(np.asarray(ordered, dtype=float), middle[:, None] - bound, middle[:, None] + bound)
        near = np.where(missing, 0.0, near) if missing.any() else near
        count = np.maximum(n_known, 1)
        mean = near.sum(axis=1) / count
        near -= mean[:, None]
        squares = np.einsum("ij,ij->i", near, near) - missing.sum(axis=1) * mean**2
        n_values = 1 + ((ordered[:, 1:] != ordered[:, :-1]) & ~missing[:, 1:]).sum(axis=1)
        ends = [at(np.minimum(k, last)) for k in range(MOST_CELLS + 1)]
        ends += [at(np.maximum(last - k, 0)) for k in range(MOST_CELLS + 1)]
        low, high = ends[0], ends[MOST_CELLS + 1]
        sd = np.where(low == high, 0.0, np.sqrt(np.maximum(squares, 0) / count))
        return cls(n_known, low, high, n_values, middle, spread, mean, sd, np.stack(ends, axis=1))


class _View(NamedTuple):
    """A study, its values without sentinels, and their distribution."""

    study: Study
    X: FloatArray
    profile: _Profile
    masked: tuple[tuple[float, BoolArray], ...]  # sentinels, and the cells that hold them

    @classmethod
    def of(cls, study: Study) -> _View:
        profile, masked = _Profile.of(study.X), []
        X = study.X
        for value in SENTINELS:
            candidates = np.flatnonzero((profile.low == value) | (profile.high == value))
            columns = [j for j in candidates.tolist() if _is_far(value, study.X[:, j])]
            cells = np.zeros(study.X.shape, dtype=bool)
            if columns:
                cells[:, columns] = study.X[:, columns] == value
            if cells.sum() > 1:
                masked.append((value, cells))
                X = np.where(cells, np.nan, X)
        return cls(study, X, _Profile.of(X) if masked else profile, tuple(masked))

    @property
    def name(self) -> str:
        return printable(self.study.name)


def _is_far(value: float, column: FloatArray) -> bool:
    """Whether a sentinel is farther from all other values than these are from each other."""
    others = column[~np.isnan(column) & ~np.isin(column, SENTINELS)]
    if len(others) < 2 or others.max() == others.min():
        return False
    gap = others.min() - value if value < others.min() else value - others.max()
    return bool(gap > others.max() - others.min())


def _few(notes: Sequence[tuple[float, Note]]) -> Iterator[Note]:
    """Return the notes of one kind with the largest weights, and say how many there are beside them."""
    ordered = [note for _, note in sorted(notes, key=lambda entry: -entry[0])]
    yield from ordered[:SHOWN]
    if len(ordered) > SHOWN:
        kind, n_more = ordered[0].kind, len(ordered) - SHOWN
        yield Note(
            ALL,
            kind,
            f"There {'is' if n_more == 1 else 'are'} {plural(n_more, 'further note')} of this kind ({kind}).",
            "See to the largest first.",
        )


# ---------------------------------------------------------------------------------------------------------------------
# each study by itself


def _small(views: Sequence[_View]) -> Iterator[Note]:
    small = [view for view in views if len(view.X) < SMALL]
    if small:
        sizes = listing([f"{view.name} {len(view.X)}" for view in small])
        subject = plural(len(small), "study")
        yield Note(
            ", ".join(view.name for view in small) if len(small) <= SHOWN else ALL,
            "small study",
            f"{subject} {'has' if len(small) == 1 else 'have'} fewer than {SMALL} samples ({sizes}): too few to find "
            "clusters there or to exclude them.",
            "Add samples, or leave the study out.",
        )


def _counts(views: Sequence[_View]) -> Iterator[Note]:
    notes = []
    for view in views:
        X = view.study.X
        if X.shape[1] < COUNTED_FEATURES or view.study.scaling != "none" or not _are_counts(X):
            continue
        totals = X.sum(axis=1, dtype=float)
        low, high = np.quantile(totals, [0.05, 0.95])
        if high >= TOTALS * low and high > 0:
            sentence = (
                f"Study {view.name} holds whole numbers from 0 to {X.max():,.0f}, and the totals of its samples range "
                f"from {low:,.0f} to {high:,.0f} (5 % and 95 % quantiles): probably raw counts, whose distances are "
                "differences of totals."
            )
            advice = f"Normalise counts with {argument('normalise', 'log1p')}."
            notes.append((high / max(low, 1.0), Note(view.name, "raw counts", sentence, advice)))
    yield from _few(notes)


def _are_counts(X: FloatArray) -> bool:
    """Whether all values are whole numbers from 0, some of them large; most tables that are not show it at once."""
    for rows in (X[:10], X):
        if not ((rows >= 0) & (rows == np.rint(rows))).all():  # nor missing
            return False
    return bool(X.max() >= LARGE_COUNT)


def _sentinels(views: Sequence[_View]) -> Iterator[Note]:
    notes = []
    by_imputer = wording(
        python="by an imputer as the first step of the clusterer", command_line=f"by {argument('impute', 'median')}"
    )
    for view in views:
        for value, cells in view.masked:
            columns = np.flatnonzero(cells.any(axis=0))
            names = listing([repr(view.study.features[j]) for j in columns], SHOWN)
            sentence = (
                f"Study {view.name} holds {value:g} in {plural(int(cells.sum()), 'cell')} of "
                f"{plural(len(columns), 'feature')} ({names}), far from all other values there: probably a code for "
                "missing values."
            )
            advice = f"Make these cells empty, and fill them in {by_imputer}, or leave out the samples or features."
            notes.append((float(cells.sum()), Note(view.name, "sentinel values", sentence, advice)))
    yield from _few(notes)


def _extremes(views: Sequence[_View]) -> Iterator[Note]:
    notes, tails = [], []
    for view in views:
        profile, n = view.profile, len(view.X)
        if n < SMALL:
            continue
        scaled = profile.spread > 0
        quantile = NormalDist().inv_cdf(1 - ERROR_RATE / (2 * len(views) * len(scaled)))
        least = max(EXTREME, quantile * math.exp(quantile * ERROR_OF_SPREAD / math.sqrt(n)))
        unit = np.where(scaled, profile.spread, 1.0)[:, None]
        farthest = -np.sort(-np.abs(profile.ends - profile.middle[:, None]) / unit, axis=1)[:, : MOST_CELLS + 1]
        n_cells = np.zeros(len(unit), dtype=int)
        for count in range(1, max(1, min(MOST_CELLS, int(PART * n))) + 1):
            last, following = farthest[:, count - 1], farthest[:, count]
            alone = last >= np.where(following <= BOUND, 3.0, NEXT) * following
            n_cells[scaled & (last > least) & alone] = count
        columns = np.flatnonzero(n_cells)
        if not len(columns):
            continue
        distances = np.abs(view.X[:, columns] - profile.middle[columns]) / unit[columns, 0]
        cells = distances >= farthest[columns, n_cells[columns] - 1]
        samples = np.flatnonzero(cells.any(axis=1))
        if len(samples) > MOST_CELLS and len(columns) > max(MOST_CELLS + 2, LONG_TAILED * len(unit)):
            sentence = (
                f"In study {view.name}, {plural(len(columns), 'feature')} of {len(unit):,} have values beyond "
                f"{EXTREME:g} robust sd in different samples: long tails, which decide distances."
            )
            tails.append((len(columns), Note(view.name, "long tails", sentence, "Transform the features (logarithm).")))
            continue
        i, k = np.unravel_index(np.argmax(np.where(cells, distances, -1.0)), cells.shape)
        where = f"sample {view.study.samples[i]!r}, feature {view.study.features[columns[k]]!r}"
        more = plural(int(cells.sum()), "value")
        sentence = (
            f"Study {view.name} has {more} beyond {EXTREME:g} robust sd in {plural(len(samples), 'sample')} and "
            f"{plural(len(columns), 'feature')}; the farthest: {printable(where)}, {view.X[i, columns[k]]:g} "
            f"({distances[i, k]:,.0f} robust sd from the median {profile.middle[columns[k]]:.4g})."
        )
        advice = "Check for typing errors and units; correct these cells, or leave the samples out."
        notes.append((float(distances[i, k]), Note(view.name, "extreme values", sentence, advice)))
    yield from _few(notes)
    yield from _few(tails)


# ---------------------------------------------------------------------------------------------------------------------
# features of all studies


def _constants(views: Sequence[_View]) -> Iterator[Note]:
    features = views[0].study.features
    constant = np.array([view.profile.low == view.profile.high for view in views])  # (S, n_features)
    low, high = (np.array([getattr(view.profile, end) for view in views]) for end in ("low", "high"))
    everywhere = low.min(axis=0) == high.max(axis=0)
    if everywhere.any():
        names = listing([repr(features[j]) for j in np.flatnonzero(everywhere)], SHOWN)
        are = "is" if everywhere.sum() == 1 else "are"
        sentence = f"{plural(int(everywhere.sum()), 'feature')} {are} constant in all studies together ({names})."
        yield Note(ALL, "constant features", sentence, "Leave out what does not vary.")
    notes = []
    for view, column in zip(views, constant & ~everywhere, strict=True):
        if column.any():
            names = listing([repr(features[j]) for j in np.flatnonzero(column)], SHOWN)
            n_constant = plural(int(column.sum()), "feature")
            sentence = f"Study {view.name} has {n_constant} of {len(features):,} without any variation ({names})."
            advice = "Check whether they were measured there; if not, leave them out."
            notes.append((float(column.sum()), Note(view.name, "constant features", sentence, advice)))
    yield from _few(notes)


def _codes(views: Sequence[_View], *, are_counts: bool) -> Iterator[Note]:
    n_values = np.array([view.profile.n_values for view in views])  # (S, n_features)
    if are_counts or not (n_values > MEASURED).any() or sum(len(view.X) for view in views) < SMALL:
        return
    codes = []
    for j in np.flatnonzero((n_values <= CODES).all(axis=0)):
        feature = views[0].study.features[j]
        values = np.unique(np.concatenate([view.X[:, j] for view in views]))
        values = values[~np.isnan(values)]
        if 2 <= len(values) <= CODES and (values == np.rint(values)).all() and "=" not in feature:
            codes.append(f"{feature!r} ({', '.join(f'{value:g}' for value in values)})")
    if codes:
        subject, have = plural(len(codes), "feature"), "has" if len(codes) == 1 else "have"
        sentence = (
            f"{subject} {have} at most {CODES} values, all whole numbers, beside measured features: {listing(codes)}. "
            "Codes of categories have no distances."
        )
        advice = f"Write categories as words and use {argument('gower', True)}, or leave these features out."
        yield Note(ALL, "codes", sentence, advice)


# ---------------------------------------------------------------------------------------------------------------------
# differences between studies


def _differences(views: Sequence[_View]) -> Iterator[Note]:
    views = [view for view in views if len(view.X) >= FEWEST]
    if len(views) < 2:
        return
    mean, sd, spread, n_known = (
        np.array([getattr(view.profile, name) for view in views]) for name in ("mean", "sd", "spread", "n_known")
    )  # (S, n_features)
    typical = np.median(sd, axis=0)
    error = NormalDist().inv_cdf(1 - ERROR_RATE / (2 * mean.size)) / np.sqrt(np.maximum(n_known, 1))
    error = error + np.median(error, axis=0)  # of the study, and of what it is compared with
    if len(views) == 2:
        centre, centre_sd = mean[::-1], sd[::-1]
    else:
        centre, centre_sd = np.median(mean, axis=0)[None], typical[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(typical > 0, (mean - centre) / typical, 0.0)
        factor = np.where((sd > 0) & (centre_sd > 0) & (spread > 0).all(axis=0), sd / centre_sd, 1.0)
    is_shifted = np.abs(shift) > np.maximum(SHIFT, error)
    is_spread = np.abs(np.log(factor)) > np.maximum(math.log(FACTOR), error)
    pairs = [views[0]] if len(views) == 2 else views  # of two studies, both differ alike
    locations, spreads = [], []
    for s, view in enumerate(pairs):
        features, n_features = view.study.features, mean.shape[1]
        who = ", ".join(view.name for view in views) if len(views) == 2 else view.name
        others = views[1].name if len(views) == 2 else "the other studies"
        if n_shifted := int(is_shifted[s].sum()):
            j = int(np.argmax(np.where(is_shifted[s], np.abs(shift[s]), 0)))
            sentence = (
                f"Study {view.name} differs from {others} by more than {SHIFT:g} sd within studies in the location of "
                f"{n_shifted:,} of {plural(n_features, 'feature')}, most in {features[j]!r}: mean {mean[s, j]:.4g} "
                f"against {np.broadcast_to(centre, mean.shape)[s, j]:.4g}, {shift[s, j]:+.1f} sd. Where there are "
                "clusters, this is a batch effect or another composition."
            )
            advice = (
                f"For a batch effect use {argument('scale', 'study')}, if all studies have the same clusters in "
                f"similar shares. For another composition keep the differences ({argument('scale', 'pooled')})."
            )
            locations.append((n_shifted + abs(shift[s, j]), Note(who, "location", printable(sentence), advice)))
        if n_spread := int(is_spread[s].sum()):
            j = int(np.argmax(np.where(is_spread[s], np.abs(np.log(factor[s])), 0)))
            sentence = (
                f"Study {view.name} differs from {others} by a factor of more than {FACTOR:g} in the spread of "
                f"{n_spread:,} of {plural(n_features, 'feature')}, most in {features[j]!r}: sd {sd[s, j]:.4g} against "
                f"{np.broadcast_to(centre_sd, sd.shape)[s, j]:.4g}. Units differ or, with clusters, composition."
            )
            advice = (
                f"Check the units. If these differ, convert them or use {argument('scale', 'study')}; for another "
                f"composition keep the differences ({argument('scale', 'pooled')})."
            )
            spreads.append((n_spread + abs(math.log(factor[s, j])), Note(who, "spread", printable(sentence), advice)))
    yield from _few(locations)
    yield from _few(spreads)


# ---------------------------------------------------------------------------------------------------------------------
# samples that occur twice


def _duplicates(views: Sequence[_View]) -> Iterator[Note]:
    tables = [view.study.X for view in views]
    sizes = [len(X) for X in tables]
    study_of = np.repeat(np.arange(len(views)), sizes)
    groups = duplicates.equal_rows(tables)
    first = np.ones(len(study_of), dtype=bool)  # of equal rows
    for group in groups:
        first[group[1:]] = False
    step = -(-len(first) // duplicates.MOST_SAMPLES)
    kept = np.split(first & (np.arange(len(first)) % step == 0), np.cumsum(sizes)[:-1])
    short = duplicates.shortened(_scaled(views, kept, by_itself=False))
    dimension = duplicates.dimension_of(short)
    pairs = _equal_pairs(tables, groups, study_of, dimension)
    if step > 1:
        sentence = (
            f"Near-duplicated samples were not searched for: {len(study_of):,} samples are more than "
            f"{duplicates.MOST_SAMPLES:,}. Equal samples were."
        )
        yield Note(ALL, "not checked", sentence, "Search in parts of the studies.")
    elif first.sum() >= max(SMALL, len(first) / 3):  # not where most rows are equal to others
        near = duplicates.near_rows(short, dimension)
        if len(views) > 1:  # a study that was processed otherwise lies elsewhere as a whole
            again = duplicates.shortened(_scaled(views, kept, by_itself=True))
            near += duplicates.near_rows(again, dimension)
        places = np.flatnonzero(first).tolist()
        pairs += sorted({(i, j): Pair(places[i], places[j], ratio) for i, j, ratio in near}.values())
    yield from _of_pairs(views, pairs, study_of)


def _equal_pairs(
    tables: Sequence[FloatArray], groups: Sequence[IntArray], study_of: IntArray, dimension: float
) -> list[Pair]:
    """Return pairs of equal samples; where values are few, so that chance explains these, of equal studies only."""
    if not groups:
        return []
    pairs: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for group in groups:
        members = {s: group[study_of[group] == s].tolist() for s in np.unique(study_of[group]).tolist()}
        for s, of_s in members.items():
            pairs[s, s] += [Pair(of_s[0], other, 0.0) for other in of_s[1:]]
            for t in members:
                if s < t:
                    pairs[s, t] += [Pair(i, j, 0.0) for i, j in zip(of_s, members[t], strict=False)]
    probability = duplicates.equal_by_chance(tables, groups, dimension)
    n_rows = len(study_of)
    if probability * n_rows * (n_rows - 1) / 2 > duplicates.BY_CHANCE:
        sizes = [len(X) for X in tables]
        for s, t in list(pairs):
            smaller, larger = sorted((sizes[s], sizes[t]))
            all_by_chance = -math.expm1(-probability * larger)  # that a sample of the smaller is in the larger
            is_chance = smaller < larger and all_by_chance**smaller > duplicates.BY_CHANCE
            if s == t or is_chance or not smaller == len(pairs[s, t]) >= FEWEST_OF_STUDY:
                del pairs[s, t]
    return [pair for among in pairs.values() for pair in among]


def _scaled(views: Sequence[_View], kept: Sequence[BoolArray], *, by_itself: bool) -> Iterator[FloatArray]:
    """Standardise features by mean and sd, of the study or of all; missing values become 0, extreme ones bounded.

    Without features of which half of the values are equal in a study: samples are not near because most is zero.
    """
    varies = np.all([view.profile.spread > 0 for view in views], axis=0)
    sds, means = ([getattr(view.profile, name)[varies] for view in views] for name in ("sd", "mean"))
    sd, mean = np.sqrt(np.mean(np.square(sds), axis=0)), np.mean(means, axis=0)
    for s, (view, rows) in enumerate(zip(views, kept, strict=True)):
        Z = (view.X[np.ix_(rows, varies)] - (means[s] if by_itself else mean)) / (sds[s] if by_itself else sd)
        Z = np.clip(Z, -2 * EXTREME, 2 * EXTREME, out=Z)
        yield np.where(np.isnan(Z), 0.0, Z)


def _of_pairs(views: Sequence[_View], pairs: Sequence[Pair], study_of: IntArray) -> Iterator[Note]:
    """Report pairs by the studies that they are in: as duplicated studies, or as samples."""
    begins = np.cumsum([0, *(len(view.X) for view in views)])

    def name_of(place: int) -> str:
        s = int(study_of[place])
        return str(views[s].study.samples[place - begins[s]])

    def is_constant(place: int) -> bool:  # an empty sample, or a person who always gave the same answer
        s = int(study_of[place])
        row = views[s].study.X[place - begins[s]]
        return len(row) > 1 and bool((row == row[0]).all())

    by_studies: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_studies[int(study_of[pair.first]), int(study_of[pair.second])].append(pair)
    notes: dict[str, list[tuple[float, Note]]] = {"study": [], "equal": [], "near": []}
    for (s, t), among in by_studies.items():
        who = views[s].name if s == t else f"{views[s].name}, {views[t].name}"
        smaller = min(len(views[s].X), len(views[t].X))
        matched = len(among)
        if s != t and matched >= max(MOST_OF_STUDY * smaller, FEWEST_OF_STUDY):
            sentence = (
                f"{matched:,} of {smaller:,} samples of the smaller of the studies {views[s].name} and {views[t].name} "
                "are in the other as well: scores between the two are not evidence."
            )
            advice = "Leave out one of the two studies, or the samples that both have."
            notes["study"].append((matched, Note(who, "duplicated study", sentence, advice)))
            continue
        for key, kind, verbs, words in (
            ("equal", "duplicated samples", ("has", "have"), "the same values"),
            ("near", "near-duplicated samples", ("is", "are"), "much closer to each other than to any third sample"),
        ):
            chosen = [pair for pair in among if (pair.ratio == 0) == (key == "equal") and not is_constant(pair.first)]
            named = s != t and views[s].study.samples_are_named and views[t].study.samples_are_named
            chosen = [pair for pair in chosen if not named or name_of(pair.first) != name_of(pair.second)]
            if chosen:
                names = [f"{name_of(pair.first)} and {name_of(pair.second)}" for pair in chosen]
                where = f"in study {views[s].name}" if s == t else f"in studies {views[s].name} and {views[t].name}"
                subject = f"{plural(len(chosen), 'pair')} of samples {where} {verbs[len(chosen) > 1]}"
                sentence = f"{subject} {words}: {listing(names, SHOWN)}."
                advice = "Keep one of each, unless they are different individuals."
                notes[key].append((len(chosen), Note(who, kind, sentence, advice)))
    for kind_notes in notes.values():
        yield from _few(kind_notes)

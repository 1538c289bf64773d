"""The clusters of all studies together: those of each study, matched, then looked for in every study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from clustrep.execution.seeds import make_generator
from clustrep.findings.coordinates import Coordinates, within_sd
from clustrep.findings.matching import match_centres, nearest_neighbour, scale_of
from clustrep.findings.own import OwnClusters, Propose, compact, joined_where_filled, own_clusters, valleys
from clustrep.findings.placement import Placed, locate, refine
from clustrep.separation.valleys import FEWEST, SHRINKAGE, centres_of, nearest_centre
from clustrep.summaries import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# Clusters of the studies by themselves count if their p-value, adjusted for the studies, is at most this: it is not
# the level of the verdict.
OWN_LEVEL = 2 * FALSE_FINDING
# Valleys are looked for within the studies, and across them.
ROADS = 2
# Steps in which samples on the wrong side of a border between clusters are moved: few change after the first.
SETTLING = 5
# Clusters of all studies together are this many sd apart at least; valleys need 3.5.
CLOSEST = 2.0
# A cluster that one study alone has is explained by two known ones if these leave no more than this times the
# variance of the others.
EXPLAINED = 1.3
# These two known clusters lie within this share of the distance to their neighbours from where they are expected: a
# mean that wandered to another cluster explains its samples, too.
NEAR = 0.6
# A study with one cluster: which one it is, is undetermined unless it lies within this share of the separation from
# its place, and beyond the quarter point of the line to the next one: D₂² − D₁² ≥ ½ separation².
CLOSE_TO_ITS_PLACE, BEYOND = 0.75, 0.5


@dataclass(eq=False)
class Place:
    """Where one study lies, and its samples' clusters.

    shift : (n_coordinates,), or None where no cluster of it was matched: then nothing is known about its shift
    merged : sets of clusters without a valley between them in this study
    split : clusters that this study shows as two
    """

    shift: FloatArray | None
    scale: float
    labels: IntArray
    is_own: bool = True  # matched by its own clusters
    merged: frozenset[frozenset[int]] = frozenset()
    split: frozenset[int] = frozenset()
    undetermined: bool = False

    def renumbered(self, number: IntArray) -> Place:
        """Return the same place with other numbers of clusters, (n_clusters,): equal for those that are joined."""
        merged = (frozenset(int(number[c]) for c in group if number[c] >= 0) for group in self.merged)
        return replace(
            self,
            labels=number[self.labels],
            merged=frozenset(group for group in merged if len(group) > 1),
            split=frozenset(int(number[c]) for c in self.split if number[c] >= 0),
        )

    @property
    def unmatched(self) -> bool:
        """Whether none of its clusters could be matched."""
        return self.shift is None


@dataclass(frozen=True, eq=False)
class Model:
    """The joint clusters, and where every study lies.

    pvalue : of the valleys, over all that was tried in these coordinates
    X : whitened coordinates by study
    metric : (n_coordinates, n_coordinates): whitened = coordinates @ metric
    centres : (n_clusters, n_coordinates), whitened; empty without clusters
    """

    pvalue: float
    coordinates: Coordinates
    own: list[OwnClusters]
    X: list[FloatArray] = field(default_factory=list)
    metric: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    centres: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    places: list[Place] = field(default_factory=list)
    is_known: bool = False  # clusters were given: they stay as they are

    @property
    def n_clusters(self) -> int:
        """The number of clusters, 1 without valleys."""
        return max(len(self.centres), 1)


def model_of(coordinates: Coordinates, propose: Propose, seed: int, own: Sequence[OwnClusters] | None = None) -> Model:
    """Find the clusters of every study by itself, match them, and look for all of them in every study.

    Parameters
    ----------
    coordinates : Coordinates
    propose : function
        Partitions of tables by the clusterers that were asked for.
    seed : int
        Every study is split by the same seed, so that equal studies have equal clusters.
    own : sequence of OwnClusters, optional
        Known clusters of the studies instead.
    """
    tables, is_known = coordinates.by_study, own is not None
    tested = find_valleys(tables, propose, seed, own)
    pvalue, own, pooled = tested.pvalue, tested.own, tested.pooled
    shown = by_study(tables, own, pooled)
    if any(each.n_clusters > 1 for each in shown):
        pooled = replace(pooled, labels=None)
    if not any(each.n_clusters > 1 for each in shown) and pooled.labels is None:
        return Model(pvalue, coordinates, list(own))
    if not is_known and pooled.labels is None:
        shown = settled(tables, shown)
    joint = _Joint.of(tables, shown, pooled, seed)
    joint.match_own_clusters()
    if is_known:
        joint.places |= {s: joint.single(s) for s in range(len(own)) if s not in joint.places}
    else:
        joint.explain_new_clusters()
        joint.place_all_studies()
    places = [joint.places[s] for s in range(len(own))]
    return Model(pvalue, coordinates, list(own), joint.X, joint.metric, joint.centres, places, is_known)


# ---------------------------------------------------------------------------------------------------------------------
# density valleys: within a study, or across


@dataclass(frozen=True, eq=False)
class Valleys:
    """Density valleys of several studies: the p-value of any, and the clusters between them."""

    pvalue: float
    own: list[OwnClusters]
    pooled: Pooled


def find_valleys(
    tables: Sequence[FloatArray], propose: Propose, seed: int, own: Sequence[OwnClusters] | None = None
) -> Valleys:
    """Look for valleys between the halves of every study; where there are none, across studies.

    The p-value is adjusted for the studies, the alignments, and the two roads (Bonferroni).
    """
    if own is None:
        alone = [own_clusters(X, propose, make_generator(np.random.SeedSequence(seed))) for X in tables]
        own = [
            each if each.pvalue * len(alone) <= OWN_LEVEL else OwnClusters(each.pvalue, 0 * each.labels)
            for each in alone
        ]
    p_own = len(own) * min(each.pvalue for each in own)
    roads = ROADS if len(own) > 1 else 1
    is_strong = any(each.n_clusters > 1 for each in own) and roads * p_own <= FALSE_FINDING
    pooled = Pooled(1.0) if is_strong or len(own) < 2 else _valleys_across(tables, propose, seed)
    if pooled.pvalue < p_own and pooled.labels is not None:  # the clearer road is taken
        own = [OwnClusters(each.pvalue, 0 * each.labels) for each in own]
    else:
        pooled = replace(pooled, labels=None)
    return Valleys(min(1.0, roads * min(p_own, pooled.pvalue)), list(own), pooled)


def by_study(tables: Sequence[FloatArray], own: Sequence[OwnClusters], pooled: Pooled) -> Sequence[OwnClusters]:
    """Return the clusters of each study that are matched: its own, or its share of the pooled ones where some lack any.

    Centring takes composition for a shift: a study that lacks a cluster is moved, and its clusters may be pooled apart.
    """
    if pooled.labels is None:
        return own
    labels = np.split(pooled.labels, np.cumsum([len(X) for X in tables])[:-1])
    n_clusters = int(pooled.labels.max()) + 1
    counts = np.array([np.bincount(of_study, minlength=n_clusters) for of_study in labels])
    if (counts >= FEWEST).all():
        return own
    found = []
    for X, of_study, n in zip(tables, labels, counts, strict=True):
        few = np.where((n >= FEWEST)[of_study], of_study, -1)
        near = np.maximum(nearest_centre(X, centres_of(X, few, n_clusters)), 0)
        found.append(OwnClusters(pooled.pvalue, joined_where_filled(X, np.where(few >= 0, few, near))))
    return found


@dataclass(frozen=True, eq=False)
class Pooled:
    """Clusters of all studies pooled; labels is None where there are none."""

    pvalue: float
    labels: IntArray | None = None  # (n_samples,)
    X: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # aligned
    shifts: list[FloatArray] = field(default_factory=list)


def _valleys_across(tables: Sequence[FloatArray], propose: Propose, seed: int) -> Pooled:
    """Look for valleys in studies that did not define them, under several alignments (Bonferroni).

    Studies are centred at their means, and placed by two or three clusters of the largest study: a constant added to a
    study makes no difference. Where these show nothing, they are pooled without alignment.
    """
    fold_of_study = folds_without_copies(tables)
    if not fold_of_study.any():
        return Pooled(1.0)
    fold = np.repeat(fold_of_study, [len(X) for X in tables])
    largest = int(np.argmax([len(X) for X in tables]))
    alignments = [[X.mean(axis=0) for X in tables]]
    for k in (2, 3):
        labels = k_means(tables[largest], k, seed)
        centres = centres_of(tables[largest], labels, k)
        sd = float(np.sqrt(np.mean((tables[largest] - centres[labels]) ** 2))) or 1.0
        places = centres / sd
        shifts = [
            locate(X / sd, places, starts_of(X / sd, places, seed), always_shifted=True).shift * sd for X in tables
        ]
        shifts[largest] = np.zeros(tables[0].shape[1])
        alignments.append(shifts)
    alignments.append([np.zeros(tables[0].shape[1])] * len(tables))
    best = Pooled(1.0)
    for shifts in alignments:
        if shifts is alignments[-1] and ROADS * len(alignments) * best.pvalue <= FALSE_FINDING:
            break
        X = np.concatenate([table - shift for table, shift in zip(tables, shifts, strict=True)])
        pools = [X, *(X[fold != h] for h in range(fold.max() + 1))]
        found = valleys(X, fold, propose(pools))
        if found.n_clusters > 1 and found.pvalue < best.pvalue:
            best = Pooled(found.pvalue, found.labels, X, shifts)
    return replace(best, pvalue=min(1.0, len(alignments) * best.pvalue))


def folds_without_copies(tables: Sequence[FloatArray]) -> IntArray:
    """Number the studies, (n_studies,); those that share samples have one number: a copy is no independent test."""
    fold = np.arange(len(tables))
    rows = [{row.tobytes() for row in np.ascontiguousarray(table)} for table in tables]
    for s in range(len(tables)):
        for t in range(s):
            if rows[s] & rows[t]:
                fold[fold == fold[s]] = fold[t]
    return compact(fold)


def k_means(X: FloatArray, k: int, seed: int, n_init: int = 5) -> IntArray:
    """Partition samples by k-means: hypotheses about where clusters are, not the clusters that are reported."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(k, n_init=n_init, random_state=seed % 2**32).fit_predict(X), dtype=np.int64)


def starts_of(X: FloatArray, centres: FloatArray, seed: int) -> list[tuple[FloatArray, FloatArray]]:
    """Return hypotheses about a study's shift: any of its k-means centres, for up to 4, is any of the known ones."""
    starts = [(X.mean(axis=0), centres.mean(axis=0))]
    for k in range(1, min(len(centres), 4, max(1, len(X) // 5)) + 1):
        own = X.mean(axis=0)[None] if k == 1 else centres_of(X, k_means(X, k, seed, 3), k)
        starts += [(here, there) for here in own for there in centres]
    return starts


# ---------------------------------------------------------------------------------------------------------------------
# the joint clusters


@dataclass(eq=False)
class _Joint:
    """The joint clusters while they are being found: their centres, and where every study lies."""

    X: list[FloatArray]  # whitened
    metric: FloatArray
    own: Sequence[OwnClusters]
    spread: list[float]  # within clusters, of every study
    seed: int
    order: list[int]  # studies with clusters of their own; the first defines the coordinates
    centres: FloatArray
    places: dict[int, Place]

    @classmethod
    def of(cls, tables: Sequence[FloatArray], own: Sequence[OwnClusters], pooled: Pooled, seed: int) -> _Joint:
        order = sorted(
            (s for s, each in enumerate(own) if each.n_clusters > 1),
            key=lambda s: (-own[s].n_clusters, own[s].pvalue, -len(tables[s])),
        )
        if pooled.labels is None:
            metric = whitening([tables[s] for s in order], [own[s].labels for s in order])
        else:
            metric = whitening([pooled.X], [pooled.labels])
        X: list[FloatArray] = [table @ metric for table in tables]
        spread = [
            float(np.sqrt(np.mean(within_sd(x, each.labels) ** 2))) if each.n_clusters > 1 else 1.0
            for x, each in zip(X, own, strict=True)
        ]
        if pooled.labels is not None:
            ends = np.cumsum([len(table) for table in tables])[:-1]
            labels = np.split(compact(pooled.labels), ends)
            places = {s: Place(pooled.shifts[s] @ metric, 1.0, labels[s]) for s in range(len(tables))}
            centres = centres_of(pooled.X @ metric, compact(pooled.labels), int(pooled.labels.max()) + 1)
        else:
            first = order[0]
            centres = centres_of(X[first], own[first].labels, own[first].n_clusters)
            places = {first: Place(np.zeros(X[first].shape[1]), 1.0, own[first].labels)}
        return cls(X, metric, own, spread, seed, order, centres, places)

    @property
    def n_clusters(self) -> int:
        return len(self.centres)

    @property
    def closest(self) -> float:
        """The distance below which two joint clusters are one."""
        return CLOSEST * (self.spread[self.order[0]] if self.order else 1.0)

    def means(self, s: int, labels: IntArray) -> FloatArray:
        """Return the study's own centres of the joint clusters, NaN where it has none."""
        return centres_of(self.X[s], labels, self.n_clusters)

    def joint_centres(self, places: dict[int, Place]) -> FloatArray:
        """Average the centres of the studies, moved back to the common place, weighted by √n."""
        total, weight = np.zeros_like(self.centres), np.zeros(self.n_clusters)
        for s, place in places.items():
            if place.shift is None or place.undetermined:
                continue
            counts = np.bincount(place.labels, minlength=self.n_clusters)
            there = counts >= FEWEST
            there[[c for group in place.merged for c in group]] = False
            moved = (self.means(s, place.labels) - place.shift) / place.scale
            total[there] += np.sqrt(counts[there])[:, None] * moved[there]
            weight[there] += np.sqrt(counts[there])
        known = weight > 0
        return np.where(known[:, None], total / np.where(known, weight, 1.0)[:, None], self.centres)

    def drop_unused(self) -> None:
        """Leave out clusters that no study has, and number the others again."""
        used = np.unique(np.concatenate([place.labels for place in self.places.values()]))
        number = np.full(self.n_clusters, -1)
        number[used] = np.arange(len(used))
        self.places = {s: place.renumbered(number) for s, place in self.places.items()}
        self.centres = self.centres[used]

    # -----------------------------------------------------------------------------------------------------------------
    # clusters of the studies by themselves

    def match_own_clusters(self) -> None:
        """Match the own clusters of every study to the joint ones, twice; unmatched ones are new joint clusters."""
        if len(self.order) == 0:
            return
        for s in self.order[1:]:
            self._match(s)
        if len(self.order) > 2:
            for s in self.order:
                self._match(s)

    def explain_new_clusters(self) -> None:
        """Give up clusters that one study alone has where known ones explain its samples as well."""
        for s in self.order[1:]:
            self._explain_new(s)

    def _match(self, s: int) -> None:
        others = {t: place for t, place in self.places.items() if t != s}
        if s in self.places and not self.places[s].unmatched and others:
            used = np.unique(np.concatenate([place.labels for place in others.values()]))
            known = self.joint_centres(others)[used]
        else:
            used, known = np.arange(self.n_clusters), self.centres
        own = self.own[s]
        here = centres_of(self.X[s], own.labels, own.n_clusters)
        ratio = self.spread[s] / self.spread[self.order[0]]
        match = match_centres(known, here, ratio)
        names = np.full(own.n_clusters, -1)
        shift, scale = match.shift, scale_of(known, here, match, ratio)
        if match.pairs:
            i, j = np.array(match.pairs).T
            names[j] = used[i]
            shift = (here[j] - scale * known[i]).mean(axis=0)
        for new in np.flatnonzero(names < 0):
            place = (here[new] - shift) / scale if match.pairs else here[new]
            distance = np.linalg.norm(known - place, axis=1)
            distance[np.isin(used, names)] = np.inf
            if match.pairs and distance.min() < self.closest:  # its neighbours are too near for a match: one is split
                names[new] = used[distance.argmin()]
                continue
            names[new] = self.n_clusters
            self.centres = np.vstack([self.centres, place])
        self.places[s] = Place(shift if match.pairs else None, scale, names[own.labels])
        self.drop_unused()
        self.centres = self.joint_centres(self.places)

    def _explain_new(self, s: int) -> None:
        """Give up clusters that one study alone has where two known ones, joined there, explain its samples as well."""
        place = self.places[s]
        if place.shift is None:
            return
        elsewhere = np.unique(np.concatenate([other.labels for t, other in self.places.items() if t != s]))
        here = np.unique(place.labels)
        new = np.setdiff1d(here, elsewhere)
        old = np.setdiff1d(np.arange(self.n_clusters), new)
        if len(new) == 0 or len(old) < 2:
            return
        X, own = self.X[s], self.means(s, place.labels)
        was_new = np.isin(place.labels, new)
        expected = place.shift + place.scale * self.centres[old]
        placed = refine(X, expected, own[old])
        labels = old[placed.labels]
        off = np.linalg.norm(self.means(s, labels)[old] - expected, axis=1)
        if (off > NEAR * place.scale * nearest_neighbour(self.centres)[old]).any():  # NaN for those it has not
            return
        residual = ((X - self.means(s, labels)[labels]) ** 2).sum(axis=1)
        usual = residual[~was_new].mean() if (~was_new).any() else 0.0
        limit = EXPLAINED * max(usual, place.scale**2 * X.shape[1])
        if placed.n_groups >= len(here) and residual[was_new].mean() <= limit:
            place.labels = labels
            self.drop_unused()
            self.centres = self.joint_centres(self.places)

    # -----------------------------------------------------------------------------------------------------------------
    # every study, sample by sample

    def place_all_studies(self) -> None:
        """Look for all joint clusters in every study; then for finer ones that all studies together show, once."""
        for again in (True, False):
            for s in range(len(self.X)):
                self._place(s)
            self.centres = self.joint_centres(self.places)
            if not again or not (self._drop_close() or self._refine_together()):
                break
        self.drop_unused()

    def _place(self, s: int) -> None:
        place = self.places.get(s)
        if place is not None and place.unmatched:
            return
        X, nothing = self.X[s], np.full_like(self.centres, np.nan)
        ways = []
        if place is not None and place.is_own:
            assert place.shift is not None
            expected = place.shift + place.scale * self.centres
            ways.append((place.shift, place.scale, refine(X, expected, self.means(s, place.labels))))
        if not ways or ways[0][2].n_groups < self.n_clusters:
            found = locate(X, self.centres, starts_of(X, self.centres, self.seed))
            expected = found.shift + found.scale * self.centres
            ways.append((found.shift, found.scale, refine(X, expected, nothing)))
        shift, scale, placed = max(ways, key=lambda way: way[2].n_groups)  # the first of equals
        is_own = place is not None and place.is_own
        if placed.n_groups == 1 and self.n_clusters > 1:
            self.places[s] = self.single(s, is_own=is_own)
            return
        if placed.n_groups > 1:
            shift = _shift_of_groups(X, placed, scale * self.centres)
        self.places[s] = Place(shift, scale, placed.labels, is_own, placed.merged)

    def single(self, s: int, *, is_own: bool = False) -> Place:
        """Say which joint cluster a study with a single one has: one that is clearly nearest, without any shift."""
        X = self.X[s]
        middle = np.median(X, axis=0)
        distance = np.linalg.norm(self.centres - middle, axis=1)
        first, second = np.argsort(distance, kind="stable")[:2]
        apart = float(np.linalg.norm(self.centres[first] - self.centres[second]))
        beyond = distance[second] ** 2 - distance[first] ** 2 >= BEYOND * apart**2
        labels = np.full(len(X), first)
        undetermined = not (beyond and distance[first] <= CLOSE_TO_ITS_PLACE * apart)
        return Place(middle - self.centres[first], 1.0, labels, is_own, undetermined=undetermined)

    def _drop_close(self) -> bool:
        """Drop the smaller of two joint clusters that are too close to be apart; return whether any was dropped."""
        dropped = False
        while self.n_clusters > 2:
            distances = np.linalg.norm(self.centres[:, None] - self.centres, axis=-1)
            np.fill_diagonal(distances, np.inf)
            if distances.min() >= self.closest:
                break
            counts = np.sum([np.bincount(p.labels, minlength=self.n_clusters) for p in self.places.values()], axis=0)
            pair = np.unravel_index(int(distances.argmin()), distances.shape)
            gone = int(min(pair, key=lambda c: counts[c]))
            self.centres = np.delete(self.centres, gone, axis=0)
            for s, place in self.places.items():
                X = self.X[s] if place.shift is None else (self.X[s] - place.shift) / place.scale
                moved = place.labels - (place.labels > gone)
                place.labels = np.where(place.labels == gone, nearest_centre(X, self.centres), moved)
            dropped = True
        return dropped

    def _refine_together(self) -> bool:
        """Take a finer partition of all studies together, each cluster at its joint place, where it has valleys."""
        usable = [s for s, place in self.places.items() if not place.unmatched and not place.undetermined]
        if len(usable) < len(self.places):
            return False
        usable.sort()
        moved = []
        for s in usable:
            place = self.places[s]
            own = self.means(s, place.labels)[place.labels]
            moved.append((self.X[s] - own) / place.scale + self.centres[place.labels])
        X = np.concatenate(moved)
        rng = make_generator(np.random.SeedSequence(self.seed))
        fold = np.concatenate([rng.permutation(len(x)) % 2 for x in moved])
        numbers = range(max(2, self.n_clusters), self.n_clusters + 3)
        partitions = [[k_means(rows, k, self.seed) for k in numbers] for rows in (X, X[fold != 0], X[fold != 1])]
        finer = valleys(X, fold, partitions)
        labels = joined_where_filled(X, finer.labels)
        if finer.pvalue > FALSE_FINDING or labels.max() + 1 <= self.n_clusters:
            return False
        self.centres = centres_of(X, labels, int(labels.max()) + 1)
        ends = np.cumsum([len(x) for x in moved])[:-1]
        for s, of_study in zip(usable, np.split(labels, ends), strict=True):
            self.places[s].labels = of_study
        return True


def _shift_of_groups(X: FloatArray, placed: Placed, centres: FloatArray) -> FloatArray:
    """Return the mean difference between the groups of a study and the same samples at the joint centres."""
    group = placed.group[placed.labels]
    differences = [
        X[group == g].mean(axis=0) - centres[placed.labels[group == g]].mean(axis=0) for g in np.unique(group)
    ]
    return np.asarray(np.mean(differences, axis=0))


def settled(tables: Sequence[FloatArray], own: Sequence[OwnClusters]) -> list[OwnClusters]:
    """Give every sample to the nearest centre in whitened coordinates, until nothing changes.

    Clusterers draw borders in different places. A few samples beyond theirs widen clusters towards each other, and all
    distances in that direction shrink.
    """
    own = list(own)
    shown = [s for s, each in enumerate(own) if each.n_clusters > 1]
    for _ in range(SETTLING):
        metric = whitening([tables[s] for s in shown], [own[s].labels for s in shown])
        now = {}
        for s in shown:
            X, labels = tables[s] @ metric, own[s].labels
            now[s] = nearest_centre(X, centres_of(X, labels, own[s].n_clusters))
        if all(np.array_equal(labels, own[s].labels) for s, labels in now.items()):
            break
        for s, labels in now.items():
            if len(np.unique(labels)) == own[s].n_clusters:
                own[s] = OwnClusters(own[s].pvalue, labels)
    return own


def whitening(tables: Sequence[FloatArray], labels: Sequence[IntArray]) -> FloatArray:
    """Return the matrix that makes the covariance within clusters the identity, (n_coordinates, n_coordinates).

    Every study has the same weight of spread: its residuals are divided by their own size first.
    """
    residuals, sizes, lost = [], [], 0
    for X, clusters in zip(tables, labels, strict=True):
        centres = centres_of(X, clusters, int(clusters.max()) + 1)
        residual = X - centres[clusters]
        size = float(np.sqrt(np.mean(residual**2))) or 1.0
        residuals.append(residual / size)
        sizes.append(size)
        lost += len(np.unique(clusters))
    R = np.concatenate(residuals) * np.median(sizes)
    covariance = R.T @ R / max(len(R) - lost, 1)
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.diag(np.diag(covariance))
    covariance += 1e-9 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors / np.sqrt(values) @ vectors.T)

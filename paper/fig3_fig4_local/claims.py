"""Fig. 3 and 4 (Section 4.3): local replicability at three points, and on a grid."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

import clustrep as cr
from paper.common import FAILS, HOLDS, Claim, clearly_positive, number, row, share, verdict_of
from paper.fig3_fig4_local.figures import draw_plane, draw_points
from paper.fig3_fig4_local.runs import MEANS, PUBLISHED, WRITTEN, Mixtures, Pairs, by_region, grid

PRINTED = (0.52, 0.29, 0.00)
LETTERS = "ABC"
PAIRS = tuple(combinations(range(3), 2))


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Score A, B and C and the plane, as written and as published."""
    more, n_fresh, n_pairs = (200, 150, 12) if quick else (1000, 1000, 50)
    both = (WRITTEN, PUBLISHED)
    fresh = [mixtures.on_fresh(n_fresh) for mixtures in both]
    pairs = [Pairs.of(mixtures, n_pairs) for mixtures in both]
    boot = [WRITTEN.local(WRITTEN.points, more), PUBLISHED.local(PUBLISHED.points, PUBLISHED.n_resamples)]
    figures = [draw_points(mixtures, result, out) for mixtures, result in zip(both, boot, strict=True)]
    points = [at_points for at_points, _ in fresh]
    return [
        points_claim(*points, boot[0], figures[0]),
        numbers_claim(*pairs, figures[1]),
        clusters_claim(*pairs),
        mechanism_claim(*pairs),
        plane_claim(*((60, 40, 40) if quick else (250, 80, 100)), more, out),
        global_claim(*fresh),
    ]


def points_claim(
    ours: np.ndarray, theirs: np.ndarray, boot: cr.results.LocalReplicability, figures: tuple[str, ...]
) -> Claim:
    """Scores are high at A, lower at B, and zero at C."""
    differences, differences_published = (
        [scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, 2]] for scores in (ours, theirs)
    )
    parts = [*map(clearly_positive, differences), abs(ours[:, 2].mean()) < 0.005]
    verdict = verdict_of(parts)
    plainly = f"Not all of this comes out: {sum(parts)} of {len(parts)} parts do."
    if verdict == HOLDS:
        sharper = clearly_positive(differences[0] - (PRINTED[0] - PRINTED[1]))
        plainly = "A is above B, and B above C, whose score is zero"
        plainly += "; A and B are farther apart than printed." if sharper else "."
    return Claim(
        "Fig. 3",
        "The score is relatively high at A, whose cluster is in both studies; lower at B, which D comes close to; and "
        "zero at C, which the test study lacks.",
        f"{each(ours)} at A, B, C over {len(ours)} fresh pairs of data sets; A − B {number(differences[0])}, B − C "
        f"{number(differences[1])}. x_A, x_B, x_C are the means themselves, in the text close to them.",
        f"Variance 0.2, B at (1, 2): {each(theirs)}; A − B {number(differences_published[0])}, B − C "
        f"{number(differences_published[1])}.",
        verdict,
        "A above B, B above C by more than two standard errors; C rounds to 0.00",
        f"{plainly} The figure's one pair of data sets, {len(boot.distribution)} resamples: {with_sd(boot)}.",
        figures,
        {"written": ours, "published": theirs, "parts": parts},
    )


def numbers_claim(ours: Pairs, theirs: Pairs, figures: tuple[str, ...]) -> Claim:
    """The printed scores are those of another setting, and of one pair of data sets."""
    fits = ["".join(np.array(list(LETTERS))[off(pairs) <= 2]) for pairs in (ours, theirs)]
    written, published = (", ".join(pairs) or "no point" for pairs in fits)
    lower, wider = theirs.means[:, 1] <= PRINTED[1], theirs.means[:, 0] - theirs.means[:, 1] >= PRINTED[0] - PRINTED[1]
    return Claim(
        "Fig. 3",
        "The scores at A, B, C are .52, .29, .00 (printed).",
        f"{each(ours.means)} over {len(lower)} pairs of data sets, B = 100; sd among pairs {sds(ours)}.",
        f"Variance 0.2, B at (1, 2), B = 50: {each(theirs.means)}; sd among pairs {sds(theirs)}. Of the pairs, B is at "
        f"most .29 in {share(lower)}, A − B at least .23 in {share(wider)}.",
        verdict_of(off(ours) <= 2),
        "printed number within two standard deviations among pairs of data sets of ours, each point",
        f"The printed scores fit the text's setting at {written}, that of the published files at {published}. Distance "
        f"from ours at A, B, C in standard deviations among pairs, as one pair is printed: as written "
        f"{row(off(ours), 1)}; as published {row(off(theirs), 1)}. Not within two errors of our means as "
        f"published: {', '.join(missed(theirs)) or 'none'}.",
        figures,
        {"off": off(ours), "off_published": off(theirs), "sds": theirs.sds},
    )


def clusters_claim(pairs: Pairs, published: Pairs) -> Claim:
    """Scores of different clusters are far apart."""
    flags, flags_published = (
        {f"{LETTERS[i]} and {LETTERS[j]}": variant.apart(i, j) for i, j in PAIRS} for variant in (pairs, published)
    )
    n = len(pairs.means)
    always = ", ".join(name for name, values in flags.items() if values.all()) or "no two points"
    overlap = [f"{name} in {n - values.sum()} of {n}" for name, values in flags.items() if not values.all()]
    plainly = f"Always apart: {always}. Overlapping: {', '.join(overlap) or 'none'}."
    if [name[0] for name in overlap] == ["B"] and pairs.means[:, 1].mean() < 2 * pairs.sds[:, 1].mean():
        plainly = (
            f"A is always apart; B and C overlap in {n - flags['B and C'].sum()} of {n} pairs: B's score is below two "
        )
        plainly += "of its standard deviations."
    return Claim(
        "Section 4.3",
        "Points in different clusters have substantially different scores.",
        f"{n} pairs of data sets, B = 100: {shares(flags)}.",
        "Printed (.52, .29, .00, sd .12, .11, .02): all apart. Variance 0.2, B at (1, 2), B = 50: "
        + ", ".join(f"{name} {values.sum()} of {n}" for name, values in flags_published.items())
        + ".",
        verdict_of(np.ravel(list(flags.values()))),
        "means ± one standard deviation over resamples, as the figure prints them, do not overlap; each pair of data "
        "sets, each two points",
        f"{plainly} At B the score is {number(pairs.means[:, 1])} with a standard deviation over resamples of "
        f"{number(pairs.sds[:, 1])}, at C {number(pairs.means[:, 2])}.",
        values={"written": flags, "published": flags_published},
    )


def mechanism_claim(pairs: Pairs, published: Pairs) -> Claim:
    """Why B scores low: the training function joins what the test function separates."""
    joined, separated = pairs.joined[:, 0] > 0.5, pairs.joined[:, 1] < 0.5
    far, far_published = ([distance_from_d(mixtures, letter) for letter in "AB"] for mixtures in (WRITTEN, PUBLISHED))
    plainly = f"Joined in {joined.sum()}, separated in {separated.sum()} of {len(joined)} pairs."
    if all(joined) and all(separated) and far[1] < far[0]:
        plainly = "D is nearer to the training study's B than to its A, so that its function takes D for B."
    return Claim(
        "Fig. 3 (b)",
        "The training study's function puts points of B and D into one cluster, the test study's does not.",
        f"A point of D shares B's cluster in {each(pairs.joined)} of the resamples, by the training and the test "
        f"function, over {len(joined)} pairs of data sets; joined in {share(joined)}, separated in {share(separated)}.",
        f"No number printed. Variance 0.2, B at (1, 2): {each(published.joined)}.",
        verdict_of([*joined, *separated]),
        "in more than half of the resamples by the training function, in fewer by the test function; each pair of data "
        "sets",
        f"{plainly} D is {row(far).replace(', ', ' and ')} from the training study's A and B; as published, "
        f"{row(far_published).replace(', ', ' and ')} (exact).",
        values={"written": pairs.joined, "published": published.joined},
    )


def plane_claim(n_grid: int, n_grid_published: int, n_fresh: int, more: int, out: Path) -> Claim:
    """Over the plane the score depends on the cluster."""
    few, many = (WRITTEN.local(grid(n_grid), n) for n in (WRITTEN.n_resamples, more))
    theirs = PUBLISHED.local(grid(n_grid_published), PUBLISHED.n_resamples)
    regions, regions_published = (
        by_region(mixtures, n, n_fresh) for mixtures, n in ((WRITTEN, n_grid), (PUBLISHED, n_grid_published))
    )
    differences = {LETTERS[i] + LETTERS[j]: regions[:, i] - regions[:, j] for i, j in PAIRS}
    change = np.abs(few.mean - many.mean)
    verdict = verdict_of(clearly_positive(np.sign(values.mean()) * values) for values in differences.values())
    high, middle, low = (LETTERS[i] for i in regions.mean(axis=0).argsort()[::-1])
    plainly = f"Scores are highest around {high}, lower around {middle}, lowest around {low}"
    if verdict != HOLDS:
        plainly = f"Clearly different averages: {verdict.yes} of {verdict.asked} pairs of regions"
    return Claim(
        "Fig. 4",
        "Over the plane, scores differ between the clusters.",
        f"{n_grid} × {n_grid} points, averaged where A, B, C is the nearest training mean: {each(regions)} over "
        f"{n_fresh} fresh pairs of data sets; differences A − B, A − C, B − C "
        f"{', '.join(map(number, differences.values()))}.",
        f"No number printed. Variance 0.2, B at (1, 2), {n_grid_published} × {n_grid_published} points: "
        f"{each(regions_published)}.",
        verdict,
        "averages of two clusters' regions differ by more than two standard errors, each two clusters",
        f"{plainly}. Fig. 3's caption has 1,000 resamples, the text 100: with {more} instead of {WRITTEN.n_resamples} "
        f"on the figure's pair, a point of the grid changes by {change.mean():.3f} on average (in this run), "
        f"{np.mean(change > 0.05):.1%} of them by over .05.",
        (draw_plane(WRITTEN, few, n_grid, out), draw_plane(PUBLISHED, theirs, n_grid_published, out)),
        {"written": regions, "published": regions_published, "change": change, "sd": many.sd},
    )


def global_claim(ours: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray]) -> Claim:
    """One number for all clusters hides the best and the worst."""
    (points, whole), (points_published, whole_published) = ours, theirs
    differences = points[:, 0] - whole, whole - points[:, 2]
    verdict = verdict_of(map(clearly_positive, differences))
    plainly = {
        HOLDS: "The global score is clearly between those of A and C, and shows neither.",
        FAILS: "The global score is neither clearly below A's nor above C's.",
    }.get(verdict, "The global score is clearly away from only one of A's and C's.")
    return Claim(
        "Section 3.3.3, on Fig. 3",
        "A global score can hide that a cluster is not found again, and that another one is.",
        f"Global score {number(whole)}; at A higher by {number(differences[0])}, at C lower by "
        f"{number(differences[1])}, on the same {len(whole)} fresh pairs of data sets, drawn as for Fig. 3; the "
        "paper has no experiment.",
        f"No number printed. Variance 0.2, B at (1, 2): {number(whole_published)}; higher at A by "
        f"{number(points_published[:, 0] - whole_published)}, lower at C by "
        f"{number(whole_published - points_published[:, 2])}.",
        verdict,
        "local score at A above the global one, at C below it, by more than two standard errors",
        f"{plainly} Local scores at A, B, C: {each(points)}.",
        values={"whole": whole, "points": points},
    )


def off(pairs: Pairs) -> np.ndarray:
    """How far the printed scores are from ours, in standard deviations among pairs of data sets, (3,)."""
    return np.abs(PRINTED - pairs.means.mean(axis=0)) / np.maximum(pairs.means.std(axis=0, ddof=1), 0.005)


def missed(pairs: Pairs) -> list[str]:
    """Name the points whose printed score is not within two standard errors of our mean."""
    errors = pairs.means.std(axis=0, ddof=1) / np.sqrt(len(pairs.means))
    away = np.abs(PRINTED - pairs.means.mean(axis=0))
    return [
        f"{letter} (by {distance:.2f})"
        for letter, distance, error in zip(LETTERS, away, errors, strict=True)
        if distance > max(2 * error, 0.005)
    ]


def sds(pairs: Pairs) -> str:
    """Write standard deviations among pairs of data sets."""
    return row(pairs.means.std(axis=0, ddof=1))


def distance_from_d(mixtures: Mixtures, letter: str) -> float:
    """How far D is from a mean of the training mixture."""
    return float(np.hypot(*np.subtract(mixtures.mean(letter), MEANS["D"])))


def each(values: np.ndarray) -> str:
    """Write the means of columns with their errors."""
    return ", ".join(map(number, values.T))


def shares(flags: dict[str, np.ndarray]) -> str:
    """Write how often each two points are apart."""
    return "; ".join(f"{name} apart in {share(values)}" for name, values in flags.items())


def with_sd(result: cr.results.LocalReplicability) -> str:
    """Write means with standard deviations over resamples."""
    return ", ".join(f"{mean:.2f} (sd {sd:.2f})" for mean, sd in zip(result.mean, result.sd, strict=True))

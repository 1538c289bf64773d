"""Appendix A.1: bootstrap means, intervals and quantiles, compared with those of fresh pairs of studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.stats import binomtest, norm

from paper.appendix_a_calibration.figures import draw_curves, draw_quantiles
from paper.appendix_a_calibration.runs import AGREEMENTS, PUBLISHED, TAILS, WRITTEN, Calibration, Size, calibrate
from paper.common import Claim, error_of, number, plain, share, verdict_of, with_error

CLOSE = 0.05  # scores that agree to the first decimal
LEVEL = 0.05  # of tests
PRINTED = ({2: (0.477, 0.729), 4: (0.991, 0.993), 10: (0.570, 0.562)}, {3: (0.997, 0.990), 10: (0.543, 0.542)})
MEANS = "For every k, the bootstrap mean of one pair of studies is very close to the mean over fresh pairs"
INTERVALS = "The bootstrap intervals are well calibrated"
QUANTILES = "For every k, bootstrap quantiles are close to Monte Carlo quantiles"
BIAS = "Averaged over pairs of studies, the bootstrap mean is the mean over fresh pairs: it has no bias"


def root_mean_square(values: np.ndarray) -> str:
    """Write the root mean square of independent values with its standard error."""
    squares = np.square(values)
    root = np.sqrt(squares.mean())
    return with_error(root, error_of(squares) / (2 * root), 3)


def at_the_far_ones(run: Calibration, sizes: np.ndarray, written: np.ndarray) -> str:
    """Write both agreements' values at every k where one is not below CLOSE, and the largest elsewhere."""
    far = (sizes >= CLOSE).any(axis=1)
    parts = [f"k = {run.ks[c]}: ARI {written[c, 0]}, AMI {written[c, 1]}" for c in np.flatnonzero(far)]
    if not far.all():
        c, a = np.unravel_index(np.where(far[:, None], -1, sizes).argmax(), sizes.shape)
        parts.append(
            f"{'elsewhere' if parts else 'everywhere'} at most {written[c, a]} ({AGREEMENTS[a]}, k = {run.ks[c]})"
        )
    return "; ".join(parts)


def on_the_far_ones(run: Calibration, sizes: np.ndarray, what: str) -> str:
    """Say which k are not close, beside the number of components."""
    ks = np.array(run.ks)
    far, below = (sizes >= CLOSE).any(axis=1), ks < run.setting.n_components
    if not far.any():
        return f"{what} are close at every k run."
    listed, n = ", ".join(str(k) for k in ks[far]), run.setting.n_components
    if (far == below).all():
        return f"{what} are close from the number of components, {n}, on, and not below it: k = {listed}."
    return f"{what} are not close at k = {listed}; there are {n} components."


def printed_means(i: int, run: Calibration) -> str:
    """Compare the printed means with ours, and say whether a data set of ours comes out like theirs."""
    parts = []
    for k, (bootstrap, monte_carlo) in PRINTED[i].items():
        means, fresh = run.means[:, run.ks.index(k), 0], run.fresh[run.ks.index(k), 0]
        inside = "within" if means.min() <= bootstrap <= means.max() else "outside"
        parts.append(
            f"k = {k}: printed {bootstrap:.3f} / {monte_carlo:.3f}, ours {number(means, 3)} / {number(fresh, 3)}, "
            f"{bootstrap:.3f} {inside} our data sets' {plain(means.min(), 3)} to {plain(means.max(), 3)}"
        )
    sets, resamples = run.bootstrap.shape[0], run.bootstrap.shape[-1]
    return f"Bootstrap / Monte Carlo, {sets} data sets of {resamples} resamples, not 1,000: " + "; ".join(parts)


def means_claim(i: int, written: Calibration, published: Calibration, figure: str) -> Claim:
    """Say how far the bootstrap mean of one data set is from R."""
    errors = written.means - written.truth
    texts = np.array([[root_mean_square(errors[:, c, a]) for a in (0, 1)] for c in range(len(written.ks))])
    relative = written.rms / written.fresh.std(axis=-1)
    c = int(written.rms[:, 0].argmax())
    worst = written.means[:, c, 0]
    nearer = "nearer to R than a single score" if relative.max() < 1 else "not always nearer to R than a single score"
    return Claim(
        f"A.1, setting {i + 1}",
        MEANS,
        f"Root mean square distance over {len(worst)} data sets: {at_the_far_ones(written, written.rms, texts)}. "
        f"ARI at k = {written.ks[c]}: {plain(worst.min())} to {plain(worst.max())}, Monte Carlo "
        f"{number(written.fresh[c, 0])}. {written.setting.remark}".strip(),
        printed_means(i, published),
        verdict_of((written.rms < CLOSE).ravel()),
        f"root mean square distance below {CLOSE}, the first decimal, at every k, ARI and AMI",
        f"{on_the_far_ones(written, written.rms, 'Bootstrap means')} They are {nearer}: their distance is "
        f"{plain(relative.min())} to {plain(relative.max())} standard deviations of the scores of fresh pairs.",
        (figure,),
        {"k": np.array(written.ks), "written": written, "published": published, "relative": relative},
    )


def interval_claim(i: int, run: Calibration, figure: str) -> Claim:
    """Say how often intervals hold R, and how wide they are."""
    n = len(run.covered)
    counts = run.covered.sum(axis=0)  # (k, agreement)
    fine = np.array([[binomtest(int(count), n, 0.95).pvalue >= LEVEL for count in row] for row in counts])
    c, a = np.unravel_index(counts.argmin(), counts.shape)
    listed = "; ".join(f"{name} {', '.join(map(str, counts[:, b]))}" for b, name in enumerate(AGREEMENTS))
    # a normal interval for R as wide as the scatter of bootstrap means asks for
    needed = 2 * norm.ppf(TAILS[1])
    wide = np.diff(run.bounds, axis=0)[0].mean(axis=0) / (needed * run.rms)
    return Claim(
        f"A.1, setting {i + 1}, intervals",
        INTERVALS,
        f"Of {n} data sets, 95 % intervals hold R in, k = {', '.join(map(str, run.ks))}: {listed}. Fewest, k = "
        f"{run.ks[c]}, {AGREEMENTS[a]}: {share(run.covered[:, c, a])}",
        "",
        verdict_of(np.ravel(fine)),
        f"the count out of {n} is compatible with 95 % (exact binomial test, {LEVEL:.0%}), at every k, ARI and AMI",
        f"{on_the_counts(run, counts, fine)} "
        f"Intervals are {plain(wide.min(), 1)} to {plain(wide.max(), 1)} times as wide as the scatter of bootstrap "
        f"means about R asks for ({plain(needed)} root mean squares). That they are too wide {n} data sets "
        f"cannot show: {n} of {n} has p = {plain(binomtest(n, n, 0.95).pvalue)}.",
        (figure,),
        {"k": np.array(run.ks), "covered": run.covered, "wide": wide},
    )


def on_the_counts(run: Calibration, counts: np.ndarray, fine: np.ndarray) -> str:
    """Say at which k intervals do not hold R in 95 % of data sets, (k, agreement)."""
    n = len(run.covered)
    if fine.all():
        return f"At every k run, {n} data sets show no clear departure from 95 %."
    ks = ", ".join(str(k) for k in np.array(run.ks)[~fine.all(axis=1)])
    seldom = (counts[~fine] < 0.95 * n).all()
    return f"Intervals hold R {'too seldom' if seldom else 'not as often as they should'} at k = {ks}."


def quantile_claim(i: int, run: Calibration, figure: str) -> Claim:
    """Say how far bootstrap quantiles are from Monte Carlo quantiles."""
    gap = run.gaps.mean(axis=0)
    texts = np.array([[number(run.gaps[:, c, a], 3) for a in (0, 1)] for c in range(len(run.ks))])
    return Claim(
        f"A.1, setting {i + 1}, quantiles",
        QUANTILES,
        f"Mean distance of quantiles, over {len(run.gaps)} data sets: {at_the_far_ones(run, gap, texts)}",
        "",
        verdict_of((gap < CLOSE).ravel()),
        f"mean distance of quantiles below {CLOSE}, the first decimal, at every k, ARI and AMI",
        on_the_far_ones(run, gap, "Quantiles"),
        (figure,),
        {"k": np.array(run.ks), "gaps": run.gaps},
    )


def near_tie(run: Calibration) -> str:
    """Say at which k scores are either high or low, and how often they are high.

    Where a normal variable's sign decides which it is, and a resample adds as much variance as the data have, a share p
    of fresh pairs becomes Φ(Φ⁻¹(p)/√2).
    """
    replicates = [run.bootstrap[:, :, 0], run.few[:, :, 0]]  # ARI
    parts = []
    for c, k in enumerate(run.ks):
        fresh = run.fresh[c, 0]
        high, between = fresh > 0.5, (fresh > 0.4) & (fresh < 0.6)
        if between.mean() > 0.01 or not 0.05 < high.mean() < 0.95:
            continue
        shares = np.concatenate([(values[:, c] > 0.5).mean(axis=-1) for values in replicates])
        expected = norm.cdf(norm.ppf(high.mean()) / np.sqrt(2))
        parts.append(
            f"At k = {k} scores are high or low: {between.mean():.1%} of fresh pairs have an ARI between 0.4 and 0.6; "
            f"above are {number(high)}, of resamples {number(shares)}. A tie that a normal variable decides, with the "
            f"resample's variance added to the data's, would make {plain(expected)} of it."
        )
    return " ".join(parts)


def bias_claim(i: int, run: Calibration, figure: str) -> Claim:
    """Say whether the bootstrap means of many data sets are R on average."""
    n = len(run.more_means)
    bias = run.more_means.mean(axis=0) - run.truth
    error = np.hypot(error_of(np.moveaxis(run.more_means, 0, -1)), error_of(run.fresh))
    limit = norm.ppf(1 - LEVEL / 2 / bias.size)
    rows = "; ".join(
        f"{name} {', '.join(with_error(bias[c, a], error[c, a]) for c in range(len(run.ks)))}"
        for a, name in enumerate(AGREEMENTS)
    )
    fine = np.abs(bias) <= limit * error
    biased = ", ".join(str(k) for k in np.array(run.ks)[~fine.all(axis=1)])
    summary = f"The bootstrap mean is biased at k = {biased}." if biased else "No bias shows at any k run."
    return Claim(
        f"A.1, setting {i + 1}, average",
        BIAS,
        f"Average minus R, {n} data sets ({len(run.means)} of {run.bootstrap.shape[-1]} resamples, the others of "
        f"{run.few.shape[-1]}), k = {', '.join(map(str, run.ks))}: {rows}",
        "",
        verdict_of(fine.ravel()),
        f"average within {limit:.2f} standard errors of R ({LEVEL:.0%}, Bonferroni for {bias.size} comparisons), "
        "at every k, ARI and AMI",
        f"{summary} "
        f"Largest ARI difference {plain(np.abs(bias[:, 0]).max(), 3)}, at k = {run.ks[np.abs(bias[:, 0]).argmax()]}. "
        f"{near_tie(run)}".strip(),
        (figure,),
        {"k": np.array(run.ks), "bias": bias, "error": error, "limit": limit},
        ours=True,
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Run both settings, as written and as published."""
    sizes = Size(20, 1000, 1000, n_more=180), Size(20, 100, 1000)
    if quick:
        sizes = Size(10, 40, 160, n_more=20, n_few=10, n_jobs=1), Size(6, 20, 60, n_jobs=1)
    claims = []
    for i, settings in enumerate(zip(WRITTEN, PUBLISHED, strict=True)):
        ks = (2, settings[0].n_components, 10) if quick else tuple(range(2, 11))
        written = calibrate(settings[0], ks, sizes[0])
        published = calibrate(settings[1], tuple(PRINTED[i]) if quick else ks, sizes[1])
        curves = draw_curves(f"appendix_a_calibration_{i + 1}", (written, published), out)
        quantiles = draw_quantiles(f"appendix_a_calibration_{i + 1}_quantiles", written, out)
        claims += [means_claim(i, written, published, curves), interval_claim(i, written, curves)]
        claims += [quantile_claim(i, written, quantiles), bias_claim(i, written, curves)]
    return claims

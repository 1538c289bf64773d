"""The sentences of the accuracy benchmark's page."""

ONE_PIECE_TEXT = """\
Unimodal densities, and discrete features without classes. The verdict may be *separated* in at most 5 %, *continuous
structure* in at most 7 %. For the competitors: how often they find more than one cluster."""

CURVE_TEXT = """\
Connected, but bent: a straight line between two parts crosses a region without samples. *Continuous structure* is a
right verdict; *separated* is wrong, and allowed in at most 10 %. For the competitors: how often they find more than
one cluster."""

ROUND_TEXT = """\
Three studies of 80 samples, standard deviation 1 in every feature, random centres of which the closest two are
exactly 4.75 apart. The verdict should be *separated* in at least 95 %, and the number right in at least 90 %."""

CLUSTERS_TEXT = """\
Unequal sizes and spreads, long clusters, overlapping ones, discrete features, nested groups (either level is right,
for everybody). "Right k" counts *separated* and *continuous structure* alike."""

MISSING_TEXT = """\
Not every study has every cluster. The number that is right is that of all studies together."""

STATUSES_TEXT = """\
`Analysis.findings.table()` has the status of every cluster in every study. A cluster is the true cluster of most of its
samples. The truth is *found* where the study was drawn with that cluster, *not found* otherwise. Columns count the
statuses of the findings."""

DEVELOPMENT = """\
## Settings used while developing

The rules before the findings were developed on other settings than those above: other sizes, dimensions, spreads,
distances and angles, other layouts of centres, other seeds. Families of distributions are the same.

- **Gaps** (`separation`). Constants were chosen by outcome on 12 to 40 collections of 80 × 3 samples each: Gaussian
  with 2, 10 and 100 features, elongated 5:1, autoregressive 0.7 (10), 2 factors (20), 40 × 200; t with 3 df (5
  features, 2 independent); uniform square, cube, 10-cube, ball, triangle; exponential (2, 5), gamma(4) (3),
  lognormal (3), correlated lognormal (5); binary 0.5 (5, 10) and 0.2 (20), five-point answers (8), counts, log
  counts and zero-inflated ones (10); unlike covariances, shifts, n = 15, 20 against 500, Laplace, two Gaussians at
  1.5 sd; half circle, ring, 270° arc, sphere, trajectory in 20 dimensions, swiss roll, S-curve; 2 to 6 clusters at
  4.5 sd in 2, 10 and 100 features at random places and on a simplex, 3.5 and 4 sd, 70/20/10 and 90/10 %, sd 1
  against 2, long clusters, a cluster or type lacking in some studies, nested 5/15 and 3/12 sd, latent classes,
  moons, rings. Validated once on other settings of the same families (36 kinds of one piece: 0 of 3,600 separated;
  11 curves: 0 to 17 %; 44 kinds with clusters). One rule was changed afterwards: the number of groups is that of
  the cut with the smallest p-value, complete cuts first, instead of the deepest cut, because four clusters on a
  square were called two in half of the collections.
- **One piece** (`null`). Chosen by outcome on 34 kinds of one piece, 17 with clusters and 4 curves, 10 to 40
  collections of mostly 80 × 3 samples; validated on 48, 17 and 3 others (rates of 43, 17 and 3 are on record).
  Rules that were changed after outcomes on the first set: shrunken means of studies in margins, rank correlations
  corrected for ties, the flattest top of a hump that the likelihood allows, three ways to look for independent
  components, the statistic. After outcomes on the second set: the tops of components (turned squares) and of
  elliptical densities (balls), Mahalanobis radii with many features (factors), weights of the two statistics. Known
  not to be covered: uniform triangles, funnels and Dirichlet distributions are called structured too often.
- **The number of clusters** is that of the partition that predicts held-out samples best, among those that show
  density valleys. It was compared with nine other rules, functions of p-values, numbers of pieces and prediction
  strength, on five collections of each kind of this page from other seeds and 200 data sets of docs/exam-batches.md
  (`python -m calibration.number` compares four of them). The number of random starts (30) was chosen by outcome on 56
  settings with clusters.
- **Shared with this page**, because the targets name them: three studies of 80, and 2, 10 and 100 features for
  round clusters; the distance there was 4.5 or 4.6 and the layout another one, here it is 4.75."""

"""What the figures show, a sentence each."""

from __future__ import annotations

CAPTIONS = {
    "fig1_benchmark_sets": "Fig. 1 as written: each set in its two halves, and the scores over k, AMI and ARI.",
    "fig2_as_written": "Fig. 2 as written: studies 3 and 4 have the first 32 coordinates permuted.",
    "fig2_as_published": "Fig. 2 as published: studies 3 and 4 have the two halves of the coordinates swapped.",
    **{
        f"fig3{which}_written": f"Fig. 3 ({which}) as written: how often points share the cluster of {which.upper()}."
        for which in "abc"
    },
    **{f"fig3{which}_published": f"Fig. 3 ({which}) as published: variance 0.2, B moved to (1, 2)." for which in "abc"},
    "fig4_written": "Fig. 4 as written: both data sets, and the local score over the plane.",
    "fig4_published": "Fig. 4 as published: variance 0.2, B moved to (1, 2).",
    "fig5": "Fig. 5, three genes: scores over k on every pair of cohorts, as written and as published.",
    "fig6": "Fig. 6, three genes, trained on Mainz and tested on Transbig: clusters, local scores, and their means.",
    "fig5_pam50": "Fig. 5, PAM50 genes: scores over k on every pair of cohorts, as written.",
    "gold_standard_pam50": "Fig. 9 of the supplement, PAM50 genes: how like the known subtypes the partitions are.",
    "gold_standard": "Fig. 9 of the supplement, three genes: how like the known subtypes the partitions are, over k.",
    **{
        f"appendix_a_calibration_{which}": f"A.1, setting {which}: data; bootstrap and Monte Carlo scores over k."
        for which in (1, 2)
    },
    **{
        f"appendix_a_calibration_{which}_quantiles": f"A.1, setting {which}, as written: quantiles of the scores."
        for which in (1, 2)
    },
    "appendix_a_no_structure_n": "A.2 as written, two dimensions: scores of data without clusters, over k.",
    "appendix_a_no_structure_n_published": "A.2 as published, five dimensions: the same.",
    "appendix_a_no_structure_d": "A.2, more dimensions: scores of data without clusters, over k.",
    "appendix_a_no_structure_long": "One Gaussian with variances 9 and 1: its scores beside those without clusters.",
    "appendix_a_sample_size_data": "A.3: a study of each size.",
    "appendix_a_sample_size": "A.3: scores of fresh pairs of studies over k, for three sizes.",
    "appendix_a_outliers": "What outliers take from the score of the data as they are, and from the bootstrap mean.",
    **{
        f"appendix_c1_{name}_as_{variant}": f"C.1 as {variant}, {name}: clusters for several k, and their indices."
        for variant in ("written", "published")
        for name in ("aggregation", "compound", "r15")
    },
    "appendix_c1_noise": "C.1: R and D over the standard deviation of the noise.",
    "appendix_c2_prediction_strength": "C.2: the data, and prediction strength over k.",
    "appendix_c2_in_group": "C.2: clusters for several k, and their in-group proportions.",
    "appendix_c3_components": "C.3: several components, means at least 4 sd apart, and the test.",
    "appendix_c3_distance": "C.3: two components that come closer, and the test.",
}

"""The paper's numbers, each with its source: printed text, figure or table, or the authors' stored results.

Stored results are in the repository lorenzomasoero/clustering_replicability at commit 9d9b51a.
"""

from __future__ import annotations

from typing import Any

PRINTED: dict[str, Any] = {
    # Fig. 1, stored: the highest ARI and its k; k-means, mini-batch, Birch, agglomerative.
    "fig1": {
        "d31": ((1.000, 31), (0.981, 31), (0.997, 31), (0.438, 3)),
        "r15": ((1.000, 15), (0.997, 15), (0.999, 15), (0.690, 3)),
        "aggregation": ((0.957, 3), (0.933, 3), (0.909, 4), (0.957, 2)),
        "spiral": ((0.575, 4), (0.528, 4), (0.486, 11), (0.347, 3)),
    },
    # Fig. 1, caption: sizes of d31, r15, aggregation, spiral.
    "fig1_sizes": (3100, 600, 788, 312),
    # Fig. 2, stored: k = 16, same mixture and other mixture.
    "fig2": {"k-means": (0.996, 0.513), "mini-batch": (0.996, 0.512), "Birch": (1.000, 0.541)},
    "fig2_affinity": (0.778, 0.443),
    # Fig. 3, printed above the columns: mean and standard deviation at the three points.
    "fig3": ((0.52, 0.29, 0.00), (0.12, 0.11, 0.02)),
    # Fig. 5, stored: three genes, k-means, trained on VDX, tested on Mainz, k = 2, …, 6.
    "fig5": (0.976, 0.873, 0.645, 0.391, 0.714),
    # Fig. 5, PAM50 panel, read off: pairs out of six on which k-means is best at k = 4, and Birch at k = 2.
    "fig5_pam50": {"k-means at 4": 3, "Birch at 2": 6, "pairs": 6, "mean at 4": 0.738},
    # Section 5, text: patients of Mainz, Transbig, VDX.
    "cohorts": {"mainz": 200, "transbig": 198, "vdx": 344},
    # Fig. 6, stored: Basal, Her2, LumA, LumB.
    "fig6": {"ari": (0.814, 0.443, 0.280, 0.235), "ami_max": (0.740, 0.323, 0.267, 0.212)},
    # Table 1: Mainz, Transbig, VDX.
    "table1": {"ARI": (0.33, 0.34, 0.53), "AMI": (0.38, 0.39, 0.49)},
    # A.1, stored: bootstrap mean and Monte Carlo mean by k (ARI); settings 1 and 2.
    "a1": (
        {2: (0.477, 0.729), 3: (0.490, 0.659), 4: (0.991, 0.993), 10: (0.570, 0.562)},
        {3: (0.997, 0.990), 10: (0.543, 0.542)},
    ),
    # A.3, stored: best k and its score by n (ARI).
    "a3": {50: (22, 0.807), 100: (25, 0.966), 1000: (25, 1.000)},
    # C.1, stored: lowest Smolkin–Ghosh score on aggregation at k = 5.
    "c1_inclusion": 0.75,
    # C.2, stored: the k at which prediction strength on r15 is 1.
    "c2_r15": (2, 3, 11, 15),
    # C.3, printed: p-values over 1, 2, 3, 5 components; with the means coming closer.
    "c3_components": (0.975, 0.0, 0.0, 0.0),
    "c3_distances": (0.080, 0.172, 0.387, 0.884, 0.908),
}

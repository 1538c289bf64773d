"""
Three published clusterings: one holds in part, one does not transfer, one is a continuum
=========================================================================================

Subtypes of breast cancer, phenotypes of sepsis and clusters of type 2 diabetes were all found by clustering one
study. Do other studies show them? Three answers, each read off one call of `analyse`.

The breast cohorts are real where the environment variable ``CLUSTREP_DATA`` names a folder that holds them. Patients
with sepsis and with diabetes are **simulated**: these data cannot be shared, and each section says which published
facts the simulation follows and what its author chose. It shows what a result of this kind looks like; it is no
evidence about the disease.
"""

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import clustrep as cr

QUICK = {"n_resamples": 25, "n_null": 39, "train": (), "agreement": "ari", "rng": 0}
plt.style.use("clustrep.plots.journal")

# %%
# Breast cancer: basal and luminal hold, Luminal A and B do not
# -------------------------------------------------------------
#
# ESR1, ERBB2 and AURKA in three cohorts of patients, beside the published three-gene subtypes (Haibe-Kains et al.
# 2012, JNCI 104(4), 311-325).
#
# What holds in the real cohorts: the partition into two. Nearly all luminal tumours are in one cluster, nearly all
# basal ones in the other, and the cohorts agree about it (ARI 0.91). What does not: no density valley separates the
# two, so that the verdict is continuous structure; tumours with HER2 are in both; and Luminal A and B are in one
# cluster. Four subtypes agree poorly with two clusters.
#
# Without the real cohorts, three separate subtypes are drawn in their place: then all of them are found, which says
# nothing about breast cancer.

if "CLUSTREP_DATA" in os.environ:
    cohorts, source = cr.datasets.load_breast("HK_3GENE"), "Mainz, Transbig, VDX"
else:
    cohorts = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=200, n_subtypes=3, n_features=3, separation=4.5, missing={}, shifted={}, rng=19
    )
    source = "SIMULATED in place of Mainz, Transbig, VDX"
breast = cr.analyse(KMeans(n_init=10), cohorts, n_clusters=range(2, 6), **QUICK)
print(source)
print(breast)
print(breast.annotations.table_of("known label"))
breast.findings.plot().set_title(f"Breast cancer\n({source})")

# %%
# Sepsis: phenotypes do not transfer
# ----------------------------------
#
# Four phenotypes were found by k-means of 29 variables at admission (Seymour et al. 2019, JAMA 321(20), 2003-2017).
# At three other sites, clusters found by the same procedure agreed with the phenotypes only by ARI 0.21 to 0.27
# (JAMA Netw Open 2026.16134, computed by hand there).
#
# SIMULATED: eight variables without clusters that follow two factors, severity and inflammation, which every
# hospital mixes a little differently. Published are only these ARIs. All else is chosen here: the factors, the names
# of the variables, and how much hospitals differ and the seed, so that four clusters of one hospital agree with those
# of another with ARIs near the published ones.

rng = np.random.default_rng(28)
VARIABLES = ["age", "creatinine", "lactate", "bilirubin", "platelets", "systolic", "temperature", "crp"]
common = rng.normal(size=(2, len(VARIABLES)))


def hospital(n):
    """Draw patients whose variables follow two factors, as they are mixed at one hospital."""
    factors = rng.standard_t(8, size=(n, 2))
    mix = common + 0.5 * rng.normal(size=common.shape)
    return pd.DataFrame(factors @ (0.6 * mix) + rng.normal(size=(n, len(VARIABLES))), columns=VARIABLES)


hospitals = {f"site {i}": hospital(400) for i in (1, 2, 3)}
sepsis = cr.analyse(KMeans(n_init=10), hospitals, n_clusters=range(2, 6), scale="study", **QUICK)
print(sepsis)
scores = sepsis.comparison.replicability("KMeans", 4)
between = scores.estimate[~np.eye(3, dtype=bool)]
print(f"Four clusters of one site in another: ARI {between.min():.2f} to {between.max():.2f}; published: 0.21 to 0.27")
scores.plot().set_title("Sepsis, four clusters\n(SIMULATED)")

# %%
# Type 2 diabetes: a continuum
# ----------------------------
#
# Five clusters were found in age, BMI, HbA1c, two HOMA2 indices and antibodies (Ahlqvist et al. 2018, Lancet Diabetes
# Endocrinol 6(5), 361-369). Others describe the same patients by a continuum (Nair et al. 2022, Nature Medicine 28,
# 982-988).
#
# SIMULATED: one Gaussian, without clusters. Only this structure, a continuum, is published. The correlations are
# illustrative: chosen here, with the signs that physiology suggests (BMI goes with insulin resistance, HbA1c with a
# weak beta cell). Five clusters of one cohort agree in part with those of another, and the null model explains it.

rng = np.random.default_rng(0)
INDICES = ["age", "bmi", "hba1c", "homa2_b", "homa2_ir"]
CORRELATION = np.array(
    [
        [1.0, -0.3, -0.2, 0.1, -0.1],
        [-0.3, 1.0, 0.0, 0.4, 0.6],
        [-0.2, 0.0, 1.0, -0.6, 0.1],
        [0.1, 0.4, -0.6, 1.0, 0.6],
        [-0.1, 0.6, 0.1, 0.6, 1.0],
    ]
)
countries = {
    name: pd.DataFrame(rng.multivariate_normal(np.zeros(5), CORRELATION, 500), columns=INDICES)
    for name in ("cohort 1", "cohort 2", "cohort 3")
}
diabetes = cr.analyse(KMeans(n_init=10), countries, n_clusters=range(2, 7), **QUICK)
print(diabetes)
five = diabetes.comparison.replicability("KMeans", 5).estimate[~np.eye(3, dtype=bool)]
print(f"Five clusters of one cohort in another: ARI {five.min():.2f} to {five.max():.2f}")
diabetes.comparison.plot(reference=diabetes.reference).set_title("Type 2 diabetes\n(SIMULATED)")

# %%
# A partition of a continuum may agree between cohorts well or badly. Neither makes it clusters: density valleys and
# the null model decide.

print({name: each.verdict for name, each in (("breast", breast), ("sepsis", sepsis), ("diabetes", diabetes))})
# sphinx_gallery_thumbnail_number = 1

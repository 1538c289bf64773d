"""
Penguins of three islands
=========================

Three islands, three species: Adélie penguins live on all of them, Gentoo penguins on Biscoe alone, Chinstrap penguins
on Dream alone. The clusterer sees four measurements, and neither species nor island.
"""

# %%
from sklearn.cluster import KMeans

import clustrep as cr

islands = cr.datasets.load_penguins()
analysis = cr.analyse(KMeans(n_init=5), islands, n_clusters=range(2, 7), n_resamples=25, train=(), rng=0)
print(analysis)

# %%
# Samples of every island, coloured by cluster:

analysis.plot(by="study")

# %%
# Cluster B is the Gentoo penguins. It is *not found* on the other islands, although k-means with k = 2 cuts their
# penguins in two as well: there is no density valley along these cuts.

species = [islands[name].labels for name in islands]
for name, known in zip(islands, species, strict=True):
    found = analysis.findings.labels_of(name)
    for letter in analysis.findings.letters:
        print(name, letter, {str(kind): int((known[found == letter] == kind).sum()) for kind in set(known.tolist())})

# %%
# Chinstrap penguins differ from Adélie penguins by the length of their bills, and live with them on Dream alone.
# k-means cuts the penguins of Dream by sex rather than by species, without a density valley: in these four measurements
# this species is missed. *Found* and *not found* speak of clusters between density valleys, not of species.

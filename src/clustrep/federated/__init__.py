"""Studies that may not leave their site: clustering functions and scores travel instead.

For partners who trust each other: these files can reveal patients to a partner who tries (docs/federated.md).

inquiry           the question that all sites answer, in plain types
forms             clustering functions without the samples that they were learned from; extraction: how they are taken
disclosure        what a file stores, and the log of what not; suppression: small counts
releasing         functions that a file stores: every replicate, with what was withheld
site_files        one file each: functions of a site, scores of a site
site_learning     `learn`; site_scoring: `score`; combining: `combine`
site_clusters     scores of single clusters; site_gaps: gaps between clusters; site_null: data without clusters
file_summary      what a file holds, for the person who must approve it
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Studies that may not leave their site: clustering functions and scores travel instead.

inquiry           the question that all sites answer, in plain types
forms             clustering functions without the samples that they were learned from; extraction: how they are taken
disclosure        what may leave a site, and the log of what did not; noising: Gaussian noise; suppression: small counts
releasing         functions that were learned and may leave: every replicate, with what was withheld
site_files        one file each: functions of a site, scores of a site
site_learning     `learn`; site_scoring: `score`; combining: `combine`
site_clusters     scores of single clusters; site_gaps: gaps between clusters; site_null: data without clusters
file_summary      what a file holds, for the person who must approve it
"""

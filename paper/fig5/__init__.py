"""Fig. 5, Fig. 9 of the supplement, section 5.1: breast cancer cohorts."""

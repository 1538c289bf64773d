"""Appendix A.3: sample size; and outliers, from the discussion."""

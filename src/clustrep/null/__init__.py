"""Null models: simulated data without clusters, and scores beside their null distributions."""

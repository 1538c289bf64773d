"""Null models: how null data are simulated, and scores beside their null distributions."""

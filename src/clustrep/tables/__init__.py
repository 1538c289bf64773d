"""Contingency tables, and the scores that read them."""

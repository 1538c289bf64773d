"""Appendix C.1: indices of stability."""

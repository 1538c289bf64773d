"""Compiled kernels, and in `plain` the NumPy reference of each under the same name."""

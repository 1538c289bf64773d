"""Appendix A.1: calibration of the bootstrap."""

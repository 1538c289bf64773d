"""Appendix C.2: prediction strength and in-group proportion."""

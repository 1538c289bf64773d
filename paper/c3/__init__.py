"""Appendix C.3: the test for clusters."""

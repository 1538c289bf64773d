"""Appendix A.2: data without clusters."""

"""Fig. 6, section 5.2 and Table 1: local replicability of the breast cancer subtypes."""

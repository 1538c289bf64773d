"""Fig. 3 and 4, section 4.3: local replicability."""

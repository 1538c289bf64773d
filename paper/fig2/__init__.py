"""Fig. 2, section 4.2: four studies in 64 dimensions."""

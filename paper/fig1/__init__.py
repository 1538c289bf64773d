"""Fig. 1, section 4.1: halves of four benchmark sets."""

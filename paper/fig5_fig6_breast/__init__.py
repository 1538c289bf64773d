"""Fig. 5 and 6, Fig. 9 of the supplement and Table 1, section 5: breast cancer."""

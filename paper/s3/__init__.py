"""Section 3: what the text says of the indices themselves."""

"""Several studies: Algorithms 1 to 3 and what builds on them."""

"""How and where replicates are computed."""

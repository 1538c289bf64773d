"""From any clusterer to ψ, its clustering function."""

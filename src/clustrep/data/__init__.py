"""Studies: named, feature-aligned, read-only tables."""

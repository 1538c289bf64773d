"""Programs that simulate how often intervals cover and how often tests reject; their tables are in docs/."""

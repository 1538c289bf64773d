"""One study: section 2 of the paper and its relatives."""

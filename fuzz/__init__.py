"""Inputs that nobody meant to give, thousands of them: `make fuzz`, `make fuzz-quick`.

Every case follows from the seed, the name of its target and its number, so that one that fails can be run again alone.
A case survives if the library reads its input or refuses it with an error of its own; it fails with a crash, a hang or
any other exception.

run         the program: targets → cases → a table; worker: one process that runs cases
target      what a target is
readers     files: CSV, GEO, Parquet, h5ad; configurations
calls       calls of the library with odd arrays, and clusterers that misbehave
saved       saved results
mutation    how bytes are changed
"""

"""Attacks on the files that federated sites exchange, as programs: `make attack`."""

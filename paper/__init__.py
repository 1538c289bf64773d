"""The paper, reproduced: a folder for each figure or table, with `main(out, quick=False)` in its claims.py."""

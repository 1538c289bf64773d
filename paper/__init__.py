"""The paper, reproduced: one file per figure or table, each with `main(out, quick=False)`."""

"""Work on a GPU, or by the same code in plain PyTorch on the processor; imported where it is asked for."""

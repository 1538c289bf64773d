"""Work on a graphics card, or by the same code in plain PyTorch on the processor; imported where it is asked for."""

"""What nobody wants to happen to a run, done to it many times: `python -m stress.run`."""

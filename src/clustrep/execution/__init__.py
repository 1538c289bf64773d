"""How and where replicates are computed.

replicates    seeds, failures, one thread
run           options of a run; plans and the runner
cost          what a run costs, and who computes it
workers       processes and threads
engines       other machines: which there are; dispatch, dask_engine and ray_engine carry it out
checkpoints   finished replicates in files; stored_values, how
estimates     memory and time
termination   SIGTERM is heard as an interrupt
"""

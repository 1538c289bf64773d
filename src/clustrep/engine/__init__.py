"""How and where replicates are computed.

replicates    seeds, failures, one thread
run           options of a run; plans and the runner
cost          what a run costs, and who computes it
workers       processes and threads
termination   SIGTERM is heard as an interrupt
"""

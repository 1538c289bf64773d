"""How and where replicates are computed.

seeds         seeds, failed replicates, one thread
failures      failed values, counted by cause
context       options: where and how a run is computed
run           plans and the runner
forecast      what a run costs, in time and memory, and who computes it
workers       processes and threads of this machine; SIGTERM is handled as an interrupt
checkpoints   finished replicates in files
engines       other machines: `dask_engine` and `ray_engine` carry out what `Dispatch` decides
devices       processor or GPU
"""

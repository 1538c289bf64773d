#!/usr/bin/env bash
# A run as a Slurm job array, without any engine: every task computes a share, and a last job makes the results.
#
#   sbatch slurm_array.sh                                                 prints: Submitted batch job 1234
#   sbatch --dependency=afterok:1234 --wrap "clustrep merge breast-*-of-10 --out breast"
#
# A task that was killed is submitted again with `sbatch --array=3 slurm_array.sh`; it continues where it stopped.
#SBATCH --job-name=clustrep
#SBATCH --array=1-10
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=01:00:00
set -euo pipefail
clustrep run cohorts/*.csv --k 2:8 --seed 0 --jobs "${SLURM_CPUS_PER_TASK:-1}" \
  --out breast --shard "${SLURM_ARRAY_TASK_ID:-1}/10"

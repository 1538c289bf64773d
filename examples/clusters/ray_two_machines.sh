#!/usr/bin/env bash
# Ray on two machines that have the same clustrep: start the head on the first, join it from the second.
#
#   first$   ./ray_two_machines.sh head
#   second$  ./ray_two_machines.sh join 10.0.0.1         the address of the first
#   first$   ./ray_two_machines.sh run cohorts/*.csv     anywhere on the two machines
#   both$    ./ray_two_machines.sh stop
set -euo pipefail
port=${RAY_PORT:-6379}
verb=${1:?head, join, run or stop}
shift
case $verb in
  head) ray start --head --port "$port" --include-dashboard=false --disable-usage-stats ;;
  join) ray start --address "${1:?the address of the head}:$port" --disable-usage-stats ;;
  run) RAY_ADDRESS=auto clustrep run "$@" --k 2:8 --seed 0 --engine ray --out results ;;
  stop) ray stop ;;
  *) echo "head, join, run or stop, not $verb" >&2; exit 2 ;;
esac

#!/usr/bin/env bash
# Ray on two machines that have the same clustrep: start the head on the first, join it from the second.
#
#   first$   ./ray_two_machines.sh head 10.0.0.1             its own address: without a way to the internet Ray finds none
#   second$  ./ray_two_machines.sh join 10.0.0.1 10.0.0.2    the address of the first, and its own
#   first$   ./ray_two_machines.sh run cohorts/*.csv         anywhere on the two machines
#   both$    ./ray_two_machines.sh stop
#
# To keep others off the cluster, first set the same token on both:
#   export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=…
set -euo pipefail
port=${RAY_PORT:-6379}
verb=${1:?head, join, run or stop}
shift
case $verb in
  head) ray start --head --node-ip-address "${1:?its own address}" --port "$port" \
          --include-dashboard=false --disable-usage-stats ;;
  join) ray start --address "${1:?the address of the head}:$port" --node-ip-address "${2:?its own address}" \
          --disable-usage-stats ;;
  run) RAY_ADDRESS=auto clustrep run "$@" --k 2:8 --seed 0 --engine ray --out results ;;
  stop) ray stop ;;
  *) echo "head, join, run or stop, not $verb" >&2; exit 2 ;;
esac

#!/bin/sh
# Records a Python team through the gateway, and trains the bundled model on what it did:
#   examples/python-team/run.sh [FOLDER]
# PYTHON is a Python with the package openai; COA is the command, by default that of the package this file is in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PYTHON=${PYTHON:-python3}
# A path is meant from here, not from the folder of the run.
case $PYTHON in */*) PYTHON=$(cd "$(dirname "$PYTHON")" && pwd)/$(basename "$PYTHON") ;; esac
main=
[ -n "${COA:-}" ] || main=$here/../../bin/coa.js
COA=${COA:-node}
mkdir -p "${1:-python-team-run}"
cd "${1:-python-team-run}"

# Waits for a server to write its address to a file, and prints it.
address_in() {
  for _ in $(seq 600); do
    found=$(grep -o 'http://[^ ,]*' "$1" | head -n 1)
    [ -n "$found" ] && echo "$found" && return
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}

"$PYTHON" "$here/scripted_model.py" > model.log 2>&1 &
model=$!
trap 'kill $model 2> /dev/null || true' EXIT
upstream=$(address_in model.log)

# 1. Record: the team only gets another base URL.
$COA ${main:+"$main"} record --upstream "$upstream" --port 0 > summary.log 2> record.log &
gateway=$!
trap 'kill $model $gateway 2> /dev/null || true' EXIT
GATEWAY=$(address_in record.log)
export GATEWAY OPENAI_API_KEY=none
"$PYTHON" "$here/team.py"
kill $gateway
wait $gateway
cat summary.log

# 2. From what was recorded to a trained model.
$COA ${main:+"$main"} distill latest
$COA ${main:+"$main"} filter latest --no-near-duplicates
$COA ${main:+"$main"} export latest --format trl-messages --out dataset
$COA ${main:+"$main"} sft latest --set sft.max_steps=2

#!/bin/sh
# Two solvers on tasks of your own, and whether one is better:
#   examples/own-tasks/run.sh [FOLDER]
# COA is the command; MODEL is a model folder or the bundled nano; TASKS and ATTEMPTS limit the work.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
COA=${COA:-coa}
MODEL=${MODEL:-nano}
ATTEMPTS=${ATTEMPTS:-4}
TASKS=${TASKS:-all}
mkdir -p "${1:-own-tasks-run}"
cd "${1:-own-tasks-run}"
cp "$here/tasks.jsonl" .

# 1. Can the answers be checked?
$COA tasks show tasks.jsonl -n 2
$COA tasks validate tasks.jsonl -n all

# 2. The model on plain text; its programs are run.
$COA eval tasks.jsonl -n "$TASKS" --split all --model plain="$MODEL" --text --run plain

# 3. The same model as a chain of agents, several attempts at each task, compared with the first.
$COA eval tasks.jsonl -n "$TASKS" --split all --model chain="$MODEL" --attempts "$ATTEMPTS" --run chain --against plain

# 4. What it wrote, on one page.
$COA run report chain

#!/bin/sh
# The steps of the Chain-of-Agents paper, one command each, small enough for any machine:
#   examples/from-paper/run.sh [FOLDER]
# COA is the command; TASKS is the number of tasks.
set -eu
COA=${COA:-coa}
TASKS=${TASKS:-40}
mkdir -p "${1:-from-paper-run}"
cd "${1:-from-paper-run}"

# Agents and the order in which they may act
$COA grammar show math

# A multi-agent system solves tasks
$COA teach --suites math -n "$TASKS" --set tasks.levels=math=1

# Multi-agent distillation
$COA distill latest

# Progressive filtering
$COA filter latest --set filter.min_interactions=1

# Agentic SFT, observations masked
$COA sft latest

# Query filtering: tasks that the model always or never solves teach it nothing
$COA filter latest --queries --set rl.task_count="$((TASKS / 2))"

# Agentic RL
$COA rl latest --steps "${STEPS:-2}" --set rl.groups=2 --set rl.group_size=4 --set rl.dynamic_sampling=false

# The team against the model: accuracy, and tokens saved
$COA compare math -n "${COMPARED:-20}" --level 1 --model "$(ls -d runs/*/checkpoints/rl)" --team manager

# Test-time scaling; exits with 3 if no candidate has an answer
$COA solve 'A box holds 12 pens. How many pens do 7 boxes hold?' --grammar math --model "$(ls -d runs/*/checkpoints/rl)" --best-of 4 || [ $? = 3 ]

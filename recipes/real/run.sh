#!/usr/bin/env bash
# From nothing to the table: run.sh NAME [SIZE] [SEED] [settings…], for example: run.sh gsm8k 0.5b 1 --set rl.steps=20
# The current folder has data/ and models/; README.md says what they contain. If it is interrupted, the same command resumes.
#
# Variables: TEACHER (folder of the team's model), VOTES (attempts for the majority votes; 0: none), PYTHON (of the trainer),
# DEVICE (of the trainer, such as cpu), NODE.
set -uo pipefail
name=$1 size=${2:-0.5b} seed=${3:-1}
shift $(($# < 3 ? $# : 3))
here=$(cd "$(dirname "$0")" && pwd)
coa=(npx coa)
if [ -e "$here/../../bin/coa.js" ]; then coa=("${NODE:-node}" "$here/../../bin/coa.js"); fi
student=models/qwen2.5-coder-$size
[ -d "$student" ] || student=models/$size
teacher=${TEACHER:-models/qwen2.5-coder-1.5b}
out=results/$name-$size-$seed
mkdir -p "$out"

# Runs a step once, and writes down how it ended and how long it took. A step that fails does not stop the others.
step() {
  local label=$1 began status
  shift
  if grep -q "^$label done" "$out/steps.txt" 2> /dev/null; then return 0; fi
  began=$(date +%s)
  echo "== $label: $*" | cut -c1-400
  "$@"
  status=$?
  if [ $status = 0 ]; then status=done; fi
  echo "$label $status $(($(date +%s) - began)) s" >> "$out/steps.txt"
  [ "$status" = done ]
}

# The last rows of train choose between weights (dev); nothing is trained on them. What is called dev in data/ is held out (test).
split() {
  local set=$1 folder=$2 dev=$3 rows
  mkdir -p "tasks/$set"
  gzip -dc "data/$folder/train.jsonl.gz" | sed 's/"split": *"[a-z]*", *//' > "tasks/$set/rows"
  rows=$(wc -l < "tasks/$set/rows")
  head -n $((rows - dev)) "tasks/$set/rows" > "tasks/$set/train.jsonl"
  tail -n "$dev" "tasks/$set/rows" > "tasks/$set/dev.jsonl"
  gzip -dc "data/$folder/dev.jsonl.gz" | sed 's/"split": *"[a-z]*", *//' > "tasks/$set/test.jsonl"
  rm "tasks/$set/rows"
}

prepare() {
  split gsm8k math 135 && split mbpp code 40 && split multihop multihop 100
}

start_trainer() {
  "${coa[@]}" trainer status > /dev/null 2>&1 && return
  "${coa[@]}" trainer start --model "student=$student" --model "teacher=$teacher" \
    ${PYTHON:+--python "$PYTHON"} ${DEVICE:+--device "$DEVICE" --compile off}
}

settings=(--config "$here/$name.toml" --set "student.model=$student" --set "teacher.model=$teacher" --set "project.seed=$seed"
  --set "project.runs=runs/$name-$size-$seed" "$@")
case $name in
  all) tests=(tasks/gsm8k/test.jsonl tasks/mbpp/test.jsonl tasks/multihop/test.jsonl) ;;
  *) tests=("tasks/$name/test.jsonl") ;;
esac

# The run of the method, whose folder is needed for what follows.
run_folder() { ls -td "runs/$name-$size-$seed"/20* 2> /dev/null | head -n 1; }

# pass@k and majority votes: several attempts at each task, at the temperature of the recipe.
votes() {
  local label=$1
  shift
  step "votes-$label" "${coa[@]}" eval "${tests[@]}" "${settings[@]}" --run "votes-$label" --attempts "${VOTES:-4}" \
    -n "${VOTE_TASKS:-200}" "$@" > "$out/votes-$label.txt"
  cp "runs/$name-$size-$seed/votes-$label/eval/eval.md" "$out/votes-$label.md" 2> /dev/null
}

keep_results() {
  local run
  run=$(run_folder)
  [ -n "$run" ] || return 1
  cp "$run/config.toml" "$out/" && cp "$run"/eval/eval.* "$run/report.html" "$run/log.txt" "$out/" 2> /dev/null
  "${coa[@]}" run metrics "$run" --stage rl --show step,minutes,eval_accuracy > "$out/curve.txt"
  gzip -c "$run/metrics.jsonl" > "$out/metrics.jsonl.gz"
}

[ -e tasks/multihop/test.jsonl ] || step prepare prepare || exit 1
if [ "$name" = multihop ] || [ "$name" = all ]; then
  [ -e corpus.db ] || step corpus "${coa[@]}" corpus build data/multihop/corpus.jsonl.gz || exit 1
fi
start_trainer || exit 1
step method "${coa[@]}" quickstart "${settings[@]}"
result=$?
keep_results
if [ "${VOTES:-4}" != 0 ]; then
  run=$(run_folder)
  votes alone --plain --model "alone=$teacher" --set eval.temperature=0.7
  votes team --team
  [ -d "$run/checkpoints/rl" ] && votes student --model "student=$run/checkpoints/rl"
fi
cat "$out/steps.txt"
exit $result

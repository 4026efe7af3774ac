#!/usr/bin/env bash
# From nothing to the table: run.sh NAME [SIZE] [SEED] [settings…], for example run.sh gsm8k 0.5b 1 --set rl.steps=20
# The current folder has data/ and models/; README.md says what they contain.
set -euo pipefail
name=$1 size=${2:-0.5b} seed=${3:-1}
shift $(($# < 3 ? $# : 3))
here=$(cd "$(dirname "$0")" && pwd)
coa=(npx coa)
if [ -e "$here/../../bin/coa.js" ]; then coa=("${NODE:-node}" "$here/../../bin/coa.js"); fi
student=models/qwen2.5-coder-$size
if [ "$name" = multihop ]; then
  [ -e corpus.db ] || "${coa[@]}" corpus build data/multihop/corpus.jsonl.gz
  # The rows say "dev"; here they are held out.
  [ -e test.jsonl ] || gzip -dc data/multihop/dev.jsonl.gz | sed 's/"split": *"dev"/"split": "test"/' > test.jsonl
fi
"${coa[@]}" trainer status > /dev/null 2>&1 || "${coa[@]}" trainer start --model "student=$student" --model teacher=models/qwen2.5-coder-1.5b
"${coa[@]}" quickstart --config "$here/$name.toml" --set "student.model=$student" --set "project.seed=$seed" "$@"

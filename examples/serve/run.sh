#!/bin/sh
# A served model, called from the OpenAI client, and trained on what was thought of its answers:
#   MODEL=runs/ID/checkpoints/rl examples/serve/run.sh [FOLDER]
# COA and NODE are the commands; MODEL is a checkpoint, such as that of `coa quickstart --fast`, or the URL of an inference server with the
# model's folder as TOKENIZER; BASE is what is trained; STEPS limits the work. The client needs `npm install openai`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
COA=${COA:-coa}
NODE=${NODE:-node}
case ${MODEL:?'set it to a checkpoint; `coa quickstart --fast` makes one in a few minutes'} in
  http*) served="--model $MODEL --tokenizer $TOKENIZER" BASE=${BASE:-$TOKENIZER} ;;
  *) MODEL=$(cd "$MODEL" && pwd) served="--model $MODEL" BASE=${BASE:-$MODEL} ;;
esac
mkdir -p "${1:-serve-run}"
cd "${1:-serve-run}"

# 1. Serve it, and record what is asked and answered.
$COA serve $served --grammar math --record --port 0 --json >serve.jsonl &
server=$!
trap 'kill -INT $server 2>/dev/null || true' EXIT
until grep -q '"url"' serve.jsonl; do
  kill -0 $server
  sleep 1
done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' serve.jsonl | head -n 1)

# 2. Ask it, and say which answers were right.
$NODE "$here/ask.ts" "$url/v1"

# 3. Stop it: while it records, nothing else writes to its run.
kill -INT $server
wait $server
trap - EXIT
$COA run show latest

# 4. Chains marked good become sequences to train on; those marked bad do not.
$COA distill latest
$COA filter latest
# What is trained is named here, because no path is ever taken from a run.
export COA_STUDENT_MODEL="$BASE"
$COA sft latest --set sft.max_steps="${STEPS:-20}"

# 5. RL on the questions whose right answers are known now, with new rollouts.
$COA rl --from-served latest --steps "${STEPS:-20}" --set rl.groups=2 --set rl.group_size=4 --set rl.dynamic_sampling=false

# 6. The next version.
$COA solve 'A maker of soft drinks fills its bottles in several plants. Today, the coast plant fills 90 bottles. The spring plant fills 7 times as many bottles today as the coast plant. How many bottles do the coast plant and the spring plant fill in total today?' --grammar math --model "$(ls -d runs/*/checkpoints/rl)" || [ $? = 3 ]

#!/bin/sh
# Trains a model on one GPU, from a team's runs to a comparison:
#   examples/one-gpu/run.sh [FOLDER]
# COA is the command; MODEL is a short name, a Hugging Face id or a model folder; PYTHON is a Python for the trainer, which
# otherwise sets up its own (about a gigabyte). Without a GPU it takes the CPU.
set -eu
COA=${COA:-coa}
MODEL=${MODEL:-qwen2.5-coder-0.5b}
mkdir -p "${1:-one-gpu-run}"
cd "${1:-one-gpu-run}"

# 1. A model, and the trainer that holds it on the GPU
if [ -d "$MODEL" ]; then ln -sfn "$MODEL" student; else $COA model pull "$MODEL" student; fi
$COA trainer start --model student ${PYTHON:+--python "$PYTHON"} --port "${PORT:-8000}"
trap '$COA trainer stop' EXIT
url=$($COA trainer status --json | grep -o '"url": "[^"]*"' | cut -d '"' -f 4)

# 2. What every command below reads
cat > coa.toml <<END
[engine]
driver = "tinker"
url = "$url"

[student]
model = "student"
lora_rank = ${LORA_RANK:-32}

[tasks]
suites = ["math"]
levels = { math = 1 }
count = ${TASKS:-400}

[filter]
min_interactions = 1

[sft]
max_steps = ${SFT_STEPS:-0}

[rl]
groups = ${GROUPS_PER_STEP:-16}
group_size = 8
dynamic_sampling = false
END

# 3. A team's runs become sequences
$COA teach
$COA distill latest
$COA filter latest

# 4. Training
$COA sft latest
$COA rl latest --steps "${RL_STEPS:-20}"

# 5. Did it help?
run=$(ls -d runs/* | tail -n 1)
$COA eval math -n "${EVALUATED:-100}" --level 1 --model sft="$run/checkpoints/sft" --model rl="$run/checkpoints/rl"

#!/bin/sh
# A team uses a tool of your MCP server, and a model learns to:
#   examples/mcp-tool/run.sh [FOLDER]
# COA is the command; TEACHER is the URL of a model's API (default: a scripted one).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
COA=${COA:-coa}
NODE=${NODE:-node}
mkdir -p "${1:-mcp-tool-run}"
cd "${1:-mcp-tool-run}"
cp "$here/tasks.jsonl" .

if [ -z "${TEACHER:-}" ]; then
  mkfifo address
  "$NODE" "$here/scripted-teacher.ts" > address &
  trap 'kill $!' EXIT
  read -r TEACHER < address
fi
cat > coa.toml <<END
[tasks]
suites = [{ from = "tasks.jsonl", checker = "exact", domain = "math" }]

[tools.mcp.shop]
command = ["$NODE", "$here/server.ts"]

[teach]
mind = "model"

[teacher]
base_url = "$TEACHER"
model = "${TEACHER_MODEL:-scripted}"

[filter]
min_interactions = 1
near_duplicates = false

[sft]
max_steps = ${STEPS:-60}
learning_rate = 4e-3
eval_share = 0
END

# 1. Does the tool work?
$COA tools list
$COA tools try stock '{"article": "lamp"}'

# 2. The team solves the tasks with it.
$COA teach
$COA run show latest

# 3. A model learns from that.
$COA distill latest
$COA filter latest
$COA sft latest

# 4. The model alone, with the tool, on a question that it was not taught.
$COA rollout tasks.jsonl --split test --model "$(ls -d runs/*/checkpoints/sft)" -n 1

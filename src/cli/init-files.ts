import { readFileSync } from 'node:fs'
import { builtinGrammars, exampleChains, render } from '../language/grammar/index.ts'
import { ProjectConfig } from '../pipeline/settings.ts'
import { recipeFile, settingsJsonSchema } from '../settings/index.ts'

/** Editors find it through the first line of coa.toml. */
const schemaFile = 'coa.schema.json'

/** The files of a new project, by name. */
export function projectFiles(): Record<string, string> {
  return {
    'coa.toml': settingsFile(),
    [schemaFile]: `${JSON.stringify(settingsJsonSchema(ProjectConfig), null, 2)}\n`,
    'grammar.toml': grammarFile,
    'chain.txt': `${render(builtinGrammars.get('web')!, exampleChains.get('web')!.steps)}\n`,
    '.gitignore': 'runs/\n.coa/\n*.db\n*.db-*\n',
  }
}

/** The quickstart recipe, with project settings before it and ways to customize it after it. */
function settingsFile(): string {
  const recipe = readFileSync(recipeFile('quickstart'), 'utf8')
  // The recipe's first lines describe the recipe file itself.
  return settingsHead + recipe.slice(recipe.indexOf('\n\n') + 2) + settingsEnd
}

const settingsHead = `#:schema ${schemaFile}
# Settings of this project, initially those of the quickstart. \`coa quickstart\` runs the whole pipeline with them;
# \`coa teach\`, \`coa sft\`, \`coa rl\` and others run one stage. Each setting can also be given as an environment variable
# (COA_TASKS_COUNT=50) or on the command line (--set tasks.count=50).

[project]
runs = "runs"                       # folder for run folders
seed = 1                            # random seed

`

const settingsEnd = `
# To customize, edit a section above or uncomment one below.
#
# Your own tasks: a file of questions and answers, or a public benchmark (coa tasks pull).
# Rows need "question" and "answer", or a column map: { from = "my-tasks.csv", map = { question = "q", answer = "a" } }.
#   [tasks] suites = ["my-tasks.jsonl"] and levels = {}
#
# Your own team: a topology in TypeScript, and a model that plays the agents.
#   [teach] topology = "my-team.ts" and mind = "model", and
# [teacher]
# base_url = "http://localhost:8001/v1"
# model = "my-model"
#
# Your own tools: TypeScript files (docs/40-tools.md has an example), or a Model Context Protocol (MCP) server.
# [tools.own]
# files = ["tools.ts"]
# [tools.mcp.mine]
# command = ["npx", "my-server"]
#
# Your own documents for the search tools: run \`coa corpus build FILES\`, then set
#   [search] corpus = "corpus.db"
#
# Your own model: a folder in the Hugging Face layout.
#   [student] model = "models/mine"
#
# Training on a GPU, on this or another machine: run \`coa trainer start --model models/mine\`, then set
# [engine]
# driver = "tinker"
# url = "http://localhost:8000"
#
# A judge model, for answers that no rule can check.
# [judge]
# base_url = "http://localhost:8001/v1"
# model = "my-judge"
`

const grammarFile = `# Your own grammar. To use it for all your tasks, set [language] grammar = "grammar.toml" in coa.toml.
# Check it after every change: coa grammar check grammar.toml

name = "support"
description = "Questions about orders, answered from the shop's records."
start = ["plan", "find_order"]

# think comes before each of these; the "next" rules ignore it.
[prelude]
agent = "think"
before = ["plan", "find_order", "answer"]

[[agents]]
name = "think"
kind = "role"
description = "Consider what is known and decide what to do next."

[[agents]]
name = "plan"
kind = "role"
description = "Say which steps will answer the question."
next = ["find_order"]

[[agents]]
name = "find_order"
kind = "tool"
description = "Look up an order by its number."
next = ["find_order", "answer"]

[agents.payload]
syntax = "json"        # or text, list, code

[agents.payload.schema]
type = "object"
required = ["number"]

[agents.payload.schema.properties.number]
type = "integer"

[[agents]]
name = "observation"
kind = "observation"
description = "What the tool returned. Never write it yourself."

[[agents]]
name = "answer"
kind = "answer"
description = "Answer the customer."
`

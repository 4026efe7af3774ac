import { readFileSync } from 'node:fs'
import { builtinGrammars, exampleChains, render } from '../language/grammar/index.ts'
import { ProjectConfig } from '../pipeline/settings.ts'
import { recipeFile, settingsJsonSchema } from '../settings/index.ts'

/** Editors find it by the first line of coa.toml. */
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

/** The recipe of the quickstart, with what else a project sets and how to make it one's own. */
function settingsFile(): string {
  const recipe = readFileSync(recipeFile('quickstart'), 'utf8')
  // Its first lines say what it is where it lies.
  return settingsHead + recipe.slice(recipe.indexOf('\n\n') + 2) + settingsEnd
}

const settingsHead = `#:schema ${schemaFile}
# Settings of this project: those of the quickstart, to be changed. \`coa quickstart\` runs the whole method with them,
# \`coa teach\`, \`coa sft\`, \`coa rl\` and the others one stage of it. Each setting can also be given as a variable
# (COA_TASKS_COUNT=50) or on the command line (--set tasks.count=50).

[project]
runs = "runs"                       # folder that holds the run folders
seed = 1                            # everything random starts from here

`

const settingsEnd = `
# How to make it your own. Change a section above, or take the # away from one below.
#
# Your tasks: a file of questions with answers that can be checked, or a public benchmark (coa tasks pull).
# Rows need "question" and "answer"; a table says more: { from = "my-tasks.csv", map = { question = "q", answer = "a" } }.
#   [tasks] suites = ["my-tasks.jsonl"], and levels = {}
#
# Your team: a topology in TypeScript, and a model that thinks for the agents.
#   [teach] topology = "my-team.ts", mind = "model", and
# [teacher]
# base_url = "http://localhost:8000/v1"
# model = "my-model"
#
# Your tools: code of yours (docs/40-tools.md has an example), or a server that speaks the Model Context Protocol.
# [tools.own]
# files = ["tools.ts"]
# [tools.mcp.mine]
# command = ["npx", "my-server"]
#
# Your documents, for the search tools: coa corpus build FILES, then
#   [search] corpus = "corpus.db"
#
# Your model: a folder in the Hugging Face layout.
#   [student] model = "models/mine"
#
# A GPU, on this machine or another: coa trainer start --model models/mine, then
# [engine]
# driver = "tinker"
# url = "http://localhost:8000"
#
# A judge, where no rule decides whether an answer is right.
# [judge]
# base_url = "http://localhost:8000/v1"
# model = "my-judge"
`

const grammarFile = `# A grammar of your own. Use it for all your tasks with: [language] grammar = "grammar.toml" in coa.toml
# Check it after every change with:   coa grammar check grammar.toml

name = "support"
description = "Questions about orders, answered from the shop's records."
start = ["plan", "find_order"]

# think stands before each of these, and the "next" rules look through it.
[prelude]
agent = "think"
before = ["plan", "find_order", "answer"]

[[agents]]
name = "think"
kind = "role"
description = "Weigh what is known and decide what to do next."

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
description = "Tell the customer."
`

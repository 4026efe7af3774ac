import { builtinGrammars, exampleChains, render } from '../grammar/index.ts'

/** The files of a new project, by name. */
export function projectFiles(): Record<string, string> {
  return {
    'coa.toml': settingsFile,
    'grammar.toml': grammarFile,
    'chain.txt': `${render(builtinGrammars.get('web')!, exampleChains.get('web')!.steps)}\n`,
    '.gitignore': 'runs/\n.coa/\n*.db\n*.db-*\n',
  }
}

const settingsFile = `# Settings of this project. Each can also be given as a variable (COA_PROJECT_RUNS)
# or on the command line (--set project.runs=out).

[project]
runs = "runs"          # folder that holds the run folders
seed = 1               # everything random starts from here

[language]
grammar = "web"        # web, multihop, code, math, all-tools, or a file such as "grammar.toml"
tokenizer = "bytes"    # a folder with tokenizer.json, or "bytes" for one token a byte

[tasks]
suites = ["math", "search", "code"]   # suites of coa, pulled benchmarks, or files
count = 10                            # of each

# [search]
# corpus = "corpus.db"                # made by: coa corpus build FILES

# [judge]                             # compares answers where no rule decides
# base_url = "http://localhost:8000/v1"
# model = "my-judge"
`

const grammarFile = `# A grammar of your own. Use it with: coa parse FILE --grammar grammar.toml
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

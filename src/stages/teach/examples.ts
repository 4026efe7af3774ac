import type { Contribution } from '../../schema/index.ts'
import type { AgentSpec, Reply, ToolFormat } from './contract.ts'
import { writeReply } from './reply.ts'

/*
 * What a model is shown besides its instructions. Small models follow an example far better than a description, but copy its
 * content, so examples are about another question and say so.
 */

type Example = Omit<Reply, 'as' | 'to'>

const computing: Partial<Record<Contribution, Example>> = {
  facts: {
    thought: 'The question gives three numbers.',
    text: 'Known: 17 crates, 144 jars in each crate, 389 jars sold. To find out: how many jars are left.',
  },
  plan: {
    thought: 'First all jars, then those that are sold.',
    text: '1. Multiply 17 crates by 144 jars.\n2. Subtract the 389 jars that were sold.',
  },
  task: {
    thought: 'The program can do both steps.',
    text: 'There are 17 crates with 144 jars each, and 389 jars are sold. Compute and print how many jars are left.',
  },
  report: { thought: 'The program printed one number.', text: '2059 jars are left.' },
  reflection: {
    thought: '17 * 144 is 2448, and 2448 - 389 is 2059.',
    text: 'The result 2059 agrees with the plan. Nothing is missing.',
  },
  suggestion: { thought: 'The report gives the number that the question asks for.', text: '2059' },
  check: {
    thought: '17 * 144 - 389 is 2059.',
    text: 'The question asks for the jars that are left, and the program computed them.\nScore: 4',
  },
  answer: { thought: 'The answer was accepted.', text: '2059' },
}

const searching: typeof computing = {
  facts: {
    thought: 'The question is about a lighthouse.',
    text: 'Known: it guards Varnholm harbor. To find out: its name, and the year it was built.',
  },
  plan: {
    thought: 'I need the name first.',
    text: '1. Find the lighthouse of Varnholm harbor.\n2. Find the year it was built.',
  },
  task: { thought: 'First the name.', text: 'Find out which lighthouse guards Varnholm harbor.' },
  report: {
    thought: 'The first result names it.',
    text: 'Skarn Light guards Varnholm harbor. It was built in 1871.',
  },
  reflection: {
    thought: 'Name and year come from the same page.',
    text: 'Both steps of the plan are done, and the findings agree.',
  },
  suggestion: { thought: 'The report gives name and year.', text: 'Skarn Light, 1871' },
  check: {
    thought: 'The report says 1871.',
    text: 'The question asks for a year, and the finding gives it.\nScore: 4',
  },
  answer: { thought: 'The answer was accepted.', text: 'Skarn Light, 1871' },
}

/** Examples of the wanted contributions, for the end of a prompt. */
export function replyExamples(
  wants: readonly Contribution[],
  { workers, tool, computes }: { workers: readonly string[]; tool?: ToolFormat; computes: boolean },
): string {
  const examples = wants.flatMap((as) => {
    if (as === 'call') return tool === undefined ? [] : [callExample(tool)]
    const example = (computes ? computing : searching)[as]
    if (example === undefined) return []
    return [writeReply({ ...example, as, ...(as === 'task' ? { to: workers[0] ?? 'AGENT' } : {}) })]
  })
  if (examples.length === 0) return ''
  const many = examples.length > 1 ? 'Examples of a reply (write only one)' : 'Example of a reply'
  return `Think in one or two sentences. ${many}, for another question:\n${examples.join('\n\nor\n\n')}`
}

/** Whether a text is one of the examples, repeated. */
export function isExample(as: Contribution, text: string): boolean {
  return [computing, searching].some((examples) => examples[as]?.text === text.trim())
}

/** What a tool takes as its input, with an example. */
function callExample(tool: ToolFormat): string {
  const { payload } = tool
  const thought = payload.syntax === 'code' ? 'A short program computes it.' : 'One query should be enough.'
  return writeReply({ thought, as: 'call', text: payloadExample(tool) })
}

function payloadExample({ name, payload }: ToolFormat): string {
  switch (payload.syntax) {
    case 'code':
      return `\n\`\`\`${payload.languages[0]}\ncrates = 17\njars = crates * 144\nprint(jars - 389)\n\`\`\`\n`
    case 'list':
      return name === 'crawl_page' ? 'https://example.org/skarn-light' : 'first item | second item'
    case 'json':
      return payload.schema === undefined
        ? '{"name": "value"}'
        : `{…} matching ${JSON.stringify(payload.schema)}`
    case 'text':
      return 'Varnholm harbor lighthouse'
  }
}

/** What a worker has to know about its tool's input. */
export function toolHelp({ payload }: ToolFormat): string {
  switch (payload.syntax) {
    case 'code':
      return (
        'Write a complete program with a variable for each quantity. Nothing is defined in advance: write the numbers of the ' +
        'question into the program. Do not use input(). End with print() of the result, and print nothing else.'
      )
    case 'list':
      return 'Write one item, or several with | between them.'
    case 'json':
      return 'Write one JSON object.'
    case 'text':
      return 'Write one short query and nothing else.'
  }
}

/** The system prompt: for a model, with more help. */
export function instructionsFor(agent: AgentSpec, isHelped: boolean): string {
  return isHelped && agent.help !== undefined ? `${agent.instructions} ${agent.help}` : agent.instructions
}

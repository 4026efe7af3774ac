import { describe, expect, it } from 'vitest'
import { ChainParser, collectChain, defineGrammar, spansOf } from '../../src/language/grammar/index.ts'
import { dataFile, readJsonLines } from './shared-data.ts'

/** The tags of the WebDancer trajectories (Alibaba-NLP/DeepResearch) as a grammar. */
const webdancer = defineGrammar({
  name: 'webdancer',
  description: 'Search and visit trajectories with JSON tool calls.',
  start: ['tool_call', 'answer'],
  prelude: { agent: 'think', before: ['tool_call', 'answer'] },
  agents: [
    { name: 'think', kind: 'role', description: 'Reason.' },
    {
      name: 'tool_call',
      kind: 'tool',
      description: 'Call a tool.',
      payload: {
        syntax: 'json',
        schema: {
          type: 'object',
          properties: { name: { type: 'string' }, arguments: { type: 'object' } },
          required: ['name', 'arguments'],
        },
      },
      next: ['tool_call', 'answer'],
    },
    { name: 'tool_response', kind: 'observation', description: 'The result.' },
    { name: 'answer', kind: 'answer', description: 'Answer.' },
  ],
})

interface Trajectory {
  messages: { role: string; content: string }[]
}

const file = dataFile('traces/webdancer-chatml.jsonl.gz')

describe.skipIf(file === null)('the published WebDancer trajectories', () => {
  it('are parsed without losing a byte', () => {
    const trajectories = readJsonLines<Trajectory>(file!)
    expect(trajectories.length).toBe(200)
    const tally = { bytes: 0, calls: 0, answers: 0, ordered: 0, faults: 0 }
    for (const { messages } of trajectories) {
      // After the system prompt and the question come the model's turns and the tool results.
      const turns = messages.slice(2)
      const text = turns.map((message) => message.content).join('\n')
      const parser = new ChainParser(webdancer)
      const events = [
        ...turns.flatMap(({ content }, i) => parser.push(i === 0 ? content : `\n${content}`)),
        ...parser.end(),
      ]
      const chain = collectChain(webdancer, text, events)
      const covered = spansOf(chain)
        .map((span) => span.text)
        .join('')
      expect(Buffer.from(covered).equals(Buffer.from(text))).toBe(true)
      const observed = chain.blocks.filter((block) => block.kind === 'observation').map((block) => block.text)
      const answered = turns
        .filter((message) => message.role === 'user')
        .map(({ content }) => inner(content, 'tool_response'))
      expect(observed).toEqual(answered)
      expect(chain.calls.length).toBe(observed.length)
      tally.bytes += Buffer.byteLength(covered)
      tally.calls += chain.calls.length
      tally.answers += chain.answer === null ? 0 : 1
      tally.ordered += chain.order.ok ? 1 : 0
      tally.faults += chain.diagnostics.length
    }
    expect(tally).toMatchObject({ calls: 222, answers: 200, ordered: 200, faults: 0 })
    console.log(
      `webdancer: 200 trajectories, ${tally.bytes} bytes read, 0 lost, ${tally.calls} calls, ${tally.answers} answers`,
    )
  })
})

/** The text between the first opening and the last closing tag, found without the parser. */
function inner(text: string, tag: string): string {
  return text.slice(text.indexOf(`<${tag}>`) + tag.length + 2, text.lastIndexOf(`</${tag}>`))
}

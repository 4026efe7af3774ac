import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { type Conversation, conversations, expectAll, runsIn, trajectoryIn } from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'openai-responses')!

type Style = { thoughts: 'summary' | 'content'; custom: boolean; lists: boolean }
const styles: fc.Arbitrary<Style> = fc.record({
  thoughts: fc.constantFrom('summary', 'content'),
  custom: fc.boolean(),
  lists: fc.boolean(),
})
type Item = Record<string, unknown>

/** What is sent and what comes back, in turns. */
function turnsOf(
  { question, rounds, lastThought, answer }: Conversation,
  style: Style,
): { input: Item[]; output: Item[] }[] {
  const message = (text: string): Item => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  })
  const reasoning = (text: string | undefined): Item[] =>
    text === undefined ? [] : [{ type: 'reasoning', [style.thoughts]: [{ type: 'text', text }] }]
  let input: Item[] = [{ role: 'user', content: [{ type: 'input_text', text: question }] }]
  const turns = rounds.map(({ thought, words, calls, results }) => {
    const output = [
      ...reasoning(thought),
      ...(words === undefined ? [] : [message(words)]),
      ...calls.map(({ id, tool, input }) => ({
        id: `fc_${id}`,
        call_id: id,
        name: tool,
        ...(style.custom
          ? { type: 'custom_tool_call', input }
          : { type: 'function_call', arguments: JSON.stringify({ query: input }) }),
      })),
    ]
    const turn = { input, output }
    input = results.map(({ id, output }) => ({
      type: style.custom ? 'custom_tool_call_output' : 'function_call_output',
      call_id: id,
      output: style.lists ? [{ type: 'input_text', text: output }] : output,
    }))
    return turn
  })
  const ending = answer === undefined ? [] : [...reasoning(lastThought), message(answer)]
  return [...turns, { input, output: ending }]
}

describe('openai-responses', () => {
  it('reads lists of items completely', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), styles, async (conversation, style) => {
        const { system } = conversation
        const items = turnsOf(conversation, style).flatMap(({ input, output }) => [...input, ...output])
        fc.pre(items.length > 1)
        const [run] = await runsIn(
          format,
          system === undefined ? items : { instructions: system, input: items },
        )
        expectAll(conversation, trajectoryIn(run!, format))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('chains responses by their ids', async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ system: false }), styles, async (conversation, style) => {
        fc.pre(conversation.answer !== undefined)
        const calls = turnsOf(conversation, style).map(({ input, output }, at) => ({
          request: { input, ...(at === 0 ? {} : { previous_response_id: `resp_${at - 1}` }) },
          response: { object: 'response', id: `resp_${at}`, output },
        }))
        const runs = await runsIn(format, ...calls)
        expect(runs).toHaveLength(1)
        expectAll(conversation, trajectoryIn(runs[0]!, format))
      }),
      { numRuns: howMany(2_000) },
    )
  })

  it('takes hosted tools with their results, and the whole response from a stream', async () => {
    const output = [
      {
        type: 'code_interpreter_call',
        id: 'ci',
        code: 'print(1)',
        outputs: [{ type: 'logs', logs: 'one line' }],
      },
      { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'rivers' } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is the Danube.' }] },
    ]
    const [run] = await runsIn(
      format,
      { type: 'response.created', response: { id: 'r', object: 'response', output: [] } },
      { type: 'response.output_text.delta', output_index: 2, delta: 'It is' },
      { type: 'response.completed', response: { id: 'r', object: 'response', output } },
    )
    expect(trajectoryIn(run!, format).events).toMatchObject([
      { type: 'wrote' },
      { type: 'tool-called', tool: 'code', input: 'print(1)' },
      { type: 'tool-answered', output: 'one line' },
      { type: 'wrote' },
      { type: 'tool-called', tool: 'web_search', input: { query: 'rivers' } },
      { type: 'wrote', text: 'It is the Danube.' },
      { type: 'answered', text: 'It is the Danube.' },
    ])
  })
})

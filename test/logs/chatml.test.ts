import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import {
  type Conversation,
  conversations,
  expectAll,
  inOrder,
  runsIn,
  trajectoryIn,
} from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'chatml')!

/** `opens`: the template has written the tag that opens the thought. */
type Style = { instructs: boolean; together: boolean; opens: boolean; role: 'user' | 'tool' }
const styles: fc.Arbitrary<Style> = fc.record({
  instructs: fc.boolean(),
  together: fc.boolean(),
  opens: fc.boolean(),
  role: fc.constantFrom('user', 'tool'),
})

const instructions = 'Write <think> thoughts </think> and <tool_call> calls </tool_call>.\n\nUser: '

function messagesOf({ system, question, rounds, lastThought, answer }: Conversation, style: Style) {
  const { instructs, together, opens, role } = style
  const think = (thought: string | undefined): string =>
    thought === undefined ? '' : `${opens ? '' : '<think>\n'}${thought}\n</think>\n`
  return [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: `${instructs ? instructions : ''}${question}` },
    ...rounds.flatMap(({ thought, words, calls, results }) => {
      const texts = calls.map(
        ({ tool, input }) =>
          `<tool_call>\n${JSON.stringify({ name: tool, arguments: { query: [input] } })}\n</tool_call>`,
      )
      const outputs = results.map(({ output }) => `<tool_response>\n${output}\n</tool_response>`)
      return [
        {
          role: 'assistant',
          content: `${think(thought)}${words === undefined ? '' : `${words}\n`}${texts.join('\n')}`,
        },
        ...(together ? (outputs.length === 0 ? [] : [outputs.join('\n')]) : outputs).map((content) => ({
          role,
          content,
        })),
      ]
    }),
    ...(answer === undefined
      ? []
      : [{ role: 'assistant', content: `${think(lastThought)}<answer>\n${answer}\n</answer>` }]),
  ]
}

const noise = {
  thought: [' with <tool_call> named', ' and <answer>a guess</answer>', ' in `<tool_response>`'],
  output: [' <answer>no</answer>', '\n<think>quoted</think>', ' </tool_response> quoted', '\n{"name": "x"}'],
  answer: [' in <b>bold</b>', ' as </answer> quoted'],
}

describe('chatml', () => {
  it('reads thoughts, calls, outputs and answers, whatever they quote', async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ noise }).map(inOrder), styles, async (conversation, style) => {
        fc.pre(conversation.rounds.length > 0)
        const [run] = await runsIn(format, { messages: messagesOf(conversation, style) })
        const trajectory = trajectoryIn(run!, format)
        expectAll(conversation, trajectory)
        expect(trajectory.question).toBe(conversation.question)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('keeps calls after a thought that nobody closed, and reports calls that are not JSON', async () => {
    const call = '<tool_call>{"name": "search", "arguments": {"query": "rivers"}}</tool_call>'
    const [open] = await runsIn(format, [
      { role: 'user', content: 'Which river?' },
      { role: 'assistant', content: `<think>Where is it ${call}` },
      { role: 'user', content: '<tool_response>The Danube</tool_response>' },
      { role: 'assistant', content: '<think>So it is the Danube.</think><answer>Danube</answer>' },
    ])
    expect(trajectoryIn(open!, format)).toMatchObject({
      events: [
        { type: 'activated' },
        { type: 'wrote', thought: 'Where is it' },
        { type: 'tool-called', tool: 'search' },
        { type: 'tool-answered', output: 'The Danube' },
        { type: 'wrote', thought: 'So it is the Danube.' },
        { type: 'answered' },
      ],
    })
    const [broken] = await runsIn(format, [
      { role: 'user', content: 'Which river?' },
      { role: 'assistant', content: '<think>Hm.</think><tool_call>{"name": </tool_call>' },
      { role: 'user', content: '<tool_response>The call could not be read</tool_response>' },
    ])
    const { events, meta } = trajectoryIn(broken!, format)
    expect(events.at(-1)).toMatchObject({ type: 'failed', boundary: 'import' })
    expect(meta['leftOut']).toMatchObject([{ text: 'The call could not be read' }])
  })

  it('takes the last words as the answer if nothing is marked as one', async () => {
    const [run] = await runsIn(format, [
      { role: 'user', content: 'Which river?' },
      { role: 'assistant', content: '<think>Search.</think><tool_call>{"name": "search"}</tool_call>' },
      { role: 'user', content: '<tool_response>The Danube</tool_response>' },
      { role: 'assistant', content: '<think>That is it.</think>\n\nThe Danube.' },
    ])
    expect(run).toMatchObject({ items: { length: 6 } })
    expect(trajectoryIn(run!, format).answer).toBe('The Danube.')
  })
})

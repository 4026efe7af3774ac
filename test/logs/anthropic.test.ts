import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'
import { howMany } from '../how-many.ts'
import { type Conversation, conversations, expectAll, runsIn, trajectoryIn } from './conversations.ts'

const format = logFormats.find(({ name }) => name === 'anthropic')!

const styles = fc.record({ blocks: fc.boolean(), lists: fc.boolean() })
type Style = { blocks: boolean; lists: boolean }
type Message = { role: string; content: unknown }

function messagesOf(
  { question, rounds, lastThought, answer }: Conversation,
  { blocks, lists }: Style,
): Message[] {
  const text = (words: string): unknown => (blocks ? [{ type: 'text', text: words }] : words)
  const thinking = (thought: string | undefined): unknown[] =>
    thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 'c2lnbmF0dXJl' }]
  return [
    { role: 'user', content: text(question) },
    ...rounds.flatMap(({ thought, words, calls, results }) => [
      {
        role: 'assistant',
        content: [
          ...thinking(thought),
          ...(words === undefined ? [] : [{ type: 'text', text: words }]),
          ...calls.map(({ id, tool, input }) => ({
            type: 'tool_use',
            id,
            name: tool,
            input: { query: input },
          })),
        ],
      },
      ...(results.length === 0
        ? []
        : [
            {
              role: 'user',
              content: results.map(({ id, output }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: lists ? [{ type: 'text', text: output }] : output,
              })),
            },
          ]),
    ]),
    ...(answer === undefined
      ? []
      : [{ role: 'assistant', content: [...thinking(lastThought), { type: 'text', text: answer }] }]),
  ]
}

describe('anthropic', () => {
  it('reads requests completely', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), styles, async (conversation, style) => {
        const request = { system: conversation.system ?? 'Some instructions.', max_tokens: 9 }
        const [run] = await runsIn(format, { ...request, messages: messagesOf(conversation, style) })
        expectAll(conversation, trajectoryIn(run!, format))
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('joins the requests and responses of a run', async () => {
    await fc.assert(
      fc.asyncProperty(conversations({ system: false }), styles, async (conversation, style) => {
        fc.pre(conversation.answer !== undefined)
        const messages = messagesOf(conversation, style)
        const calls = messages.flatMap(({ role, content }, at) =>
          role === 'assistant'
            ? { request: { messages: messages.slice(0, at) }, response: { type: 'message', role, content } }
            : [],
        )
        const runs = await runsIn(format, ...calls)
        expect(runs).toHaveLength(1)
        expectAll(conversation, trajectoryIn(runs[0]!, format))
      }),
      { numRuns: howMany(2_000) },
    )
  })

  it('joins the events of a stream', async () => {
    const block = (index: number, content_block: unknown, ...deltas: unknown[]): unknown[] => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
    const events = [
      { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], model: 'x' } },
      ...block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'Let me look.' }),
      ...block(
        1,
        { type: 'tool_use', id: 'a', name: 'search', input: {} },
        { type: 'input_json_delta', partial_json: '{"query": "ri' },
        { type: 'input_json_delta', partial_json: 'vers"}' },
      ),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    const [run] = await runsIn(format, ...events)
    expect(trajectoryIn(run!, format).events).toMatchObject([
      { type: 'wrote', thought: 'Let me look.' },
      { type: 'tool-called', tool: 'search', input: { query: 'rivers' } },
    ])
  })

  it('reads tools that the server runs within one message', async () => {
    const [run] = await runsIn(format, [
      { role: 'user', content: 'Which river?' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'river' } },
          { type: 'web_search_tool_result', tool_use_id: 's', content: [{ title: 'Rivers of the world' }] },
          { type: 'text', text: 'It is the Danube.' },
        ],
      },
    ])
    expect(trajectoryIn(run!, format).events.slice(2)).toMatchObject([
      { type: 'tool-called', tool: 'web_search' },
      { type: 'tool-answered', parent: 'e3', output: 'Rivers of the world' },
      { type: 'wrote', text: 'It is the Danube.' },
      { type: 'answered', text: 'It is the Danube.' },
    ])
  })
})

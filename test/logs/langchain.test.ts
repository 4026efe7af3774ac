import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { langchain } from '../../src/logs/formats/langchain.ts'
import { howMany } from '../how-many.ts'
import { forms, langChainForm, type Writing } from './langchain-form.ts'
import {
  callsOf,
  expectRun,
  messagesOfTurn,
  type TeamMessage,
  type TeamRun,
  teamRun,
  trajectoryOf,
} from './team-run.ts'

const writing: fc.Arbitrary<Omit<Writing, 'named'>> = fc.record({
  form: fc.constantFrom(...forms),
  thoughts: fc.constantFrom('content', 'beside'),
  calls: fc.constantFrom('tool_calls', 'content', 'both'),
  status: fc.constant(true),
})

/** One conversation in which all agents take part. */
const conversationOf = ({ question, turns }: TeamRun): TeamMessage[] => [
  { role: 'system', text: turns[0]!.agent.system },
  { role: 'user', text: question },
  ...turns.flatMap(messagesOfTurn),
]

/** Agents are told apart by names, or by what was handed to whom. */
const run = fc.boolean().chain((named) =>
  fc.tuple(
    teamRun(
      named
        ? { handsOff: false, repeats: true }
        : { handsOff: true, repeats: true, names: ['assistant', 'researcher', 'writer'] },
    ),
    writing.map((rest): Writing => ({ ...rest, named })),
  ),
)

const check = (made: TeamRun) => async (values: readonly unknown[]) =>
  expectRun(made, await trajectoryOf(langchain, values), { prompts: false })

const messagesIn = (made: TeamRun, how: Writing, withIds = true): object[] =>
  conversationOf(made).map((message, index) => langChainForm(message, withIds ? `m${index}` : null, how))

describe('LangChain messages', () => {
  it('are read in every form, in lists and line by line', async () => {
    await fc.assert(
      fc.asyncProperty(run, fc.constantFrom('list', 'object', 'lines'), async ([made, how], layout) => {
        const messages = messagesIn(made, how)
        await check(made)(layout === 'list' ? [messages] : layout === 'object' ? [{ messages }] : messages)
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('are read once from the states of a thread, which repeat them', async () => {
    const history = fc.record({
      ids: fc.boolean(),
      lines: fc.boolean(),
      cuts: fc.array(fc.nat(20), { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(run, history, async ([made, how], { ids, lines, cuts }) => {
        const messages = messagesIn(made, how, ids)
        const states = [...cuts, messages.length]
          .sort((one, other) => one - other)
          .map((end, step) => ({
            values: { messages: messages.slice(0, end) },
            next: [],
            metadata: { source: 'loop', step },
            created_at: `2026-01-01T00:00:0${step}.000000+00:00`,
            checkpoint: { thread_id: 'thread-1', checkpoint_id: `${step}` },
          }))
        // Newest first.
        states.reverse()
        await check(made)(lines ? states : [states])
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('are put together from the chunks of a stream', async () => {
    const stream = fc.record({
      size: fc.integer({ min: 1, max: 12 }),
      final: fc.boolean(),
      lines: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(run, stream, async ([made, how], { size, final, lines }) => {
        const messages = messagesIn(made, how)
        const conversation = conversationOf(made)
        const first = conversation.findIndex(({ role }) => role === 'assistant')
        const events: unknown[] = [['values', { messages: messages.slice(0, first) }]]
        for (const [index, message] of conversation.entries())
          if (index >= first)
            for (const chunk of chunksOf(message, `m${index}`, how, size))
              events.push(['messages', [chunk, { langgraph_node: 'model_request' }]])
        if (final) events.push(['values', { messages }])
        await check(made)(lines ? events : [events])
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('come as updates of the nodes of a graph, which are agents', async () => {
    await fc.assert(
      fc.asyncProperty(teamRun({ handsOff: false }), writing, async (made, rest) => {
        const how = { ...rest, named: false }
        const start = [langChainForm({ role: 'user', text: made.question }, 'question', how)]
        const events = made.turns.flatMap((turn, number) => {
          const [own, ...results] = messagesOfTurn(turn).map((message, index) =>
            langChainForm(message, `m${number}-${index}`, how),
          )
          const said = ['updates', { [turn.agent.name]: { messages: [own] } }]
          return results.length === 0 ? [said] : [said, ['updates', { tools: { messages: results } }]]
        })
        await check(made)([['values', { messages: start }], ...events])
      }),
      { numRuns: howMany(2500) },
    )
  })

  it('are of the agent whose words the team inlines', async () => {
    const [human, ai] = [
      { type: 'human', content: 'What is new?' },
      { type: 'ai', content: '<name>scout</name><content>Nothing is new.</content>' },
    ]
    const { events, answer } = await trajectoryOf(langchain, [[human, ai]])
    expect(events.find(({ type }) => type === 'wrote')).toMatchObject({
      agent: 'scout',
      text: 'Nothing is new.',
    })
    expect(answer).toBe('Nothing is new.')
  })

  it('of the framework about a return to the supervisor are left out', async () => {
    const call = { id: 'b1', name: 'transfer_back_to_supervisor', args: {} }
    const { events, meta } = await trajectoryOf(langchain, [
      [
        { type: 'human', content: 'Add up the numbers of the page.' },
        { type: 'ai', name: 'researcher', content: 'The sum is 12.' },
        { type: 'ai', name: 'researcher', content: 'Transferring back to supervisor', tool_calls: [call] },
        { type: 'tool', tool_call_id: 'b1', content: 'Successfully transferred back to supervisor' },
        { type: 'ai', name: 'supervisor', content: 'Twelve.' },
      ],
    ])
    expect(events.map(({ type, agent }) => [type, agent])).toEqual([
      ['activated', 'researcher'],
      ['wrote', 'researcher'],
      ['sent', 'researcher'],
      ['wrote', 'supervisor'],
      ['answered', 'supervisor'],
    ])
    expect(meta['leftOut']).toMatchObject([
      { text: 'Transferring back to supervisor' },
      { text: 'Successfully transferred back to supervisor' },
    ])
  })
})

const pieces = (text: string, size: number): string[] => {
  const cut: string[] = []
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size))
  return cut
}

/** A message in pieces, as a model writes it. */
function chunksOf(message: TeamMessage, id: string, how: Writing, size: number): object[] {
  if (message.role !== 'assistant') return [langChainForm(message, id, how)]
  const { turn } = message
  const chunk = (fields: object): object => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'AIMessageChunk'],
    kwargs: { id, ...(how.named ? { name: turn.agent.name } : {}), ...fields },
  })
  return [
    chunk({ content: '' }),
    ...pieces(turn.thought, size).map((reasoning_content) =>
      chunk({ content: '', additional_kwargs: { reasoning_content } }),
    ),
    ...pieces(turn.text, size).map((content) => chunk({ content })),
    ...callsOf(turn).flatMap(({ id: call, tool, input }, index) => [
      chunk({ content: '', tool_call_chunks: [{ id: call, name: tool, args: '', index }] }),
      ...pieces(JSON.stringify(input), size).map((args) =>
        chunk({ content: '', tool_call_chunks: [{ args, index }] }),
      ),
    ]),
  ]
}

import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { modelApis } from '../../../src/logs/apis/index.ts'
import { readStream } from '../../../src/logs/index.ts'
import { howMany } from '../../how-many.ts'
import { removeRuns, shortly, startGateway } from './gateway.ts'
import { type Said, startScriptedModel, streamOf, wholeOf } from './scripted-model.ts'

afterAll(removeRuns)

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
const said: fc.Arbitrary<Said> = fc.record(
  {
    text: text,
    thought: text,
    calls: fc.uniqueArray(
      fc.record({ id: fc.uuid(), name: fc.constantFrom('search', 'open'), input: fc.dictionary(text, text) }),
      { maxLength: 3, selector: ({ id }) => id },
    ),
  },
  { requiredKeys: ['text'] },
)

describe.each(modelApis)('$name', (api) => {
  it('a stream adds up to what the whole response says, whatever its line breaks', () => {
    fc.assert(
      fc.property(said, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), (one, feed, commented) => {
        const comment = commented ? ': keep-alive\n\n' : ''
        const stream = streamOf(api.path, one).join(comment).replaceAll('\n', feed)
        const joined = api.answer(api.join(readStream(stream).events))
        expect(joined).toEqual(api.answer(wholeOf(api.path, one)))
        expect(joined.turns.map((turn) => turn.text).join('')).toBe(one.text)
        expect(joined.turns.flatMap(({ calls }) => calls.map(({ input }) => input))).toEqual(
          (one.calls ?? []).map(({ input }) => input),
        )
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('a stream that breaks off anywhere has the beginning of the text', () => {
    fc.assert(
      fc.property(text, fc.nat(), (whole, cut) => {
        const stream = streamOf(api.path, { text: whole }).join('')
        const { turns } = api.answer(api.join(readStream(stream.slice(0, cut % stream.length)).events))
        expect(whole.startsWith(turns.map((turn) => turn.text).join(''))).toBe(true)
      }),
      { numRuns: howMany(10_000) },
    )
  })
})

it('reads anything that a server or an app may send', () => {
  const keys = fc.constantFrom(
    ...['choices', 'message', 'delta', 'tool_calls', 'index', 'function', 'content', 'type', 'role', 'usage'],
    ...['item', 'output_index', 'output', 'input', 'messages', 'content_block', 'error', 'tools', 'summary'],
  )
  const words = fc.constantFrom(
    'message_start',
    'content_block_delta',
    'response.output_item.added',
    'assistant',
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), words, fc.constant(null), fc.integer(), fc.double(), fc.boolean()),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(keys, tie('any'), { maxKeys: 5 }),
    ),
  })).any
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), fc.constantFrom(...modelApis), (values, api) => {
      const events = JSON.parse(JSON.stringify(values)) as unknown[]
      for (const event of events) {
        api.request(event)
        api.answer(event)
      }
      api.answer(api.join(events))
    }),
    { numRuns: howMany(10_000) },
  )
})

const schema = { type: 'object', properties: { q: { type: 'string' } } }
const asked = 'What is the capital of Peru, and how many people live there?'

/** The requests of an agent that calls a tool and then answers, as an app sends them. */
const dialects = {
  chat: {
    path: '/v1/chat/completions',
    body: (more: object[]) => ({
      model: 'm',
      tools: [
        {
          type: 'function',
          function: { name: 'search', description: 'Search the web.', parameters: schema },
        },
      ],
      messages: [
        { role: 'system', content: 'You are the researcher.' },
        { role: 'user', content: asked },
        ...more,
      ],
    }),
    more: [
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":"Lima"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ten million' },
    ],
  },
  responses: {
    path: '/v1/responses',
    body: (more: object[]) => ({
      model: 'm',
      instructions: 'You are the researcher.',
      tools: [{ type: 'function', name: 'search', description: 'Search the web.', parameters: schema }],
      input: [{ role: 'user', content: asked }, ...more],
    }),
    more: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'c1', name: 'search', arguments: '{"q":"Lima"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ten million' },
    ],
  },
  messages: {
    path: '/v1/messages',
    body: (more: object[]) => ({
      model: 'm',
      max_tokens: 100,
      system: [{ type: 'text', text: 'You are the researcher.' }],
      tools: [{ name: 'search', description: 'Search the web.', input_schema: schema }],
      messages: [{ role: 'user', content: asked }, ...more],
    }),
    more: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'search', input: { q: 'Lima' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ten million' }] },
    ],
  },
}

describe.each(Object.entries(dialects))('an agent with a tool, through %s', (_name, { path, body, more }) => {
  it.each([false, true])('becomes a trajectory; streamed: %s', async (stream) => {
    const model = await startScriptedModel((_request, index) =>
      index === 0
        ? { text: 'I look.', thought: 'Hm.', calls: [{ id: 'c1', name: 'search', input: { q: 'Lima' } }] }
        : { text: 'Lima, ten million.' },
    )
    const gateway = await startGateway(model.url)
    for (const messages of [[], more]) {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer sk-0123456789abcdef' },
        body: JSON.stringify({ ...body(messages), stream }),
      })
      const relayed = await response.text()
      expect(response.status).toBe(200)
      expect(relayed).toContain(stream ? 'data: ' : '"model":"scripted"')
    }
    const { trajectories, tools, summary } = await gateway.stop()
    await model.close()
    expect(model.received.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill('Bearer sk-0123456789abcdef'),
    )
    expect(trajectories.map(shortly)).toEqual([
      [
        `researcher < system: You are the researcher. | user: ${asked}`,
        'researcher (Hm.\nI look.) > I look.',
        'researcher ! search {"q":"Lima"}',
        'researcher = ten million',
        'researcher > Lima, ten million.',
        'researcher answered Lima, ten million.',
      ],
    ])
    expect(trajectories[0]).toMatchObject({ question: asked, answer: 'Lima, ten million.' })
    expect(trajectories[0]!.meta['leftOut']).toBeUndefined()
    expect(tools).toEqual(['search'])
    expect(summary.figures).toMatchObject({ runs: 1, calls: 2, errors: 0, 'prompt tokens': 20 })
  })
})

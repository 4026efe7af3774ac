import { afterEach, expect, it, vi } from 'vitest'
import { streamText } from '../../src/schema/index.ts'
import { tokensOf } from '../../src/serve/usage.ts'
import { callOf, policyOf, tokenizer, worldOf, writes } from '../rollout/fixtures.ts'
import { eventsOf, solution, startTestServer, stopServers, type TestServer } from './support.ts'

afterEach(stopServers)

const tools = [{ type: 'function', function: { name: 'code', parameters: { type: 'object' } } }]
const asked = { role: 'user', content: 'What is 2 + 3?' }
interface Reply {
  choices: {
    message: { content: string; tool_calls?: { id: string; function: { arguments: string } }[] }
    finish_reason: string
  }[]
  usage: { coa: Record<string, number> }
  error: { code: string; message: string }
}
const replyTo = async (server: TestServer, messages: unknown[], more: object = {}): Promise<Reply> =>
  (await (await server.chat({ messages, tools, ...more })).json()) as Reply
const result = (id: string, content = '5') => [
  asked,
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'code', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: id, content },
]

it('the model continues the tokens that it wrote', async () => {
  const onServer = await startTestServer()
  await onServer.chat({ seed: 7 })
  const prompts: number[][] = []
  const policy = policyOf(writes(solution), {
    onRequest: ({ prompt }) => void prompts.push(Array.from(prompt)),
  })
  const server = await startTestServer({ serve: { tools: 'client' }, policy })
  // The world's own tool has the same name, so that the prompts are the same.
  const first = await replyTo(server, [asked], { seed: 7 })
  const [call] = first.choices[0]!.message.tool_calls!
  expect(first.choices[0]!.finish_reason).toBe('tool_calls')
  expect(JSON.parse(call!.function.arguments)).toEqual({ code: 'print(2 + 3)' })
  const second = await replyTo(server, result(call!.id))
  expect(second.choices[0]!.finish_reason).toBe('stop')
  const [one, other] = [onServer.rollouts[0]!, server.rollouts[0]!]
  expect(other.promptTokens).toEqual(one.promptTokens)
  expect(other.spans).toEqual(one.spans)
  // What the model read for its second request begins with what it had read and written before.
  const written = other.spans.slice(0, -3).flatMap(({ tokens = [] }) => tokens)
  expect(tokenizer.decode(prompts[1]!)).toContain(streamText({ spans: other.spans.slice(0, -3) }))
  expect(prompts[1]!.slice(prompts[0]!.length, prompts[0]!.length + written.length)).toEqual(written)
  // Both replies together count what the whole chain counts.
  const whole = tokensOf(onServer.rollouts[0]!)
  for (const key of ['prompt', 'sampled', 'inserted', 'once', 'billed'] as const)
    expect(first.usage.coa[key]! + second.usage.coa[key]!, key).toBe(whole[key])
})

it('a result counts once; without a waiting chain, the error says so', async () => {
  const server = await startTestServer({ serve: { tools: 'client' } })
  const [call] = (await replyTo(server, [asked])).choices[0]!.message.tool_calls!
  expect(server.service.held.size).toBe(1)
  await replyTo(server, result(call!.id))
  const again = await replyTo(server, result(call!.id))
  expect(again.error).toMatchObject({
    code: 'tool_call_expired',
    message: expect.stringContaining('ask the question again'),
  })
})

it('waiting chains are dropped, the oldest first, and after a while', async () => {
  const server = await startTestServer({ serve: { tools: 'client', held: 1 } })
  const [first] = (await replyTo(server, [asked])).choices[0]!.message.tool_calls!
  const [second] = (await replyTo(server, [asked])).choices[0]!.message.tool_calls!
  expect(server.service.held.size).toBe(1)
  expect((await replyTo(server, result(first!.id))).error.code).toBe('tool_call_expired')
  expect((await replyTo(server, result(second!.id))).choices[0]!.finish_reason).toBe('stop')
  const brief = await startTestServer({ serve: { tools: 'client', hold_s: 0.01 } })
  const [late] = (await replyTo(brief, [asked])).choices[0]!.message.tool_calls!
  await vi.waitUntil(() => brief.service.held.size === 0)
  expect((await replyTo(brief, result(late!.id))).error.code).toBe('tool_call_expired')
})

it('functions that the grammar does not know become tools that take JSON', async () => {
  const weather = {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  }
  const write = writes((observations) =>
    observations === 0
      ? '<plan>Ask.</plan><think>Now.</think><get_weather>{"city": "Lima"}</get_weather>'
      : '<reflection>Warm.</reflection><think>Done.</think><answer>Warm</answer>',
  )
  const server = await startTestServer({ serve: { tools: 'client' }, write })
  const first = await replyTo(server, [asked], { tools: [weather] })
  const [call] = first.choices[0]!.message.tool_calls!
  expect(JSON.parse(call!.function.arguments)).toEqual({ city: 'Lima' })
  const second = await replyTo(server, result(call!.id, '24 degrees'), { tools: [weather] })
  expect(second.choices[0]!.message.content).toBe('Warm')
  const [system] = server.rollouts[0]!.prompt
  expect(system!.content).toContain('The weather in a city.')
  expect(system!.content).not.toContain('<code>')
  expect(streamText(server.rollouts[0]!)).toContain('<observation>24 degrees</observation>')
})

it('patterns of clients are described, not evaluated', async () => {
  const parameters = {
    type: 'object',
    properties: { text: { type: 'string', pattern: '^(a+)+$' } },
    required: ['text'],
  }
  const tool = { type: 'function', function: { name: 'echo', parameters } }
  const write = (): string =>
    `<plan>Say it.</plan><think>Now.</think><echo>{"text": "${'a'.repeat(40)}!"}</echo>`
  const server = await startTestServer({ serve: { tools: 'client' }, write })
  const reply = await replyTo(server, [asked], { tools: [tool] })
  expect(reply.choices[0]!.finish_reason).toBe('tool_calls')
})

it('a call that cannot be read is answered by the server, and the client hears nothing of it', async () => {
  const write = writes((observations) =>
    observations === 0
      ? '<plan>Run.</plan><think>Now.</think><code> </code>'
      : observations === 1
        ? `<reflection>Again.</reflection><think>Now.</think>${callOf('print(5)')}`
        : '<reflection>It is 5.</reflection><think>Done.</think><answer>5</answer>',
  )
  const server = await startTestServer({ serve: { tools: 'client' }, write })
  const first = await replyTo(server, [asked])
  const [call] = first.choices[0]!.message.tool_calls!
  expect(JSON.parse(call!.function.arguments)).toEqual({ code: 'print(5)' })
  expect((await replyTo(server, result(call!.id))).choices[0]!.message.content).toBe('5')
})

it('the rest of the chain is streamed', async () => {
  const server = await startTestServer({
    serve: { tools: 'client' },
    world: worldOf(async () => ({ text: '' })),
  })
  const [call] = (await replyTo(server, [asked])).choices[0]!.message.tool_calls!
  const events = await eventsOf(await server.chat({ messages: result(call!.id), tools, stream: true }))
  expect(events.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
  expect(server.service.slots.running).toBe(0)
})

it('without functions, the model answers without tools', async () => {
  const write = () => '<plan>Add.</plan><think>Done.</think><answer>5</answer>'
  const server = await startTestServer({ serve: { tools: 'client' }, write })
  const reply = await replyTo(server, [asked], { tools: [] })
  expect(reply.choices[0]!.message.content).toBe('5')
  expect(server.rollouts[0]!.prompt[0]!.content).not.toContain('<code>')
})

it('what does not go together is refused', async () => {
  const server = await startTestServer({ serve: { tools: 'client' } })
  const message = async (fields: object): Promise<string> =>
    (await replyTo(server, [asked], fields)).error.message
  expect(await message({ n: 2 })).toContain('there is one chain')
  expect(await message({ coa: { best_of: 2 } })).toContain('there is one chain')
  expect(await message({ tool_choice: 'required' })).toContain('the model decides')
  expect(await message({ tools: [{ type: 'function', function: { name: 'think' } }] })).toContain('think')
  const wrong = { type: 'function', function: { name: 'f', parameters: { type: 'strange' } } }
  expect(await message({ tools: [wrong] })).toContain('the tools of this model are')
  expect(await message({ messages: [{ role: 'tool', content: '5' }] })).toContain('no tool_call_id')
})

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { removeRuns, shortly, startGateway, type TestGateway } from './gateway.ts'
import { pythonWithClients } from './python-clients.ts'
import { type Received, startScriptedModel, type Upstream } from './scripted-model.ts'

afterAll(removeRuns)

const KEY = 'sk-test-0123456789'
let model: Upstream
let gateway: TestGateway
/** Looks something up before it answers, if there is a tool. */
const script = ({ body, bytes }: Received) =>
  body['tools'] !== undefined && !bytes.includes('ten million')
    ? { text: 'I look.', calls: [{ id: 'c1', name: 'search', input: { q: 'Lima' } }] }
    : { text: 'Lima, ¡diez millones! 🦙' }

beforeEach(async () => {
  model = await startScriptedModel(script)
  gateway = await startGateway(model.url)
})
afterEach(() => model.close())

const question = 'How many people live in the capital of Peru?'
const answer = 'Lima, ¡diez millones! 🦙'
const base = (): string => `${gateway.url}/run/one/agent/solver`

async function recorded(): Promise<string[]> {
  const { trajectories } = await gateway.stop()
  expect(trajectories.map(({ id }) => id)).toEqual(['one'])
  return shortly(trajectories[0]!)
}

const plain = [`solver < user: ${question}`, `solver > ${answer}`, `solver answered ${answer}`]
const withTool = [
  expect.stringMatching(/^solver < (system: .* \| )?user: /),
  expect.stringMatching(/> I look\.$/),
  'solver ! search {"q":"Lima"}',
  expect.stringContaining('solver = ten million'),
  `solver > ${answer}`,
  `solver answered ${answer}`,
]

describe('openai', () => {
  const client = () => new OpenAI({ apiKey: KEY, baseURL: `${base()}/v1` })
  const messages = [{ role: 'user' as const, content: question }]

  it('chat completions', async () => {
    const reply = await client().chat.completions.create({ model: 'm', messages })
    expect(reply.choices[0]!.message.content).toBe(answer)
    expect(await recorded()).toEqual(plain)
  })

  it('streamed chat completions', async () => {
    let text = ''
    for await (const chunk of await client().chat.completions.create({ model: 'm', messages, stream: true }))
      text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe(answer)
    expect(await recorded()).toEqual(plain)
  })

  it('a loop that runs tools', async () => {
    const runner = client().chat.completions.runTools({
      model: 'm',
      stream: true,
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'search',
            description: 'Search.',
            parse: JSON.parse,
            parameters: { type: 'object', properties: { q: { type: 'string' } } },
            function: () => 'ten million',
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(answer)
    expect(await recorded()).toEqual(withTool)
  })

  it('responses, and streamed responses', async () => {
    const whole = await client().responses.create({ model: 'm', input: question })
    expect(whole.output_text).toBe(answer)
    const stream = client().responses.stream({
      model: 'm',
      input: 'And again?',
      previous_response_id: whole.id,
    })
    expect((await stream.finalResponse()).output_text).toBe(answer)
    expect(await recorded()).toEqual([...plain.slice(0, 2), 'solver < user: And again?', ...plain.slice(1)])
  })

  it('lists of models, which are not recorded', async () => {
    await model.close()
    await expect(client().models.list({ maxRetries: 0 })).rejects.toThrow('502')
    expect((await gateway.stop()).trajectories).toEqual([])
  })
})

describe('@anthropic-ai/sdk', () => {
  const client = () => new Anthropic({ apiKey: KEY, baseURL: base() })
  const request = {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: question }],
  }

  it('messages', async () => {
    const { content } = await client().messages.create(request)
    expect(content).toEqual([{ type: 'text', text: answer }])
    expect(model.received[0]!.headers['anthropic-version']).toBeDefined()
    expect(Object.values(model.received[0]!.headers).join()).toContain(KEY)
    expect(await recorded()).toEqual(plain)
  })

  it('streamed messages with tools', async () => {
    const tools = [{ name: 'search', input_schema: { type: 'object' as const } }]
    const first = await client()
      .messages.stream({ ...request, tools })
      .finalMessage()
    expect(first.content[1]).toMatchObject({ type: 'tool_use', input: { q: 'Lima' } })
    const result = { type: 'tool_result' as const, tool_use_id: 'c1', content: 'ten million' }
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ]
    expect(
      await client()
        .messages.stream({ ...request, messages, tools })
        .finalText(),
    ).toBe(answer)
    expect(await recorded()).toEqual(withTool)
  })
})

describe('AI SDK', () => {
  const provider = () =>
    createOpenAICompatible({ name: 'recorded', baseURL: `${base()}/v1`, apiKey: KEY })('m')
  const search = tool({
    description: 'Search.',
    inputSchema: z.object({ q: z.string() }),
    execute: async () => 'ten million',
  })

  it('generateText with tools', async () => {
    const { text } = await generateText({
      model: provider(),
      prompt: question,
      tools: { search },
      stopWhen: stepCountIs(3),
    })
    expect(text).toBe(answer)
    expect(await recorded()).toEqual(withTool)
  })

  it('streamText with tools', async () => {
    const { textStream } = streamText({
      model: provider(),
      prompt: question,
      tools: { search },
      stopWhen: stepCountIs(3),
    })
    let text = ''
    for await (const piece of textStream) text += piece
    expect(text).toBe(`I look.${answer}`)
    expect(await recorded()).toEqual(withTool)
  })
})

describe('LangChain', () => {
  const chat = () => new ChatOpenAI({ model: 'm', apiKey: KEY, configuration: { baseURL: `${base()}/v1` } })

  it('invoke with tools', async () => {
    const search = langchainTool(async () => 'ten million', {
      name: 'search',
      description: 'Search.',
      schema: z.object({ q: z.string() }),
    })
    const bound = chat().bindTools([search])
    const first = await bound.invoke(question)
    const result = await search.invoke(first.tool_calls![0]! as never)
    const second = await bound.invoke([{ role: 'user', content: question }, first, result as never])
    expect(second.content).toBe(answer)
    expect(await recorded()).toEqual(withTool)
  })

  it('stream', async () => {
    let text = ''
    for await (const chunk of await chat().stream(question)) text += chunk.content
    expect(text).toBe(answer)
    expect(await recorded()).toEqual(plain)
  })
})

describe('Python', () => {
  const { python, missing } = pythonWithClients()
  if (python === undefined) console.warn(`SKIPPED: the Python clients of model APIs: ${missing}`)

  it.skipIf(python === undefined)('openai and anthropic, streamed and not', async () => {
    const program = fileURLToPath(new URL('clients.py', import.meta.url))
    const { stdout } = await promisify(execFile)(python!, [program, gateway.url, question], {
      env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
    })
    expect(stdout.trim().split('\n')).toEqual([
      `chat ${answer}`,
      `chat-stream ${answer}`,
      `responses ${answer}`,
      `responses-stream ${answer}`,
      `messages ${answer}`,
      `messages-stream ${answer}`,
    ])
    const { trajectories } = await gateway.stop()
    expect(trajectories.map(({ id }) => id).sort()).toEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0])
        .sort(),
    )
    for (const trajectory of trajectories) expect(shortly(trajectory)).toEqual(plain)
  })
})

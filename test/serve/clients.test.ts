import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { streamTokens } from '../../src/agent/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { pythonWithClients } from '../capture/gateway/python-clients.ts'
import { answer, startTestServer, stopServers, type TestServer } from './support.ts'

const question = 'What is 2 + 3?'
const KEY = 'sk-test'
let server: TestServer
afterEach(stopServers)

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'coa-clients-'))
afterAll(() => rmSync(folder, { recursive: true }))
let recorded: Run
const openai = (): OpenAI => new OpenAI({ apiKey: KEY, baseURL: server.base, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: question }]
const model = 'mine'
const reasoning =
  'think: Compute it.\n\nplan: Run a program.\n\nthink: Now.\n\ncode: ```py\nprint(2 + 3)\n```\n\nobservation: 5\n\nreflection: It says 5.\n\nthink: Done.'

describe('tools on the server', () => {
  beforeEach(async () => {
    recorded = createRun(folder, { command: 'coa serve --record', coa: '0.0.0' })
    server = await startTestServer({ keys: [KEY], run: recorded })
  })
  afterEach(() => recorded.close())

  describe('openai', () => {
    it('chat completions', async () => {
      const reply = await openai().chat.completions.create({ model, messages })
      const [choice] = reply.choices
      expect(choice).toMatchObject({
        finish_reason: 'stop',
        message: { role: 'assistant', content: answer, reasoning_content: reasoning },
      })
      expect(choice!.message.tool_calls).toBeUndefined()
      const { prompt_tokens: read, completion_tokens: written, total_tokens: total } = reply.usage!
      expect(total).toBe(read + written)
    })

    it('streamed chat completions, by both of its ways', async () => {
      let [text, thought] = ['', '']
      const chunks = await openai().chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })
      const finishes: unknown[] = []
      let usage: unknown
      for await (const { choices, usage: reported } of chunks) {
        text += choices[0]?.delta.content ?? ''
        thought += (choices[0]?.delta as { reasoning_content?: string })?.reasoning_content ?? ''
        if (choices[0]?.finish_reason) finishes.push(choices[0].finish_reason)
        usage = reported ?? usage
      }
      expect([text, thought, finishes]).toEqual([answer, reasoning, ['stop']])
      const counted = streamTokens(server.rollouts.at(-1)!)
      expect(usage).toMatchObject({
        prompt_tokens: counted.prompt + counted.tool,
        completion_tokens: counted.completion,
        coa: { once: counted.once, billed: counted.billed, inserted: counted.tool },
      })
      const helper = openai().chat.completions.stream({ model, messages })
      expect(await helper.finalContent()).toBe(answer)
    })

    it('responses, their items, and the response before', async () => {
      const first = await openai().responses.create({ model, input: question })
      expect(first.output_text).toBe(answer)
      expect(first.output.map(({ type }) => type)).toEqual([
        'reasoning',
        'code_interpreter_call',
        'reasoning',
        'message',
      ])
      expect(first.output[1]).toMatchObject({
        code: 'print(2 + 3)',
        status: 'completed',
        outputs: [{ type: 'logs', logs: '5' }],
      })
      const second = await openai().responses.create({
        model,
        input: 'And then?',
        previous_response_id: first.id,
      })
      expect(second.output_text).toBe(answer)
      expect(server.rollouts[1]!.prompt.at(-1)!.content).toBe(
        `Earlier in this conversation:\nUser: ${question}\nAssistant: ${answer}\n\nQuestion:\nAnd then?`,
      )
      expect((await openai().responses.retrieve(first.id)).output_text).toBe(answer)
      await openai().responses.delete(first.id)
      await expect(openai().responses.retrieve(first.id)).rejects.toThrow('404')
    })

    it('streamed responses, by both of its ways', async () => {
      const types: string[] = []
      let number = 0
      for await (const event of await openai().responses.create({ model, input: question, stream: true })) {
        expect(event.sequence_number).toBe(number++)
        if (types.at(-1) !== event.type) types.push(event.type)
      }
      expect(types.slice(0, 5)).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
      ])
      expect(types.slice(-6)).toEqual(
        [
          'response.output_text.delta',
          'response.output_text.done',
          'response.content_part.done',
          'response.output_item.done',
          'response.completed',
        ].toSpliced(0, 0, 'response.content_part.added'),
      )
      const final = await openai().responses.stream({ model, input: question }).finalResponse()
      expect(final.output_text).toBe(answer)
      expect(final.output[0]).toMatchObject({
        type: 'reasoning',
        summary: [
          { text: '**think**\n\nCompute it.' },
          { text: '**plan**\n\nRun a program.' },
          { text: '**think**\n\nNow.' },
        ],
      })
    })

    it('models', async () => {
      const [only] = (await openai().models.list()).data
      expect(only).toMatchObject({ id: 'mine', object: 'model' })
      expect(await openai().models.retrieve('mine')).toMatchObject({ id: 'mine' })
      await expect(openai().models.retrieve('other/model')).rejects.toThrow('404')
    })
  })

  describe('AI SDK', () => {
    const compatible = () =>
      createOpenAICompatible({ name: 'coa', baseURL: server.base, apiKey: KEY, includeUsage: true })('mine')

    it('a compatible provider, whole and streamed', async () => {
      const whole = await generateText({ model: compatible(), prompt: question })
      expect([whole.text, whole.reasoningText, whole.finishReason]).toEqual([answer, reasoning, 'stop'])
      const stream = streamText({ model: compatible(), prompt: question })
      expect([await stream.text, await stream.reasoningText]).toEqual([answer, reasoning])
      expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens)
    })

    it("OpenAI's provider: chat, and responses over two turns with references to items", async () => {
      const provider = createOpenAI({ baseURL: server.base, apiKey: KEY })
      expect((await generateText({ model: provider.chat('mine'), prompt: question })).text).toBe(answer)
      const first = await generateText({ model: provider.responses('mine'), prompt: question })
      expect(first.text).toBe(answer)
      expect(first.reasoningText).toContain('Compute it.')
      const stream = streamText({
        model: provider.responses('mine'),
        messages: [
          { role: 'user', content: question },
          ...first.response.messages,
          { role: 'user', content: 'And then?' },
        ],
      })
      expect(await stream.text).toBe(answer)
      expect(server.rollouts.at(-1)!.prompt.at(-1)!.content).toContain(`Assistant: ${answer}`)
      const called = (await stream.steps)[0]!.toolCalls
      expect(called).toMatchObject([{ toolName: 'code_interpreter', providerExecuted: true }])
    })
  })

  it.each([false, true])('LangChain, responses: %s', async (useResponsesApi) => {
    const chat = new ChatOpenAI({
      model: 'mine',
      apiKey: KEY,
      configuration: { baseURL: server.base },
      useResponsesApi,
      maxRetries: 0,
    })
    expect((await chat.invoke(question)).text).toBe(answer)
    let text = ''
    for await (const chunk of await chat.stream(question)) text += chunk.text
    expect(text).toBe(answer)
  })

  it('curl', async () => {
    const { stdout } = await run('curl', [
      '--silent',
      '--no-buffer',
      `${server.base}/chat/completions`,
      ...['-H', `Authorization: Bearer ${KEY}`, '-H', 'Content-Type: application/json'],
      ...['-d', JSON.stringify({ model, messages, stream: true })],
    ])
    expect(stdout.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(stdout).toContain('"finish_reason":"stop"')
  })

  it('feedback on what each client says is the id of its reply', async () => {
    const compatible = createOpenAICompatible({ name: 'coa', baseURL: server.base, apiKey: KEY })
    const provider = createOpenAI({ baseURL: server.base, apiKey: KEY })
    const streamed = streamText({ model: compatible(model), prompt: question })
    await streamed.consumeStream()
    const ids = [
      (await openai().chat.completions.create({ model, messages })).id,
      (await openai().responses.create({ model, input: question })).id,
      (await generateText({ model: compatible(model), prompt: question })).response.id,
      (await streamed.response).id,
      (await generateText({ model: provider.responses(model), prompt: question })).response.id,
      (await new ChatOpenAI({ model, apiKey: KEY, configuration: { baseURL: server.base } }).invoke(question))
        .id,
    ]
    for (const id of ids)
      expect(await openai().post('/feedback', { body: { id, verdict: 'good' } })).toMatchObject({
        rating: 'good',
        replaced: false,
      })
    expect(recorded.count('mark')).toBe(ids.length)
  })

  const { python, missing } = pythonWithClients()
  it.runIf(python !== undefined)('openai in Python', { timeout: 120_000 }, async () => {
    const script = fileURLToPath(new URL('clients.py', import.meta.url))
    const { stdout } = await run(python!, [script, server.base, KEY, question])
    expect(JSON.parse(stdout)).toEqual({
      chat: answer,
      reasoning,
      streamed: answer,
      responses: answer,
      responses_streamed: answer,
      items: ['reasoning', 'code_interpreter_call', 'reasoning', 'message'],
      models: ['mine'],
      wrong_key: 'AuthenticationError',
      wrong_model: 'NotFoundError',
      feedback: 'good',
      feedback_on_nothing: 'NotFoundError',
    })
    expect(recorded.list('mark')).toMatchObject([{ rating: 'good', note: 'clear' }])
  })
  if (python === undefined) console.error(`The Python client is not tested: ${missing}`)
})

describe('tools in the client', () => {
  const calls: string[] = []
  const execute = ({ code }: { code: string }): string => {
    calls.push(code)
    return '5'
  }
  const description = 'Runs a Python program.'
  beforeEach(async () => {
    calls.length = 0
    const notHere = async (): Promise<never> => {
      throw new Error('the server ran a tool')
    }
    const { worldOf } = await import('../rollout/fixtures.ts')
    server = await startTestServer({ serve: { tools: 'client' }, world: worldOf(notHere) })
  })
  afterEach(() => {
    expect(calls).toEqual(['print(2 + 3)'])
    expect(server.rollouts).toHaveLength(1)
    expect(server.service.held.size).toBe(0)
  })

  it.each([false, true])('openai, streamed: %s', async (stream) => {
    const runner = openai().chat.completions.runTools({
      model,
      stream: stream as true,
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: 'code',
            description,
            parse: JSON.parse,
            parameters: { type: 'object', properties: { code: { type: 'string' } } },
            function: execute,
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(answer)
  })

  it('openai, responses', async () => {
    const tools = [
      {
        type: 'function' as const,
        name: 'code',
        description,
        strict: false,
        parameters: { type: 'object', properties: { program: { type: 'string' } } },
      },
    ]
    const first = await openai().responses.stream({ model, input: question, tools }).finalResponse()
    const call = first.output.find((item) => item.type === 'function_call')!
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
    // The only parameter gets the program, whatever it is called.
    const output = execute({ code: (JSON.parse(call.arguments) as { program: string }).program })
    const second = await openai().responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output }],
      tools,
    })
    expect(second.output_text).toBe(answer)
  })

  const tools = {
    code: tool({ description, inputSchema: z.object({ code: z.string() }), execute }),
  }
  it('AI SDK', async () => {
    const provider = createOpenAICompatible({ name: 'coa', baseURL: server.base, apiKey: KEY })
    const { text } = await generateText({
      model: provider('mine'),
      prompt: question,
      tools,
      stopWhen: isStepCount(4),
    })
    expect(text).toBe(answer)
  })

  it('AI SDK, streamed, responses', async () => {
    const provider = createOpenAI({ baseURL: server.base, apiKey: KEY })
    const stream = streamText({
      model: provider.responses('mine'),
      prompt: question,
      tools,
      stopWhen: isStepCount(4),
    })
    expect(await stream.text).toBe(answer)
  })

  it('LangChain', async () => {
    const chat = new ChatOpenAI({ model: 'mine', apiKey: KEY, configuration: { baseURL: server.base } })
    const bound = chat.bindTools([
      langchainTool(execute, { name: 'code', description, schema: z.object({ code: z.string() }) }),
    ])
    const asked = new HumanMessage(question)
    const first = await bound.invoke([asked])
    const [call] = first.tool_calls!
    const { ToolMessage } = await import('@langchain/core/messages')
    const result = new ToolMessage({
      tool_call_id: call!.id!,
      content: execute(call!.args as { code: string }),
    })
    expect((await bound.invoke([asked, first, result])).text).toBe(answer)
  })
})

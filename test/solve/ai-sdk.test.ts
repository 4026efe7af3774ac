import * as sdk7 from 'ai'
import * as sdk5 from 'ai-5'
import * as sdk6 from 'ai-6'
import { describe, expect, it } from 'vitest'
import { chainOfAgents } from '../../src/index.ts'
import { modelThat, orderModel, own, question } from './support.ts'

const sdks = { 'AI SDK 6': sdk6, 'AI SDK 7': sdk7 }
const roles = ['Look <b>it</b> up, <code> is not needed.', 'It says when.', 'Done.']
const call = { toolName: 'find_order', input: { number: 4711 }, providerExecuted: true, dynamic: true }
const result = { toolName: 'find_order', output: 'two lamps, shipped on Monday', providerExecuted: true }

/** The two versions have their own types, and both have to accept the model. */
const generate = {
  'AI SDK 6': (model: ReturnType<typeof chainOfAgents>) => sdk6.generateText({ model, prompt: question }),
  'AI SDK 7': (model: ReturnType<typeof chainOfAgents>) => sdk7.generateText({ model, prompt: question }),
}
const stream = {
  'AI SDK 6': (model: ReturnType<typeof chainOfAgents>, abortSignal?: AbortSignal) =>
    sdk6.streamText({ model, prompt: question, ...(abortSignal && { abortSignal }) }),
  'AI SDK 7': (model: ReturnType<typeof chainOfAgents>, abortSignal?: AbortSignal) =>
    sdk7.streamText({ model, prompt: question, ...(abortSignal && { abortSignal }) }),
}
const versions = Object.keys(sdks) as (keyof typeof sdks)[]

describe.each(versions)('%s', (version) => {
  it('generates: roles as reasoning, calls with results, the answer as text', async () => {
    const found = await generate[version](chainOfAgents(orderModel(), own))
    expect(found.text).toBe('On Monday')
    expect(textsOf(found.reasoning)).toEqual(roles)
    expect(
      found.reasoning.map(({ providerMetadata }) => providerMetadata?.['chainOfAgents']?.['agent']),
    ).toEqual(['think', 'reflection', 'think'])
    expect(found.toolCalls).toMatchObject([call])
    expect(found.toolResults).toMatchObject([result])
    expect(found.content.map(({ type }) => type)).toEqual([
      'reasoning',
      'tool-call',
      'tool-result',
      'reasoning',
      'reasoning',
      'text',
    ])
    expect(found.finishReason).toBe('stop')
    const { tokens } = found.providerMetadata!['chainOfAgents'] as unknown as {
      tokens: { once: number; billed: number; requests: number; completion: number }
    }
    expect(found.usage.totalTokens).toBe(tokens.once)
    expect(tokens.billed).toBeGreaterThan(tokens.once)
    expect(tokens.requests).toBe(2)
    const { outputTokens, outputTokenDetails } = found.usage
    expect(outputTokens).toBe(tokens.completion)
    expect(outputTokenDetails.textTokens).toBeGreaterThan('On Monday'.length)
    expect(outputTokenDetails.textTokens! + outputTokenDetails.reasoningTokens!).toBe(outputTokens)
  })

  it('streams the same', async () => {
    const model = chainOfAgents(orderModel(), own)
    const streamed = stream[version](model)
    const types: string[] = []
    for await (const { type } of streamed.fullStream) if (types.at(-1) !== type) types.push(type)
    const turn = ['reasoning-start', 'reasoning-delta', 'reasoning-end']
    expect(types.filter((type) => !/^(start|finish)/.test(type))).toEqual([
      ...turn,
      'tool-call',
      'tool-result',
      ...turn,
      ...turn,
      'text-start',
      'text-delta',
      'text-end',
    ])
    expect(await streamed.text).toBe('On Monday')
    expect(textsOf(await streamed.reasoning)).toEqual(roles)
    expect(await streamed.toolResults).toMatchObject([result])
    expect(await streamed.finishReason).toBe('stop')
    expect((await streamed.usage).totalTokens).toBe((await generate[version](model)).usage.totalTokens)
    await model.close()
  })

  it('stops at the signal', async () => {
    const stop = new AbortController()
    const reached = Promise.withResolvers<void>()
    const model = modelThat(() => '', {
      onRequest: ({ signal }) => {
        signal!.addEventListener('abort', () => reached.resolve())
        stop.abort()
        return reached.promise
      },
    })
    const types: string[] = []
    for await (const { type } of stream[version](chainOfAgents(model, own), stop.signal).fullStream)
      types.push(type)
    await reached.promise
    expect(types.at(-1)).toBe('abort')
  })
})

describe('a call', () => {
  const asked: string[] = []
  const model = chainOfAgents(
    modelThat((soFar) => {
      asked.push(soFar)
      return '<think>Sure.</think><answer>Santiago</answer>'
    }),
    own,
  )

  it('puts instructions and earlier turns into the question', async () => {
    const { text } = await sdk7.generateText({
      model,
      instructions: 'Answer in one word.',
      messages: [
        { role: 'user', content: 'What is the capital of Peru?' },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Easy.' },
            { type: 'text', text: 'Lima' },
          ],
        },
        { role: 'user', content: 'And of Chile?' },
      ],
    })
    expect(text).toBe('Santiago')
    expect(asked.at(-1)).toContain(
      'Instructions:\nAnswer in one word.\n\nEarlier in this conversation:\nUser: What is the capital of Peru?\nAssistant: Lima\n\nQuestion:\nAnd of Chile?',
    )
  })

  it('continues the conversation that it began, with its own tool calls in it', async () => {
    const first = await sdk7.generateText({ model: chainOfAgents(orderModel(), own), prompt: question })
    const messages = [
      { role: 'user', content: question } as const,
      ...first.response.messages,
      { role: 'user', content: 'Are you sure?' } as const,
    ]
    const second = await sdk7.generateText({ model, messages })
    expect(second.warnings).toEqual([])
    expect(asked.at(-1)).toContain(`User: ${question}\nAssistant: On Monday\n\nQuestion:\nAre you sure?`)
  })

  it('gets a warning for every setting without effect', async () => {
    const { warnings } = await sdk7.generateText({
      model,
      prompt: 'q',
      tools: { weather: sdk7.tool({ inputSchema: sdk7.jsonSchema({ type: 'object' }) }) },
      stopSequences: ['x'],
      presencePenalty: 1,
      frequencyPenalty: 1,
      reasoning: 'high',
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      seed: 1,
      maxOutputTokens: 500,
    })
    expect(featuresOf(warnings!)).toEqual([
      'tools',
      'stopSequences',
      'presencePenalty',
      'frequencyPenalty',
      'reasoning',
    ])
    const others = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
      toolChoice: { type: 'required' },
      responseFormat: { type: 'json' },
    })
    expect(featuresOf(others.warnings)).toEqual(['toolChoice', 'responseFormat'])
  })

  it('is refused with a file, without a question, or with a model that does not exist', async () => {
    const file = { type: 'file', mediaType: 'image/png', data: new Uint8Array(8) } as const
    const messages = [{ role: 'user' as const, content: [file] }]
    await expect(sdk7.generateText({ model, messages })).rejects.toThrow('the model reads only text')
    await expect(sdk7.generateText({ model, prompt: ' ' })).rejects.toThrow('does not end with a question')
    const missing = chainOfAgents('nowhere')
    await expect(sdk7.generateText({ model: missing, prompt: 'q' })).rejects.toThrow(
      'there is no model "nowhere"',
    )
    await missing.close()
  })

  it('that reaches a limit ends with "length", and an engine that fails is an error', async () => {
    const long = chainOfAgents(
      modelThat(() => '<think>And'),
      own,
    )
    const cut = await sdk7.generateText({ model: long, prompt: 'q', maxOutputTokens: 10, maxRetries: 0 })
    expect(cut).toMatchObject({ finishReason: 'length', text: '' })
    const broken = chainOfAgents(
      modelThat(() => {
        throw new Error('out of memory')
      }),
      own,
    )
    await expect(sdk7.generateText({ model: broken, prompt: 'q' })).rejects.toThrow('out of memory')
    const streamed = sdk7.streamText({ model: broken, prompt: 'q', onError: () => {} })
    await expect(streamed.text).rejects.toThrow()
  })

  it('with several answers streams the picked chain', async () => {
    const answers = ['5', '6', '5']
    const several = chainOfAgents(
      modelThat((_, request) => `<think>Sum ${request}.</think><answer>${answers[request]}</answer>`),
      { ...own, bestOf: 3, pick: (rollouts) => rollouts.findIndex(({ answer }) => answer === '6') },
    )
    const { text, reasoning, providerMetadata } = await sdk7.generateText({ model: several, prompt: 'q' })
    expect({ text, reasoning: textsOf(reasoning) }).toEqual({
      text: '6',
      reasoning: ['Sum 1.'],
    })
    expect(providerMetadata!['chainOfAgents']!['pick']).toMatchObject({ by: 'function' })
  })
})

it('AI SDK 5 says that it cannot use the model', async () => {
  const model = chainOfAgents(orderModel(), own) as unknown as sdk5.LanguageModel
  await expect(sdk5.generateText({ model, prompt: question })).rejects.toThrow('Unsupported model version')
})

function featuresOf(warnings: readonly { type: string; feature?: string }[]): (string | undefined)[] {
  return warnings.map(({ feature }) => feature)
}

function textsOf(parts: readonly ({ type: string } | { text: string })[]): unknown[] {
  return parts.map((part) => ('text' in part ? part.text : part))
}

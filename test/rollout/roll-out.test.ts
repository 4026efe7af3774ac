import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { enteredTokens, rollOut, tokensByAgent } from '../../src/agent/index.ts'
import { ToolError } from '../../src/base/errors/index.ts'
import { loadGrammar, parseChain, renderSpans } from '../../src/language/grammar/index.ts'
import { encodeSpans } from '../../src/language/tokens/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { callOf, job, policyOf, says, settings, tokenizer, worldOf, writes } from './fixtures.ts'

const plan = '<plan>Add.</plan>\n<think>Let the machine do it.</think>\n'
const reflection = '<reflection>It agrees.</reflection>\n<think>Done.</think>\n'
const answer = '<answer>\\boxed{5}</answer>'

/** Plans, calls, and answers when it has seen an observation. */
const solves = writes((observations) =>
  observations === 0 ? plan + callOf('print(2 + 3)') : reflection + answer,
)

describe('a rollout', () => {
  it('runs the tool, appends its output and continues in the same context', async () => {
    const seen: string[] = []
    const world = worldOf(async (input) => {
      seen.push((input as { code: string }).code)
      return { text: '5' }
    })
    const rollout = await rollOut(job, policyOf(solves), world, settings)
    expect(seen).toEqual(['print(2 + 3)'])
    expect(rollout).toMatchObject({
      stop: 'answer',
      answer: '\\boxed{5}',
      wellFormed: true,
      verdict: { outcome: 'correct' },
      calls: [{ agent: 'code', outcome: 'ok' }],
      groupId: 'g1',
    })
    expect(rollout.spans.map(({ agent, kind, origin }) => [agent, kind, origin])).toEqual([
      ['plan', 'role', { request: 0 }],
      ['think', 'role', { request: 0 }],
      ['code', 'call', { request: 0 }],
      ['observation', 'observation', { call: 0 }],
      ['reflection', 'role', { request: 1 }],
      ['think', 'role', { request: 1 }],
      ['answer', 'answer', { request: 1 }],
    ])
    for (const { text, tokens } of rollout.spans)
      expect(tokenizer.decode(tokens!, { skipControlTokens: true })).toBe(text)
    expect(tokensByAgent(rollout)['think']).toBe(
      '\n<think>Let the machine do it.</think>'.length + '\n<think>Done.</think>'.length,
    )
  })

  it('works in ReAct style under that prompt, with the same tools', async () => {
    const react = writes((observations) =>
      observations === 0
        ? `<think>Let the machine do it.</think>\n${callOf('print(2 + 3)')}`
        : `<think>Done.</think>\n${answer}`,
    )
    const whole = await rollOut(job, policyOf(react), says('5'), settings)
    const rollout = await rollOut(job, policyOf(react), says('5'), { ...settings, react: true })
    expect([whole.grammar, whole.wellFormed]).toEqual(['math', false])
    expect([rollout.grammar, rollout.wellFormed]).toEqual(['math-react', true])
    expect(rollout.verdict?.outcome).toBe('correct')
    expect(whole.prompt[0]!.content).toContain('<reflection>')
    expect(rollout.prompt[0]!.content).not.toContain('<reflection>')
  })

  it('writes the tokens that training on the same chain would see', async () => {
    const rollout = await rollOut(job, policyOf(solves), says('5'), settings)
    const grammar = await loadGrammar('math')
    const spans = renderSpans(grammar, parseChain(grammar, streamText(rollout)).blocks)
    const { ids, mask } = encodeSpans(tokenizer, spans, { continues: true })
    expect([...ids]).toEqual(rollout.spans.flatMap(({ tokens }) => tokens))
    expect([...mask]).toEqual(
      rollout.spans.flatMap(({ origin, tokens }) => tokens!.map(() => ('request' in origin ? 1 : 0))),
    )
  })

  it('responds to a malformed call with the reason, and allows another attempt', async () => {
    const rollout = await rollOut(
      job,
      policyOf((soFar) => (soFar.includes('could not be read') ? solves(soFar) : `${plan}<code></code>`)),
      says('5'),
      settings,
    )
    expect(rollout.calls).toMatchObject([{ agent: 'code', outcome: 'malformed' }])
    expect(streamText(rollout)).toContain('<observation>This <code> call could not be read')
    expect(rollout).toMatchObject({ stop: 'answer', wellFormed: false, verdict: { outcome: 'correct' } })
  })

  it('never makes a call from a tag inside the text of a role', async () => {
    let made = 0
    const world = worldOf(async () => ({ text: String(++made) }))
    const inside = `<plan>Write ${callOf('print(1)')} perhaps.</plan>\n<think>No.</think>\n`
    const rollout = await rollOut(
      job,
      policyOf((_, request) => (request === 0 ? inside : ` perhaps.</plan>\n<think>No.</think>\n${answer}`)),
      world,
      settings,
    )
    expect(made).toBe(0)
    expect(rollout).toMatchObject({ stop: 'answer', calls: [], answer: '\\boxed{5}' })
  })

  it('drops what an engine wrote after a call', async () => {
    const policy = policyOf(solves)
    const beyond = {
      ...policy,
      engine: {
        ...policy.engine,
        sample: async (request: Parameters<typeof policy.engine.sample>[0]) => {
          const [sample] = await policy.engine.sample(request)
          const more = tokenizer.encodeIds('<observation>6')
          const longer = (values: Float32Array): Float32Array => Float32Array.from([...values, ...more])
          return [
            {
              ...sample!,
              tokens: Int32Array.from([...sample!.tokens, ...more]),
              logprobs: longer(sample!.logprobs),
              modelLogprobs: longer(sample!.modelLogprobs),
            },
          ]
        },
      },
    }
    const usual = await rollOut(job, policy, says('5'), settings)
    const trimmed = await rollOut(job, beyond, says('5'), settings)
    expect(trimmed.spans).toEqual(usual.spans)
  })
})

describe('a rollout stops', () => {
  const again = (_: string, request: number): string =>
    `${request === 0 ? plan : '<reflection>More.</reflection>\n<think>On.</think>\n'}${callOf(`print(${request})`)}`

  it('after the maximum number of calls', async () => {
    const rollout = await rollOut(job, policyOf(again), says('1'), settings)
    expect(rollout).toMatchObject({ stop: 'turns', verdict: { outcome: 'wrong' } })
    expect(rollout.calls).toHaveLength(settings.maxTurns)
  })

  it('when it repeats the same call', async () => {
    const rollout = await rollOut(
      job,
      policyOf(() => callOf('print(1)')),
      says('1'),
      settings,
    )
    expect(rollout.stop).toBe('repetition')
    expect(rollout.calls).toHaveLength(settings.maxSameCall)
  })

  it('after the maximum number of tokens, observations included', async () => {
    for (const maxTokens of [1, 40, 90, 100, 110, 130]) {
      const rollout = await rollOut(job, policyOf(again), says('1'.repeat(30)), { ...settings, maxTokens })
      const { sampled } = enteredTokens(rollout)
      expect(rollout.stop).toBe('tokens')
      expect(sampled).toBeLessThanOrEqual(maxTokens)
    }
  })

  it('when the model ends without an answer', async () => {
    const rollout = await rollOut(
      job,
      policyOf(() => '<plan>I give up.</plan>'),
      says(''),
      settings,
    )
    expect(rollout).toMatchObject({ stop: 'end', verdict: { outcome: 'wrong' }, wellFormed: false })
    expect(rollout.spans[0]!.tokens!.at(-1)).toBe(256)
    expect(streamText(rollout)).toBe('<plan>I give up.</plan>')
  })

  it('at its timeout', async () => {
    const slow = policyOf(solves, {
      onRequest: ({ signal }) =>
        new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
    })
    const rollout = await rollOut(job, slow, says(''), { ...settings, maxSeconds: 0.05 })
    expect(rollout).toMatchObject({ stop: 'time' })
    expect(rollout.failure).toBeUndefined()
  })

  it('and throws only when the caller aborts it', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(rollOut(job, policyOf(solves), says(''), settings, { signal })).rejects.toThrow('enough')
  })
})

describe('a failure outside the model', () => {
  it("is distinguished from the model's own errors", async () => {
    const failing = (error: Error) =>
      rollOut(
        job,
        policyOf(solves),
        worldOf(() => Promise.reject(error)),
        settings,
      )
    const refused = await failing(new ToolError('no such page'))
    expect(refused.calls).toMatchObject([{ outcome: 'refused' }])
    expect(refused.failure).toBeUndefined()
    const broken = await failing(new Error('socket closed'))
    expect(broken.calls).toMatchObject([{ outcome: 'environment' }])
    expect(broken.failure).toMatchObject({ boundary: 'tool' })
    expect(broken.stop).toBe('answer')
    const missing = await rollOut(job, policyOf(solves), { ...says(''), toolsOf: async () => [] }, settings)
    expect(missing.failure).toEqual({ boundary: 'tool', message: 'code is not available' })
  })

  it('in the engine ends the rollout, not the run', async () => {
    const policy = policyOf(() => {
      throw new Error('out of memory')
    })
    const rollout = await rollOut(job, policy, says(''), settings)
    expect(rollout).toMatchObject({ stop: 'failed', failure: { message: 'out of memory' } })
  })
})

describe('a context that is too long', () => {
  it('loses the bodies of its oldest observations, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 900 }),
        async (lengths, spare) => {
          const prompt = (
            await rollOut(
              job,
              policyOf(() => ''),
              says(''),
              settings,
            )
          ).promptTokens!.length
          const contextLength = prompt + 700 + spare
          let turn = 0
          const contexts: number[][] = []
          const policy = policyOf(
            writes((observations) =>
              observations < lengths.length
                ? `${observations === 0 ? plan : '<reflection>More.</reflection>\n<think>On.</think>\n'}${callOf(`print(${observations})`)}`
                : reflection + answer,
            ),
            { contextLength, onRequest: ({ prompt: seen }) => void contexts.push(Array.from(seen)) },
          )
          const world = worldOf(async () => ({ text: String(turn).repeat(lengths[turn++]!) }))
          const rollout = await rollOut(job, policy, world, { ...settings, maxTurns: 10, maxTokens: 100_000 })
          expect(['answer', 'context']).toContain(rollout.stop)
          for (const context of contexts) expect(context.length).toBeLessThanOrEqual(contextLength)
          // The record has what the model saw at each request.
          contexts.forEach((context, request) => {
            const before = rollout.spans.findIndex(
              ({ origin }) => 'request' in origin && origin.request === request,
            )
            if (before === -1) return
            const saw = rollout.spans
              .slice(0, before)
              .flatMap(({ tokens, shortened }) =>
                shortened !== undefined && shortened.request <= request ? shortened.tokens : tokens,
              )
            expect(context).toEqual([...rollout.promptTokens!, ...saw])
          })
          // Nothing is reordered and no tag is cut: the same blocks, some bodies shorter.
          const grammar = await loadGrammar('math')
          const whole = parseChain(grammar, streamText(rollout)).blocks
          const last = parseChain(grammar, tokenizer.decode(contexts.at(-1)!.slice(prompt))).blocks
          expect(last.map(({ agent }) => agent)).toEqual(
            whole.slice(0, last.length).map(({ agent }) => agent),
          )
          last.forEach(({ text, kind, closed }, at) => {
            if (!closed) return
            const full = whole[at]!.text
            if (kind === 'observation' && text !== full) expect(full.startsWith(text.slice(0, -1))).toBe(true)
            else expect(text).toBe(full)
          })
        },
      ),
      { numRuns: 300 },
    )
  })
})

it('tools never block other rollouts', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const world = worldOf(async () => {
    await held
    return { text: '5' }
  })
  const waiting = rollOut(job, policyOf(solves), world, settings)
  const others = await Promise.all(
    Array.from({ length: 20 }, () => rollOut(job, policyOf(solves), says('5'), settings)),
  )
  expect(others.every(({ stop }) => stop === 'answer')).toBe(true)
  release()
  expect((await waiting).stop).toBe('answer')
})

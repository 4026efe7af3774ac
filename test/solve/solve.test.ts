import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildPrompt, extendGrammar, loadGrammar, solve } from '../../src/index.ts'
import { openTokenizer } from '../../src/language/tokens/index.ts'
import { Stream, scripted } from '../engine/openai/scripted-server.ts'
import { tokenizer } from '../rollout/fixtures.ts'
import { beginning, ending, findOrder, modelThat, orderModel, own, question } from './support.ts'

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('solve', () => {
  it('answers with live tools, and says how and at what cost', async () => {
    const texts: string[] = []
    const solved = await solve(orderModel(), question, { ...own, onText: (text) => texts.push(text) })
    expect(solved).toMatchObject({
      answer: 'On Monday',
      stop: 'answer',
      model: 'scripted',
      grammar: 'math',
      seed: 1,
    })
    expect(solved.calls).toMatchObject([{ agent: 'find_order', outcome: 'ok' }])
    expect(solved.chain).toBe(
      `${beginning}\n<observation>two lamps, shipped on Monday</observation>\n${ending}`,
    )
    expect(texts.join('')).toBe(solved.chain)
    expect(solved.spans.map(({ agent }) => agent)).toEqual([
      'think',
      'find_order',
      'observation',
      'reflection',
      'think',
      'answer',
    ])
    // One byte is one token. The second request reads everything again.
    const size = (text: string): number => tokenizer.encodeIds(text).length
    const { prompt, tool, completion, once, billed } = solved.tokens
    expect(prompt).toBe(solved.rollouts[0]!.promptTokens!.length)
    expect(completion).toBe(size(beginning) + size(ending))
    expect(tool).toBe(size(solved.chain) - completion)
    expect(once).toBe(prompt + tool + completion)
    expect(billed).toBe(once + prompt + size(beginning))
  })

  it('offers exactly the tools that are given', async () => {
    const { rollouts } = await solve(orderModel(), question, own)
    const [system] = rollouts[0]!.prompt
    expect(system!.content).toContain('<find_order>')
    expect(system!.content).not.toContain('<code>')
    const both = await solve(orderModel(), question, { ...own, tools: ['code', findOrder] })
    const grammar = extendGrammar(await loadGrammar('math'), [findOrder])
    expect(both.rollouts[0]!.prompt).toEqual(buildPrompt(grammar, question))
    await expect(solve(orderModel(), question, { ...own, tools: ['coed'] })).rejects.toThrow('no tool "coed"')
  })

  it('streams the chain as events', async () => {
    const events = await all(solve(orderModel(), question, own))
    const kinds = events.map(({ type }) => type)
    expect([...new Set(kinds)]).toEqual(['role', 'call', 'result', 'answer'])
    const textOf = (turn: number): string =>
      events.flatMap((event) => (event.type === 'role' && event.turn === turn ? [event.text] : [])).join('')
    expect(textOf(0)).toBe('Look <b>it</b> up, <code> is not needed.')
    expect(events.find(({ type }) => type === 'call')).toMatchObject({
      agent: 'find_order',
      call: 0,
      payload: { syntax: 'json', value: { number: 4711 } },
    })
    expect(events.find(({ type }) => type === 'result')).toMatchObject({
      agent: 'find_order',
      call: 0,
      text: 'two lamps, shipped on Monday',
      outcome: 'ok',
    })
    expect(events.flatMap((event) => (event.type === 'answer' ? [event.text] : [])).join('')).toBe(
      'On Monday',
    )
  })

  it('stops when the loop is left', async () => {
    const aborted = Promise.withResolvers<void>()
    const model = modelThat(() => '<think>A', {
      onRequest: ({ signal, onToken }) => {
        signal!.addEventListener('abort', () => aborted.resolve())
        for (const token of tokenizer.encodeIds('<think>A')) onToken!(token, 0)
        return aborted.promise
      },
    })
    const solving = solve(model, question, own)
    for await (const event of solving) {
      expect(event).toMatchObject({ type: 'role', agent: 'think' })
      break
    }
    await aborted.promise
    await expect(solving).rejects.toThrow()
  })

  it('stops at the signal', async () => {
    const stop = new AbortController()
    const model = modelThat(() => '', { onRequest: () => stop.abort(new Error('enough')) })
    await expect(solve(model, question, { ...own, signal: stop.signal })).rejects.toThrow('enough')
    await expect(solve(model, question, { ...own, signal: stop.signal })).rejects.toThrow('enough')
  })

  it('picks one of several answers', async () => {
    // Every fresh attempt writes another answer; two of three agree.
    const answers = ['5', '6', '5']
    const model = () =>
      modelThat((_, request) => `<think>Sum.</think><answer>${answers[request % 3]}</answer>`)
    const done: number[] = []
    const most = await solve(model(), 'What is 2 + 3?', {
      ...own,
      bestOf: 3,
      onCandidate: (_, number) => done.push(number),
    })
    expect(most).toMatchObject({ answer: '5', pick: { by: 'majority', reason: '2 of 3 agree' } })
    expect(done.sort()).toEqual([0, 1, 2])
    expect(most.rollouts).toHaveLength(3)
    expect(most.tokens.requests).toBe(3)

    const least = solve(model(), 'What is 2 + 3?', {
      ...own,
      bestOf: 3,
      pick: (rollouts) => rollouts.findIndex(({ answer }) => answer === '6'),
    })
    const events = await all(least)
    expect(events.at(-1)).toEqual({ type: 'answer', text: '6' })
    expect((await least).answer).toBe('6')
    const none = await solve(model(), 'What is 2 + 3?', { ...own, bestOf: 2, pick: () => undefined })
    expect(none.answer).toBeUndefined()
    await expect(solve(model(), 'q', { ...own, bestOf: 2, pick: () => 2 })).rejects.toThrow('returned 2')
    await expect(solve(model(), 'q', { ...own, bestOf: 2, temperature: 0 })).rejects.toThrow(
      'would be the same',
    )
    await expect(solve(model(), 'q', { ...own, bestOf: 0 })).rejects.toThrow('cannot sample 0')
  })

  it('has no answer when the model gives none, and says what failed when the engine does', async () => {
    const silent = await solve(
      modelThat(() => '<think>No idea.</think>'),
      question,
      own,
    )
    expect(silent).toMatchObject({ answer: undefined, stop: 'end' })
    const broken = modelThat(() => {
      throw new Error('out of memory')
    })
    await expect(solve(broken, question, own)).rejects.toThrow('the engine failed: out of memory')
    await expect(all(solve(broken, question, own))).rejects.toThrow('out of memory')
  })

  it('starts the MCP servers among the tools, and stops them', async () => {
    const server = { command: process.execPath, args: [join(import.meta.dirname, '../tools/mcp-server.ts')] }
    const children = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length
    const before = children()
    const model = modelThat((soFar) =>
      soFar.includes('<observation>5')
        ? '<answer>5</answer>'
        : '<think>Add.</think><add_numbers>{"a": 2, "b": 3}</add_numbers>',
    )
    const solved = await solve(model, '2 + 3?', { grammar: 'math', tools: [server], seed: 1 })
    expect(solved).toMatchObject({ answer: '5', calls: [{ agent: 'add_numbers', outcome: 'ok' }] })
    // Processes of earlier tests may end meanwhile.
    await expect.poll(children, { timeout: 50_000 }).toBeLessThanOrEqual(before)
  })

  it('asks a model on an inference server', async () => {
    const nano = await openTokenizer('models/nano')
    const tokens = Array.from(nano.encodeContinuation('<think>Sum.</think><answer>5</answer>').ids)
    const reply = {
      text: '',
      output_ids: tokens,
      meta_info: {
        prompt_tokens: 9,
        completion_tokens: tokens.length,
        cached_tokens: 0,
        output_token_logprobs: tokens.map((id) => [-0.25, id, null]),
        finish_reason: { type: 'stop', matched: '</answer>' },
      },
    }
    const server = await scripted({
      '/v1/models': { data: [{ id: 'nano', owned_by: 'sglang', max_model_len: 4096 }] },
      '/get_model_info': { model_path: 'nano', is_generation: true },
      '/generate': () => new Stream([reply]),
    })
    onTestFinished(() => server.close())
    const solved = await solve(server.url, '2 + 3?', {
      tokenizer: 'nano',
      grammar: 'math',
      tools: [findOrder],
    })
    expect(solved).toMatchObject({ answer: '5', model: server.url })
  })

  it('opens the bundled model by name, and gives the same chain for the same seed', async () => {
    const options = { grammar: 'math', tools: ['code'], maxTokens: 40, seed: 3 }
    const [first, second] = [await solve('nano', '2 + 3?', options), await solve('nano', '2 + 3?', options)]
    expect(first.chain).not.toBe('')
    expect(second.chain).toBe(first.chain)
    await expect(solve('nowhere', 'q')).rejects.toThrow('there is no model "nowhere"')
    await expect(solve('nano', 'q', { tokenizer: 'nano' })).rejects.toThrow('the model is not a URL')
  })
})

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ToolError } from '../../base/errors/index.ts'
import {
  builtinGrammars,
  defineGrammar,
  extendGrammar,
  parseChain,
  systemPrompt,
} from '../../language/grammar/index.ts'
import { callTool } from './call-tool.ts'
import { defineTool } from './define-tool.ts'
import { isBlockedHost, repeatsQuestion } from './leak-guard.ts'
import { cutMiddle } from './output-limit.ts'
import { ToolCache } from './tool-cache.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-tools-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const payload = (value: Record<string, unknown>) => ({ syntax: 'json' as const, value })

/** A tool that counts its runs and calls a function. */
function counting(act: (run: number, signal: AbortSignal) => string | Promise<string>) {
  const state = { runs: 0 }
  const tool = defineTool({
    name: 'count',
    description: 'Counts.',
    input: z.object({ n: z.number() }),
    cacheable: true,
    execute: (_, { signal }) => act(++state.runs, signal),
  })
  return { tool, state }
}

describe('callTool', () => {
  it('retries only transient failures', async () => {
    const transient = counting((run) => {
      if (run < 3) throw new ToolError('busy', { transient: true })
      return 'ready'
    })
    expect(await callTool(transient.tool, payload({ n: 1 }))).toMatchObject({
      ok: true,
      text: 'ready',
      attempts: 3,
    })
    const final = counting(() => {
      throw new ToolError('no such thing')
    })
    expect(await callTool(final.tool, payload({ n: 1 }))).toMatchObject({
      ok: false,
      attempts: 1,
      text: expect.stringContaining('no such thing'),
    })
    const hopeless = counting(() => {
      throw new ToolError('busy', { transient: true })
    })
    expect(await callTool(hopeless.tool, payload({ n: 1 }), { retries: 1 })).toMatchObject({
      ok: false,
      attempts: 2,
    })
  })

  it('stops at the time limit, even if the tool ignores its signal, and includes retries in it', async () => {
    const deaf = counting(() => sleep(10_000, 'late'))
    expect(await callTool(deaf.tool, payload({ n: 1 }), { timeoutMs: 100 })).toMatchObject({
      ok: false,
      text: expect.stringContaining('0.1 s'),
    })
    const busy = counting(() => {
      throw new ToolError('busy', { transient: true })
    })
    expect((await callTool(busy.tool, payload({ n: 1 }), { timeoutMs: 300, retries: 1000 })).ok).toBe(false)
    expect(busy.state.runs).toBeLessThan(5)
  })

  it('propagates an abort by its caller', async () => {
    const controller = new AbortController()
    const call = callTool(counting(() => sleep(10_000, 'late')).tool, payload({ n: 1 }), {
      signal: controller.signal,
    })
    controller.abort(new Error('stop'))
    await expect(call).rejects.toThrow('stop')
  })

  it('rejects invalid input with a message', async () => {
    const { tool, state } = counting(() => 'x')
    expect(await callTool(tool, payload({ n: 'many' }))).toMatchObject({
      ok: false,
      text: expect.stringContaining('n:'),
    })
    expect(state.runs).toBe(0)
  })

  it('shares its cache between processes and does not cache failures', async () => {
    const first = counting((run) => (run === 1 ? Promise.reject(new ToolError('no')) : `run ${run}`))
    const options = { cache: new ToolCache(folder) }
    expect((await callTool(first.tool, payload({ n: 1 }), options)).ok).toBe(false)
    expect(await callTool(first.tool, payload({ n: 1 }), options)).toMatchObject({
      text: 'run 2',
      cached: false,
    })
    const elsewhere = { cache: new ToolCache(folder) }
    expect(await callTool(first.tool, payload({ n: 1 }), elsewhere)).toMatchObject({
      text: 'run 2',
      cached: true,
    })
    expect(await callTool(first.tool, payload({ n: 2 }), elsewhere)).toMatchObject({
      text: 'run 3',
      cached: false,
    })
  })

  it('caches per configuration of a tool, and caches nothing incomplete', async () => {
    const options = { cache: new ToolCache(folder) }
    const { tool, state } = counting((run) => `run ${run}`)
    const scoped = (scope: string) => ({ ...tool, cacheScope: () => scope })
    expect((await callTool(scoped('a'), payload({ n: 1 }), options)).text).toBe('run 1')
    expect((await callTool(scoped('b'), payload({ n: 1 }), options)).text).toBe('run 2')
    expect((await callTool(scoped('a'), payload({ n: 1 }), options)).text).toBe('run 1')
    const partial = { ...tool, execute: async () => ({ text: `run ${++state.runs}`, incomplete: true }) }
    expect((await callTool(partial, payload({ n: 2 }), options)).text).toBe('run 3')
    expect((await callTool(partial, payload({ n: 2 }), options)).text).toBe('run 4')
  })

  it('never throws, whatever the tool throws, and supports any tool name', async () => {
    const { tool } = counting(() => 'x')
    const throwing = (thrown: unknown) => ({
      ...tool,
      execute: () => {
        throw thrown
      },
    })
    expect((await callTool(throwing('words'), payload({ n: 1 }))).text).toBe('count failed: words')
    const unreadable = { ...tool, fromPayload: () => throwing(new Error('odd')).execute() }
    expect((await callTool(unreadable, payload({ n: 1 }))).ok).toBe(false)
    const outside = { ...tool, name: '../../outside' }
    await callTool(outside, payload({ n: 1 }), { cache: new ToolCache(join(folder, 'cache')) })
    expect(readdirSync(folder)).toEqual(['cache'])
    await expect(
      callTool(tool, payload({ n: 1 }), { signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrow('before')
  })

  it('readers see complete outputs while others write', async () => {
    const written = Array.from({ length: 4 }, (_, index) => `${index}`.repeat(200_000))
    const read = new Set<string>()
    await Promise.all(
      written.flatMap((text) => [
        ...Array.from({ length: 5 }, async () => new ToolCache(folder).set('t', 'key', { text })),
        ...Array.from({ length: 5 }, async () => read.add(new ToolCache(folder).get('t', 'key')?.text ?? '')),
      ]),
    )
    for (const text of read) expect(['', ...written]).toContain(text)
    expect(
      readdirSync(join(folder, 't'), { recursive: true }).filter((name) => !/json$|^..$/.test(`${name}`)),
    ).toEqual([])
  })

  it('flags output that repeats the question', async () => {
    const question = 'In which year did the lighthouse of Varnholm first burn electric light?'
    const { tool } = counting(
      () => `Q: "In which year did the lighthouse of Varnholm first burn ELECTRIC light" A: 1923`,
    )
    expect((await callTool(tool, payload({ n: 1 }), { question })).flags).toEqual(['repeats-question'])
    expect(
      (await callTool(counting(() => 'It burns since 1923.').tool, payload({ n: 1 }), { question })).flags,
    ).toEqual([])
  })
})

describe('cutMiddle', () => {
  it('keeps both ends, stays within the limit and splits no character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 60, max: 300 }),
        (text, limit) => {
          const cut = cutMiddle(text, limit)
          expect(cut.truncated).toBe(text.length > limit)
          expect(cut.text.length).toBeLessThanOrEqual(
            Math.max(limit, text.length > limit ? limit : text.length),
          )
          expect(cut.text.isWellFormed()).toBe(true)
          expect(text.startsWith(cut.text.split('\n[… ')[0]!)).toBe(true)
        },
      ),
      { numRuns: 10_000 },
    )
  })
})

it('cuts at nearby line ends', () => {
  const text = Array.from({ length: 100 }, (_, index) => `line number ${index}`).join('\n')
  const [head, tail] = cutMiddle(text, 400).text.split(/\n\[… \d+ characters left out …\]\n/)
  expect(head).toMatch(/line number \d+$/)
  expect(tail).toMatch(/^line number \d+/)
})

describe('leak guard', () => {
  it('blocks hosts and their subdomains, but not hosts that merely end alike', () => {
    expect(isBlockedHost('huggingface.co')).toBe(true)
    expect(isBlockedHost('Datasets.HuggingFace.co.')).toBe(true)
    expect(isBlockedHost('nothuggingface.co')).toBe(false)
  })

  it('ignores short questions', () => {
    expect(repeatsQuestion('Who is he? Nobody knows.', 'Who is he?')).toBe(false)
  })
})

describe('a user-defined tool', () => {
  const findOrder = defineTool({
    name: 'find_order',
    description: 'Look up an order by its number.',
    input: z.object({ number: z.number().int() }),
    execute: ({ number }) => `order ${number}`,
  })

  it.each([...builtinGrammars.values()])('appears in grammar $name and can be called there', (base) => {
    const grammar = extendGrammar(base, [findOrder])
    expect(systemPrompt(grammar)).toContain('<find_order>')
    const { calls } = parseChain(grammar, '<find_order>{"number": 7}</find_order>')
    expect(calls[0]?.payload).toEqual(payload({ number: 7 }))
    expect(parseChain(grammar, '<find_order>{"number": "x"}</find_order>').calls).toEqual([])
    expect(extendGrammar(grammar, [findOrder])).toBe(grammar)
  })

  it('cannot have the name of a role', () => {
    const web = builtinGrammars.get('web')!
    expect(() => extendGrammar(web, [{ ...findOrder, name: 'think' }])).toThrow('name of a role agent')
  })

  it('adds tools to a grammar without any', () => {
    const bare = defineGrammar({
      name: 'bare',
      description: 'd',
      start: ['answer'],
      agents: [{ name: 'answer', kind: 'answer', description: 'd' }],
    })
    const grammar = extendGrammar(bare, [findOrder])
    const text = '<find_order>{"number":1}</find_order>\n<observation>o</observation>\n<answer>a</answer>'
    expect(parseChain(grammar, text).order.ok).toBe(true)
  })
})

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Stream } from '../../src/schema/index.ts'
import {
  type FilterContext,
  readFunnel,
  run as runFilter,
  selectionFiles,
} from '../../src/stages/filter/index.ts'
import { createRun, openRun, type Run, readSelection, type Selected } from '../../src/store/index.ts'
import { fiveCalls, makeSequence, type Shape } from './make-sequence.ts'

let folder: string
let run: Run
let count = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-filter-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const quiet: Pick<FilterContext, 'signal' | 'observe'> = {
  signal: new AbortController().signal,
  observe: () => {},
}
const config = (filter: Record<string, unknown> = {}) => ProjectConfig.parse({ filter })
const lines = (file: string): { id: string; weight: number; stage: string; reason: string }[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
const selected = (from: Run = run) =>
  Object.fromEntries([...readSelection(from)].map(({ sequence, weight }: Selected) => [sequence.id, weight]))
/** Words that are unique to each call. */
const unlike = () => Array.from({ length: 60 }, () => `w${count++}`).join(' ')

describe('a run with one sequence for every outcome', () => {
  const shapes: Shape[] = [
    { id: 'good', reflection: 'Fine.' },
    { id: 'mended', reflection: 'Fine.', checks: ['Score: 1', 'Score: 4'] },
    { id: 'short', calls: ['a'] },
    { id: 'wrong', outcome: 'wrong' },
    { id: 'circling', calls: [...fiveCalls, 'YEAR'] },
    { id: 'unreflected' },
    { id: 'long', reflection: 'Fine.', thought: `${unlike()} ${'x'.repeat(40_000)}` },
    {
      id: 'known',
      reflection: 'Fine.',
      question: 'How many lamps does the second tower of Osk harbour have?',
    },
    { id: 'shown', origin: 'example' },
  ]
  const filter = { keep_unreflected: 0 }
  beforeEach(() => {
    for (const shape of shapes) run.append('sequence', makeSequence({ thought: unlike(), ...shape }))
    const task = { v: 1, id: 't', suite: 's', domain: 'web', gold: { checker: 'exact', answers: ['7'] } }
    const question = 'How many lamps does the second tower of Osk harbour have?'
    writeFileSync(join(folder, 'held-out.jsonl'), `${JSON.stringify({ ...task, question })}\n`)
  })

  it('reports each of them', async () => {
    const against = [join(folder, 'held-out.jsonl')]
    const { funnel, figures, alreadyDone } = await runFilter(config({ ...filter, against }), {
      run,
      ...quiet,
    })
    const files = selectionFiles(run.dir)
    expect(alreadyDone).toBe(false)
    expect(figures).toEqual({ sequences: 8, kept: 2, dropped: 6, copies: 3 })
    expect(selected()).toEqual({ good: 1, mended: 2 })
    expect(lines(files.dropped).map(({ id, stage, reason }) => [id, stage, reason])).toEqual([
      ['short', 'complexity', 'fewer than 5 tool calls'],
      ['wrong', 'quality', 'wrong answer'],
      ['circling', 'quality', 'repeated tool call'],
      ['unreflected', 'reflection', 'no reflection, not sampled'],
      ['long', 'length', 'over 32768 tokens'],
      ['known', 'contamination', `question is in ${against[0]}`],
    ])
    expect(funnel.stages.map(({ name, after }) => [name, after])).toEqual([
      ['marks', 8],
      ['complexity', 7],
      ['quality', 5],
      ['voice', 5],
      ['reflection', 4],
      ['correction', 4],
      ['length', 3],
      ['contamination', 2],
      ['judge', 2],
      ['near-duplicates', 2],
      ['per task', 2],
    ])
    expect(funnel).toMatchObject({
      passedOver: 1,
      upSampled: 1,
      suites: [{ suite: 'search', all: 8, kept: 2 }],
    })
    expect(funnel.tools).toEqual([
      { tool: 'web_search', calls: { all: 37, kept: 10 }, sequences: { all: 8, kept: 2 } },
    ])
    expect(funnel.interactions).toEqual([
      { interactions: 1, all: 1, kept: 0 },
      { interactions: 5, all: 6, kept: 2 },
      { interactions: 6, all: 1, kept: 0 },
    ])
    expect(readFunnel(run)).toEqual(funnel)
    const page = readFileSync(files.page, 'utf8')
    expect(page).toContain('wrong answer')
    expect(page).not.toMatch(/(src|href)=|@import|url\(/)
  })

  it('filters the same records and settings only once', async () => {
    const again = async (section = filter) =>
      (await runFilter(config(section), { run, ...quiet })).alreadyDone
    expect(await again()).toBe(false)
    const written = readFileSync(selectionFiles(run.dir).kept)
    expect(await again()).toBe(true)
    expect(await again({ ...filter, min_interactions: 1 } as typeof filter)).toBe(false)
    expect(await again()).toBe(false)
    expect(readFileSync(selectionFiles(run.dir).kept)).toEqual(written)
    run.append('sequence', makeSequence({ id: 'new', reflection: 'Fine.', thought: unlike() }))
    expect(await again()).toBe(false)
    expect(Object.keys(selected())).toContain('new')
    writeFileSync(selectionFiles(run.dir).funnel, '{')
    expect(await again()).toBe(false)
  })

  it('writes nothing in a dry run, with the same counts', async () => {
    const before = readdirSync(run.dir)
    const dry = await runFilter(config(filter), { run, ...quiet, dryRun: true })
    expect(readdirSync(run.dir)).toEqual(before)
    const real = await runFilter(config(filter), { run, ...quiet })
    expect(dry).toEqual(real)
  })

  it('keeps the old selection when interrupted', async () => {
    for (let index = 0; index < 300; index++) run.append('sequence', makeSequence({ id: `more ${index}` }))
    await runFilter(config(filter), { run, ...quiet })
    const before = selected()
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(runFilter(config(), { run, observe: () => {}, signal })).rejects.toThrow('stop')
    expect(selected()).toEqual(before)
    expect(readdirSync(run.dir).filter((name) => name.includes('.tmp'))).toEqual([])
  })

  it('does not return sequences that have changed since', async () => {
    expect(() => selected()).toThrow('has not been filtered yet')
    await runFilter(config(filter), { run, ...quiet })
    run.close()
    run = openRun(join(folder, 'r'), { write: true })
    run.append('task', {
      v: 1,
      id: 't',
      suite: 's',
      domain: 'web',
      question: 'q',
      gold: { checker: 'math', answer: '1' },
    })
    expect(selected()).toEqual({ good: 1, mended: 2, known: 1 })
    run.append('sequence', makeSequence({ ...shapes[0]!, thought: 'Another.' }))
    expect(() => selected()).toThrow('sequence good of run r has changed')
  })

  it('refuses missing eval sets', async () => {
    await expect(runFilter(config({ against: ['gsm9k'] }), { run, ...quiet })).rejects.toThrow('gsm9k')
    expect(existsSync(selectionFiles(run.dir).folder)).toBe(false)
  })
})

describe('near-duplicates', () => {
  it('keeps the one with the highest weight, in any order', async () => {
    const words = unlike().split(' ')
    const family = (name: string, change: number): Stream[] =>
      [0, 1, 2].map((member) =>
        makeSequence({
          id: `${name}${member}`,
          reflection: 'Fine.',
          question: `What of ${name}?`,
          calls: fiveCalls.map((call) => `${name} ${call}`),
          thought: words
            .map((word, at) => (at === change + member ? `${name}${member}` : word + name))
            .join(' '),
          checks: member === 1 && name === 'a' ? ['Score: 2', 'Score: 4'] : ['Score: 4'],
        }),
      )
    const sequences = [...family('a', 0), ...family('b', 20), ...family('c', 40)]
    const survivors = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(sequences, { minLength: 9 }), async (shuffled) => {
        const id = `order-${count++}`
        using other = createRun(folder, { id, command: 'test', coa: '0.0.0' })
        other.appendMany('sequence', shuffled)
        await runFilter(config({ duplicate_likeness: 0.7 }), { run: other, ...quiet })
        survivors.add(JSON.stringify(Object.keys(selected(other)).sort()))
      }),
      { numRuns: 12 },
    )
    expect(survivors.size).toBe(1)
    const [only] = [...survivors].map((text) => JSON.parse(text) as string[])
    expect(only).toHaveLength(3)
    expect(only).toContain('a1')
  })

  it('can be turned off', async () => {
    for (const id of ['x', 'y']) run.append('sequence', makeSequence({ id, reflection: 'Fine.' }))
    await runFilter(config(), { run, ...quiet })
    expect(Object.keys(selected())).toHaveLength(1)
    expect(lines(selectionFiles(run.dir).dropped)[0]?.reason).toBe('near-duplicate')
    await runFilter(config({ near_duplicates: false }), { run, ...quiet })
    expect(selected()).toEqual({ x: 1, y: 1 })
  })
})

describe('per task', () => {
  const add = (...shapes: Shape[]) => {
    for (const shape of shapes)
      run.append('sequence', makeSequence({ reflection: 'Fine.', taskId: 't', thought: unlike(), ...shape }))
  }
  const keptWith = async (filter: Record<string, unknown>) => {
    await runFilter(config(filter), { run, ...quiet })
    return Object.keys(selected()).sort()
  }

  it('keeps the best of several runs: by weight, then by length', async () => {
    const long = 'and so on '.repeat(50)
    add(
      { id: 'long', thought: `${unlike()} ${long}` },
      { id: 'short' },
      { id: 'mended', thought: `${unlike()} ${long} ${long}`, checks: ['Score: 1', 'Score: 4'] },
      { id: 'wrong', thought: 'Brief.', outcome: 'wrong' },
      { id: 'other', taskId: 'u', thought: `${unlike()} ${long}` },
    )
    expect(await keptWith({})).toEqual(['long', 'mended', 'other', 'short'])
    expect(await keptWith({ per_task: 1 })).toEqual(['mended', 'other'])
    expect(lines(selectionFiles(run.dir).dropped)).toMatchObject([
      { id: 'wrong', stage: 'quality' },
      { id: 'long', stage: 'per task', reason: 'another run of this task was kept', detail: 'mended' },
      { id: 'short', stage: 'per task', reason: 'another run of this task was kept', detail: 'mended' },
    ])
    expect(readFunnel(run)!.stages.at(-1)).toMatchObject({ name: 'per task', before: 4, after: 2 })
    expect(await keptWith({ per_task: 2 })).toEqual(['mended', 'other', 'short'])
  })

  it('does not count near-duplicates of a kept one', async () => {
    const twin = unlike()
    add(
      { id: 'a', thought: twin },
      { id: 'b', thought: twin },
      { id: 'c', thought: `${unlike()} ${unlike()}` },
    )
    expect(await keptWith({ per_task: 2 })).toHaveLength(2)
    expect(await keptWith({ per_task: 2 })).toContain('c')
    // Without that, both twins come before the longer one.
    expect(await keptWith({ per_task: 2, near_duplicates: false })).toEqual(['a', 'b'])
  })

  it('goes by the question where there is no task', async () => {
    for (const [id, question] of Object.entries({ a: 'Who?', b: 'Who?', c: 'When?' }))
      run.append('sequence', makeSequence({ id, question, reflection: 'Fine.', thought: unlike() }))
    expect(await keptWith({ per_task: 1 })).toHaveLength(2)
    expect(await keptWith({ per_task: 1 })).toContain('c')
  })

  it('breaks ties by seed, in any order', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const of = async (order: string[], seed: number): Promise<string[]> => {
      using other = createRun(folder, { id: `tie-${count++}`, command: 'test', coa: '0.0.0' })
      for (const id of order) other.append('sequence', makeSequence({ id, taskId: 't', reflection: 'Fine.' }))
      const settings = ProjectConfig.parse({
        project: { seed },
        filter: { per_task: 1, near_duplicates: false },
      })
      await runFilter(settings, { run: other, ...quiet })
      return Object.keys(selected(other))
    }
    const chosen = await Promise.all([1, 2, 3, 4, 5].map((seed) => of(ids, seed)))
    expect(new Set(chosen.flat()).size).toBeGreaterThan(1)
    expect(await of(ids.toReversed(), 1)).toEqual(chosen[0])
  })
})

it('every sequence is kept or dropped exactly once, and the funnel adds up', async () => {
  const shape = fc.record({
    grammar: fc.constantFrom('web', 'math'),
    calls: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 8 }),
    reflection: fc.option(fc.constant('Fine.'), { nil: undefined }),
    checks: fc.array(fc.constantFrom('Score: 1', 'Score: 4'), { minLength: 1, maxLength: 2 }),
    outcome: fc.constantFrom('correct', 'correct', 'correct', 'wrong', 'undecided', 'unchecked'),
    sawGold: fc.boolean(),
    thought: fc.constantFrom('Go on.', unlike(), unlike()),
    taskId: fc.constantFrom('t1', 't2', 't3'),
  })
  const section = fc.record({
    min_interactions: fc.nat(6),
    max_same_call: fc.integer({ min: 1, max: 3 }),
    exclude_saw_gold: fc.boolean(),
    keep_unreflected: fc.constantFrom(0, 0.5, 1),
    near_duplicates: fc.boolean(),
    correction_weight: fc.integer({ min: 1, max: 4 }),
    per_task: fc.nat(2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { maxLength: 25 }), section, async (shapes, filter) => {
      using other = createRun(folder, { id: `all-${count++}`, command: 'test', coa: '0.0.0' })
      const sequences = shapes.map((given, index) => {
        const { reflection, ...rest } = given as Shape
        return makeSequence({ ...rest, id: `s${index}`, ...(reflection === undefined ? {} : { reflection }) })
      })
      other.appendMany('sequence', sequences)
      const { funnel } = await runFilter(config(filter), { run: other, ...quiet })
      const files = selectionFiles(other.dir)
      const [kept, dropped] = [lines(files.kept), lines(files.dropped)]
      const ids = [...kept, ...dropped].map(({ id }) => id).sort()
      expect(ids).toEqual(sequences.map(({ id }) => id).sort())
      expect(funnel).toMatchObject({ sequences: sequences.length, kept: kept.length })
      expect(funnel.copies).toBe(kept.reduce((sum, { weight }) => sum + weight, 0))
      expect(funnel.stages.at(-1)?.after).toBe(kept.length)
      expect(funnel.reasons.reduce((sum, reason) => sum + reason.count, 0)).toBe(dropped.length)
      for (const { id, weight } of kept) {
        const sequence = sequences.find((one) => one.id === id)!
        const lowFirst = sequence.spans
          .find(({ agent }) => agent === 'double_check')
          ?.text.includes('Score: 1')
        expect(sequence.verdict?.outcome).toBe('correct')
        expect(weight).toBe(lowFirst === true ? filter.correction_weight : 1)
      }
      expect(kept.every(({ id }) => other.has('sequence', id))).toBe(true)
      for (const task of filter.per_task === 0 ? [] : ['t1', 't2', 't3']) {
        const ofTask = kept.filter(({ id }) => other.get('sequence', id)!.taskId === task)
        expect(ofTask.length).toBeLessThanOrEqual(filter.per_task)
        const displaced = dropped.filter(
          ({ id, stage }) => stage === 'per task' && other.get('sequence', id)!.taskId === task,
        )
        if (displaced.length > 0) expect(ofTask).toHaveLength(filter.per_task)
      }
    }),
    { numRuns: 150 },
  )
})

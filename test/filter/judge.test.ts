import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { run as runFilter } from '../../src/stages/filter/index.ts'
import { createRun, type Run, readSelection } from '../../src/store/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { makeSequence } from './make-sequence.ts'

let folder: string
let run: Run
let server: OpenAiServer
/** What the judge says about a sequence, by a word in its text. */
const scores = new Map([
  ['excellent', 5],
  ['fair', 3],
  ['poor', 2],
])

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coa-judge-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
  server = await startOpenAiServer(({ body }) => {
    const text = JSON.stringify(body['messages'])
    const score = [...scores].find(([word]) => text.includes(`${word} work`))?.[1]
    if (score === undefined) return { status: 400 }
    const points = { coherence: score, correctness: score, usefulness: score }
    return `Let me see.\n${JSON.stringify({ reason: `it is ${score}`, ...points, score })}`
  })
})
afterEach(async () => {
  run.close()
  await server.close()
  rmSync(folder, { recursive: true })
})

const filtered = (filter: Record<string, unknown> = {}) =>
  runFilter(
    ProjectConfig.parse({
      filter: { judge: true, near_duplicates: false, ...filter },
      judge: { base_url: server.baseUrl, model: 'm', retries: 0 },
      tools: { cache: join(folder, 'cache') },
    }),
    { run, signal: new AbortController().signal, observe: () => {} },
  )
const kept = () => [...readSelection(run)].map(({ sequence }) => sequence.id)
const add = (...words: string[]) => {
  for (const word of words)
    run.append('sequence', makeSequence({ id: word, reflection: 'Fine.', thought: `This is ${word} work.` }))
}

it('drops sequences with a low score, says why, and asks only once', async () => {
  add('excellent', 'poor', 'fair')
  run.append('sequence', makeSequence({ id: 'wrong', outcome: 'wrong', thought: 'This is poor work.' }))
  const { funnel, figures } = await filtered()
  expect(kept()).toEqual(['excellent', 'fair'])
  expect(funnel.reasons.at(-1)).toEqual({
    stage: 'judge',
    reason: 'judged below 3',
    count: 1,
    examples: [{ id: 'poor', detail: '2: it is 2' }],
  })
  expect(funnel.judge).toEqual({ scored: 3, undecided: 0 })
  expect(figures).toMatchObject({ judged: 3, 'judge undecided': 0 })
  // The wrong one was dropped before, and the scores are in the cache of the answer judge's folder.
  expect(server.requests).toHaveLength(3)
  await filtered({ judge_min: 4 })
  expect(kept()).toEqual(['excellent'])
  expect(server.requests).toHaveLength(3)
  expect(readFileSync(join(folder, 'cache', 'quality.jsonl'), 'utf8')).toContain('"score":5')
})

it('keeps or drops what the judge cannot decide, counts it, and asks again', {
  timeout: 60_000,
}, async () => {
  add('excellent', 'unknown')
  const { funnel } = await filtered()
  expect(kept()).toEqual(['excellent', 'unknown'])
  expect(funnel.judge).toMatchObject({
    scored: 1,
    undecided: 1,
    failure: expect.stringContaining('the judge failed'),
  })
  const dropped = await filtered({ judge_undecided: 'drop' })
  expect(kept()).toEqual(['excellent'])
  expect(dropped.funnel.reasons.map(({ stage, reason }) => [stage, reason])).toEqual([
    ['judge', 'the judge could not decide'],
  ])
  scores.set('unknown', 4)
  const later = await filtered({ judge_undecided: 'drop' })
  scores.delete('unknown')
  expect(later).toMatchObject({ alreadyDone: false, funnel: { judge: { scored: 2, undecided: 0 } } })
  expect((await filtered({ judge_undecided: 'drop' })).alreadyDone).toBe(true)
})

it('fails if the judge decides nothing, or if there is none', { timeout: 60_000 }, async () => {
  add('unknown')
  await expect(filtered()).rejects.toThrow('the judge decided on none of the 1 sequences')
  const config = ProjectConfig.parse({ filter: { judge: true } })
  const context = { run, signal: new AbortController().signal, observe: () => {} }
  await expect(runFilter(config, context)).rejects.toThrow('there is no [judge] model')
})

it('decides which of several runs of a task is kept, after their weights', async () => {
  const runs = { a: 'fair', b: 'excellent', c: 'unknown' }
  for (const [id, word] of Object.entries(runs))
    run.append(
      'sequence',
      makeSequence({ id, taskId: 't', reflection: 'Fine.', thought: `This is ${word} work.` }),
    )
  await filtered({ per_task: 1 })
  expect(kept()).toEqual(['b'])
  await filtered({ per_task: 2 })
  // What the judge could not score comes last.
  expect(kept()).toEqual(['a', 'b'])
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isWellFormed, loadGrammar, parseChain } from '../language/grammar/index.ts'
import { ProjectConfig } from '../pipeline/settings.ts'
import { streamText } from '../schema/index.ts'
import type { Stage, StageContext } from '../stages/stage.ts'
import { createRun, openRun, type Run, readSelection } from '../store/index.ts'
import { type RunStagesContext, runStages } from './run-stages.ts'
import { stages } from './stages.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-pipeline-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const config = ProjectConfig.parse({})
const observe = (): void => {}
const stage = (
  name: string,
  work: (context: StageContext<ProjectConfig>) => Promise<Record<string, number>>,
): Stage<ProjectConfig> => ({
  name,
  purpose: '',
  settings: {},
  reads: [],
  writes: [],
  run: async (context) => ({ figures: await work(context) }),
  describe: () => '',
})

describe('runStages', () => {
  it('resumes an interrupted run at the stage it stopped in', async () => {
    const calls: string[] = []
    const controller = new AbortController()
    const first = stage('first', async () => ({ made: calls.push('first') }))
    const second = stage('second', async ({ signal }) => {
      calls.push('second')
      if (calls.length === 2) controller.abort(new Error('stop'))
      signal.throwIfAborted()
      return {}
    })
    const all = [first, second]
    const told: string[] = []
    const onStage: RunStagesContext['onStage'] = ({ name }, status) => told.push(`${name} ${status}`)
    const stopped = runStages(all, { run, config, observe, onStage, signal: controller.signal })
    await expect(stopped).rejects.toThrow('stop')
    expect(run.manifest.stages).toMatchObject({
      first: { status: 'done' },
      second: { status: 'interrupted' },
    })
    run.close()
    run = openRun(join(folder, 'r'), { write: true })
    const { signal } = new AbortController()
    const outcomes = await runStages(all, { run, config, observe, onStage, signal })
    expect(outcomes.map(({ status }) => status)).toEqual(['already done', 'done'])
    expect(told).toEqual([
      'first running',
      'first done',
      'second running',
      'second interrupted',
      'first already done',
      'second running',
      'second done',
    ])
    expect(outcomes[0]!.figures).toEqual({ made: 1 })
    expect(calls).toEqual(['first', 'second', 'second'])
  })

  it('records a failure and rethrows it', async () => {
    const broken = stage('broken', () => Promise.reject(new Error('no')))
    await expect(
      runStages([broken], { run, config, observe, signal: new AbortController().signal }),
    ).rejects.toThrow('no')
    expect(run.manifest.stages['broken']!.status).toBe('failed')
  })
})

it('the first stages lead from tasks to a training set, with every observation masked', async () => {
  const small = ProjectConfig.parse({
    tasks: { count: 3 },
    sandbox: { driver: 'pyodide' },
    filter: { min_interactions: 1 },
  })
  const outcomes = await runStages(stages.slice(0, 4), {
    run,
    config: small,
    observe,
    signal: new AbortController().signal,
  })
  const figures = Object.fromEntries(outcomes.map((outcome) => [outcome.name, outcome.figures]))
  expect(figures['tasks']).toMatchObject({ tasks: 9, misjudged: 0 })
  expect(figures['teach']).toMatchObject({ trajectories: 9, failed: 0 })
  expect(run.count('sequence')).toBe(9)
  for (const { sequence } of readSelection(run)) {
    expect(sequence.verdict?.outcome).toBe('correct')
    const chain = parseChain(await loadGrammar(sequence.grammar), streamText(sequence), { strict: true })
    expect(isWellFormed(chain), sequence.id).toBe(true)
    for (const span of sequence.spans)
      expect(span.text.includes('<observation>')).toBe(span.kind === 'observation')
  }
  expect([...readSelection(run)].length).toBeGreaterThan(5)
})

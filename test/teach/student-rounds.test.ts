import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText } from '../../src/schema/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { run as teach } from '../../src/stages/teach/index.ts'
import { createRun } from '../../src/store/index.ts'
import { tinyModel } from '../sft/support.ts'
import { taskOf } from './teams.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-student-rounds-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('stores rollouts of the student as sequences, which the filter judges like others', {
  timeout: 120_000,
}, async () => {
  const config = ProjectConfig.parse({
    teach: { mind: 'student', runs: 2 },
    student: { model: await tinyModel(folder, 8_000) },
    rollout: { max_tokens: 60, constrained: true },
    sandbox: { driver: 'pyodide' },
    tools: { cache: '' },
    filter: { min_interactions: 0 },
  })
  using run = createRun(folder, { id: 'rounds', command: 'test', coa: '0' })
  for (const index of [0, 1, 2]) run.append('task', taskOf('math', index))
  run.append('task', { ...taskOf('math', 3), meta: { for: 'eval' } })
  const around = { run, signal: new AbortController().signal, observe: () => {} }
  const summary = await teach(config, around)
  expect(summary).toMatchObject({ tasks: 3, trajectories: 6, correct: 0, failed: 0 })
  expect(run.count('trajectory')).toBe(0)
  const made = [...run.scan('sequence')]
  expect(made).toHaveLength(6)
  for (const sequence of made) {
    expect(sequence.provenance).toEqual({ origin: 'student', sawGold: false })
    expect(sequence.verdict?.outcome).toBe('wrong')
    expect(sequence.grammar).toBe('math')
    expect(streamText(sequence)).not.toBe('')
  }
  expect(new Set(made.map(({ taskId }) => taskId)).size).toBe(3)
  expect(made.map(({ meta }) => meta['attempt']).sort()).toEqual([1, 1, 1, 2, 2, 2])
  const { funnel } = await filter(config, around)
  expect(funnel).toMatchObject({ sequences: 6, kept: 0 })
  expect(funnel.reasons.every(({ stage }) => stage === 'quality')).toBe(true)

  expect(await teach(config, around)).toEqual(summary)
  await teach({ ...config, teach: { ...config.teach, runs: 3 } }, around)
  expect(run.count('sequence')).toBe(9)
})

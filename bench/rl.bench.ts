/**
 * Where the time of an RL step goes, and rollouts per second at different levels of concurrency. The model is nano
 * after the SFT stage of the quickstart, so it makes realistic tool calls.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStudent, openWorld, type RolloutJob, rollOutAll, rolloutSettings } from '../src/agent/index.ts'
import { seedOf } from '../src/base/random/index.ts'
import { rl, runStage, runStages, stages } from '../src/pipeline/index.ts'
import { type ProjectConfig, projectConfig } from '../src/pipeline/settings.ts'
import { recipeFile } from '../src/settings/index.ts'
import { createRun } from '../src/store/index.ts'
import { openTasks } from '../src/tasks/index.ts'
import type { BenchResult } from './bench-result.ts'

const GOAL = 5
const STEPS = 3
const ROLLOUTS = 256

export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-rl-'))
  try {
    const { config } = projectConfig({
      under: [recipeFile('quickstart')],
      flags: { 'rl.steps': String(STEPS) },
    })
    using folderOfRun = createRun(folder, { id: 'bench', command: 'bench', coa: '0' })
    const context = { run: folderOfRun, config, observe: () => {}, signal: new AbortController().signal }
    const untilSft = stages.slice(0, 1 + stages.findIndex(({ name }) => name === 'sft'))
    await runStages(untilSft, context)
    const model = join(folderOfRun.files.checkpoints, 'sft')
    const learned: ProjectConfig = { ...config, student: { ...config.student, model } }
    return [...(await rolloutSpeeds(learned)), ...(await shares(context))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function shares(context: Parameters<typeof rl.run>[0]): Promise<BenchResult[]> {
  await runStage(rl, context)
  // The first step builds graphs and starts sandboxes, so it is excluded.
  const rows = [...context.run.metrics()].filter((row) => row['stage'] === 'rl' && Number(row['step']) > 1)
  const mean = (name: string): number =>
    (100 * rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)) / rows.length
  const outside = mean('time/other')
  const parts = ['sampling', 'tools', 'training', 'waiting'].map(
    (part) => `${part} ${mean(`time/${part}`).toFixed(1)}`,
  )
  return [
    {
      name: 'share of a step outside engine and tools',
      value: outside,
      unit: '%',
      goal: `≤ ${GOAL} %`,
      met: outside <= GOAL,
      note: `${rows.length} steps; ${parts.join(', ')} %`,
    },
  ]
}

async function rolloutSpeeds(config: ProjectConfig): Promise<BenchResult[]> {
  const student = await openStudent(config)
  const world = await openWorld(config)
  const jobs: RolloutJob[] = []
  for await (const task of openTasks({ from: 'math', data: '', levels: [1, 1], limit: ROLLOUTS }))
    jobs.push({ task, id: task.id, groupId: task.id, seed: seedOf('bench', task.id) })
  const policy = { ...student, checkpoint: 'bench' }
  const measure = async (concurrency: number): Promise<number> => {
    const batch = jobs.slice(0, Math.max(4, Math.min(ROLLOUTS, 2 * concurrency)))
    const started = performance.now()
    await rollOutAll(batch, policy, world, rolloutSettings(config), { concurrency })
    return (1000 * batch.length) / (performance.now() - started)
  }
  try {
    await measure(8)
    const alone = await measure(1)
    const results: BenchResult[] = []
    for (const concurrency of [1, 4, 16, 64, 128]) {
      const perSecond = concurrency === 1 ? alone : await measure(concurrency)
      results.push({
        name: `rollouts per second, concurrency ${concurrency}`,
        value: perSecond,
        unit: '/s',
        note: `${(perSecond / alone).toFixed(1)} × concurrency 1`,
      })
    }
    return results
  } finally {
    await world.close()
    await student.engine.close()
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectConfig } from '../config/index.ts'
import { fingerprintOfFolder, runtimeInWords } from '../engine/index.ts'
import { type RlSummary, run as rl } from '../rl/index.ts'
import { openStudent, openWorld, rollOutWatched, rolloutSettings } from '../rollout/index.ts'
import type { Task } from '../schema/index.ts'
import type { MetricRow, Run } from '../store/index.ts'
import { levelsOf, openTasks } from '../tasks/index.ts'
import { measure, measuringTasks } from './measure.ts'
import type { StageContext } from './stage.ts'

export interface TrainRlOptions {
  onStep?: (row: MetricRow) => void
  onFinding?: (text: string) => void
  /** Begin anew, whatever an earlier training has left. */
  again?: boolean
}

/** The student improves by its own rollouts with live tools. */
export async function trainRl(
  { run, config, observe, signal, spotlight, onRuntime }: StageContext,
  { onStep, onFinding, again = false }: TrainRlOptions = {},
): Promise<RlSummary> {
  const start = startOf(run, config)
  const student = await openStudent(config, start, (line) => run.log(line))
  const { engine, folder } = student
  onRuntime?.(`rl: ${runtimeInWords(engine.describe())}`)
  const reference = config.rl.kl > 0 ? (await openStudent(config, start)).engine : undefined
  const world = await openWorld(config)
  const settings = rolloutSettings(config)
  try {
    const tasks = await practiceTasks(run, config)
    const measured = await measuringTasks(config)
    return await rl(config, {
      run,
      signal,
      observe,
      tasks,
      again,
      student: {
        engine,
        parent: { path: folder, fingerprint: fingerprintOfFolder(folder) },
        ...(reference === undefined ? {} : { reference }),
      },
      rollOut: (job, checkpoint) =>
        rollOutWatched(job, { ...student, checkpoint }, world, settings, { signal, spotlight }),
      ...(measured.length === 0
        ? {}
        : {
            evaluate: (step: number) =>
              measure(measured, { ...student, checkpoint: `rl-${step}` }, world, config, {
                signal,
                spotlight,
              }),
          }),
      ...(onStep === undefined ? {} : { onStep }),
      ...(onFinding === undefined ? {} : { onFinding }),
    })
  } finally {
    await world.close()
    await reference?.close()
    await engine.close()
  }
}

/** The model to begin with: the one named, or what SFT made in this run, or else the student. */
function startOf(run: Run, config: ProjectConfig): string {
  if (config.rl.model !== '') return config.rl.model
  const trained = join(run.files.checkpoints, 'sft')
  return existsSync(join(trained, 'config.json')) ? trained : config.student.model
}

/**
 * The tasks to practise on: those that follow the ones the team was given, so that no question is met again. A source
 * that has no more gives its own tasks a second time. They are kept in the run, marked, and no team gets them.
 */
async function practiceTasks(run: Run, config: ProjectConfig): Promise<Task[]> {
  const marked = [...run.scan('task')].filter(({ meta }) => meta['for'] === 'rl')
  if (marked.length > 0) return marked
  const { suites, count, data, levels } = config.tasks
  const source = { data, seed: config.project.seed, split: 'train' as const }
  const tasks: Task[] = []
  for (const from of suites) {
    const own: Task[] = []
    const places = { ...source, from, ...levelsOf(from, levels), limit: config.rl.task_count }
    for await (const task of openTasks({ ...places, first: count })) own.push(task)
    if (own.length === 0) for await (const task of openTasks(places)) own.push(task)
    tasks.push(...own.map((task) => ({ ...task, meta: { ...task.meta, for: 'rl' } })))
  }
  for (const task of tasks) run.append('task', task)
  return tasks
}

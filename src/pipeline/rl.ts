import { join } from 'node:path'
import { openStudent, openWorld, rollOutWatched, rolloutSettings } from '../agent/index.ts'
import { fingerprintOfFolder, isModelFolder, runtimeLabel } from '../engine/index.ts'
import type { Task } from '../schema/index.ts'
import type { ProjectConfig } from '../settings/index.ts'
import { type RlSummary, run as rl, rlSettings } from '../stages/rl/index.ts'
import type { Run } from '../store/index.ts'
import { refuseOverlap } from '../tasks/index.ts'
import { choosesTasks, chooseTasks, chosenInWords, refuseNoneChosen } from './choose-tasks.ts'
import { measure } from './measure.ts'
import { practiceTasks } from './practice-tasks.ts'
import type { StageContext } from './stage.ts'
import { measuringTasks, trainedOn } from './task-sets.ts'

export interface TrainRlOptions {
  /** Begin anew, whatever an earlier training has left. */
  again?: boolean
  /** The sources of the settings were named for this training, whatever the run was recorded from. */
  askedSources?: boolean
}

/** The student improves by its own rollouts with live tools. */
export async function trainRl(
  { run, config, observe, signal, spotlight, onRuntime, onMetric, onFinding }: StageContext,
  { again = false, askedSources = false }: TrainRlOptions = {},
): Promise<RlSummary> {
  const start = startOf(run, config)
  const onNote = (note: string): void => {
    run.log(note)
    onFinding?.(note)
  }
  const { tasks: offered, fromSettings } = await practiceTasks(run, config, { asked: askedSources, onNote })
  const measured = fromSettings ? await measuringTasks(config) : []
  refuseOverlap([...offered, ...trainedOn(run)], measured)
  const student = await openStudent(config, start, (line) => run.log(line))
  const { engine, folder } = student
  onRuntime?.(`rl: ${runtimeLabel(engine.describe())}`)
  const reference = config.rl.kl > 0 ? (await openStudent(config, start)).engine : undefined
  const world = await openWorld(config, run)
  const settings = rolloutSettings(config)
  const chosen = async (tasks: readonly Task[]): Promise<readonly Task[]> => {
    if (!choosesTasks(config)) return tasks
    // Measuring takes long: what RL cannot do with these settings is said first.
    rlSettings(config)
    const policy = { ...student, checkpoint: folder }
    const chooser = {
      run,
      config,
      observe,
      signal,
      spotlight,
      policy,
      fingerprint: parent.fingerprint,
      world,
    }
    const found = await chooseTasks(tasks, chooser)
    refuseNoneChosen(found.counts)
    onNote(chosenInWords(found.counts))
    return found.tasks
  }
  const parent = { path: folder, fingerprint: fingerprintOfFolder(folder) }
  try {
    const tasks = await chosen(offered)
    return await rl(config, {
      run,
      signal,
      observe,
      tasks,
      again,
      student: {
        engine,
        parent,
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
      ...(onMetric === undefined ? {} : { onStep: onMetric }),
      ...(onFinding === undefined ? {} : { onFinding }),
    })
  } finally {
    await world.close()
    await reference?.close()
    await engine.close()
  }
}

/** The model to begin with: the one named, or what SFT made in this run, or else the student. */
export function startOf(run: Run, config: ProjectConfig): string {
  if (config.rl.model !== '') return config.rl.model
  const trained = join(run.files.checkpoints, 'sft')
  return isModelFolder(trained) ? trained : config.student.model
}

import {
  measure,
  openStudent,
  openWorld,
  rollOutWatched,
  rolloutSettings,
  type Student,
} from '../../agent/index.ts'
import { ConfigError } from '../../base/errors/index.ts'
import { percent, whole } from '../../base/text/index.ts'
import { type Engine, fingerprintOfFolder, runtimeLabel } from '../../engine/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import type { Task } from '../../schema/index.ts'
import { readSelection } from '../../store/index.ts'
import { measuringTasks, refuseOverlap, trainedOn } from '../../tasks/index.ts'
import type { Stage, StageContext } from '../stage.ts'
import { choosesTasks, chooseTasks, chosenInWords, refuseNoneChosen } from './choose-tasks.ts'
import { compareGroupFrom } from './compare-group.ts'
import { initialModel, type RlConfig, referenceModel, rlSettings } from './config.ts'
import { practiceTasks } from './practice-tasks.ts'
import { type Replay, replayFrom } from './replay.ts'
import { run as train } from './run.ts'
import { RlSection } from './settings.ts'
import type { RlSummary } from './training.ts'

interface Options {
  /** Restart, discarding earlier checkpoints. */
  again?: boolean
  /** The sources were named explicitly, whatever the run was recorded from. */
  askedSources?: boolean
  /** Train on these questions of served chains instead: see `servedTasks`. */
  served?: readonly Task[] | undefined
}

/** The sixth stage: reinforcement learning (DAPO) from the model's own rollouts with live tools. */
export const rl: Stage<RlConfig, Options, RlSummary> = {
  name: 'rl',
  purpose: 'the model improves through DAPO with live tools',
  settings: { rl: RlSection },
  reads: ['task', 'sequence', 'filter/', 'pass-rate', 'checkpoints/sft'],
  writes: ['task', 'pass-rate', 'rollout', 'checkpoints/rl', 'metrics.jsonl'],
  run: trainRl,
  describe: ({ steps = 0, rollouts = 0, 'pass rate at first': first, 'pass rate at last': last }) =>
    `${whole(steps)} steps, ${whole(rollouts)} rollouts, ${percent(first, 0)} correct in the first steps, ${percent(last, 0)} in the last`,
}

/** The model that rl.kl pulls toward. Its tokens have to be the student's. */
async function openReference(config: RlConfig, reference: string, student: Student): Promise<Engine> {
  const { engine, tokenizer, folder } = student
  if (config.rl.reference === '') return (await openStudent(config, reference)).engine
  try {
    const other = await openStudent({ ...config, student: { model: reference, lora_rank: 0 } })
    if (isSameTokenizer(tokenizer, other.tokenizer)) return other.engine
    await other.engine.close()
    throw new ConfigError(`rl.reference ${reference} has other tokens than ${folder}`, {
      fix: 'Name a model with the same tokenizer, such as a larger one of the same family.',
    })
  } catch (error) {
    await engine.close()
    throw error
  }
}

const PROBE = 'The 3 answers: <answer>x²+1 = 10,000.5</answer>\n\tdef f(a): return a # naïve, 东京'

function isSameTokenizer(one: Tokenizer, other: Tokenizer): boolean {
  const [ids, others] = [one, other].map((tokenizer) => [...tokenizer.encodeIds(PROBE, { specials: 'text' })])
  return ids!.join() === others!.join()
}

async function trainRl(
  { run, config, observe, signal, spotlight, onRuntime, onMetric, onFinding }: StageContext<RlConfig>,
  { again = false, askedSources = false, served }: Options = {},
): Promise<RlSummary> {
  const start = initialModel(run, config)
  // Opened first: without a judge nothing else needs to be.
  const compare = compareGroupFrom(config, rlSettings(config))
  const onNote = (note: string): void => {
    run.log(note)
    onFinding?.(note)
  }
  const { tasks: offered, fromSettings } = await practiceTasks(run, config, {
    asked: askedSources,
    served,
    onNote,
  })
  const measured = fromSettings ? await measuringTasks(config) : []
  refuseOverlap([...offered, ...trainedOn(run)], measured)
  observe({ stage: 'rl', done: 0, unit: `opening ${start}` })
  const student = await openStudent(
    config,
    start,
    (line) => {
      run.log(line)
      observe({ stage: 'rl', done: 0, unit: line })
    },
    observe,
  )
  const { engine, folder } = student
  onRuntime?.(`rl: ${runtimeLabel(engine.describe())}`)
  const reference =
    config.rl.kl > 0 ? await openReference(config, referenceModel(run, config), student) : undefined
  const world = await openWorld(config, run)
  const settings = rolloutSettings(config)
  const chosen = async (tasks: readonly Task[]): Promise<readonly Task[]> => {
    if (!choosesTasks(config)) return tasks
    // Measuring takes long, so invalid settings are reported first.
    rlSettings(config)
    const policy = { ...student, checkpoint: folder }
    const { fingerprint } = parent
    const chooser = { run, config, observe, signal, spotlight, policy, fingerprint, world }
    const found = await chooseTasks(tasks, chooser)
    refuseNoneChosen(found.counts)
    onNote(chosenInWords(found.counts))
    return found.tasks
  }
  const replay = (): Replay =>
    replayFrom(
      [...readSelection(run)].map(({ sequence }) => sequence),
      student.tokenizer,
      rlSettings(config),
    )
  const parent = { path: folder, fingerprint: fingerprintOfFolder(folder) }
  try {
    const tasks = await chosen(offered)
    observe({ stage: 'rl', done: 0, unit: 'sampling the first rollouts' })
    return await train(config, {
      run,
      signal,
      observe,
      tasks,
      compare,
      again,
      student: { engine, parent, reference },
      replay: config.rl.replay === 0 ? undefined : replay(),
      rollOut: (job, checkpoint, { stepOf, signal: needed }) =>
        rollOutWatched(job, { ...student, checkpoint, stepOf }, world, settings, {
          signal: needed,
          spotlight,
        }),
      evaluate:
        measured.length === 0
          ? undefined
          : (step) =>
              measure(measured, { ...student, checkpoint: `rl-${step}` }, world, config, {
                signal,
                spotlight,
                samples: config.rl.eval_samples,
              }),
      onStep: onMetric,
      onFinding,
    })
  } finally {
    await world.close()
    await reference?.close()
    await engine.close()
  }
}

import { measure, openStudent, openWorld } from '../../agent/index.ts'
import type { RolloutSection, StudentConfig } from '../../agent/settings.ts'
import type { Spotlight } from '../../base/progress/index.ts'
import { whole } from '../../base/text/index.ts'
import { fingerprintOfFolder, runtimeLabel } from '../../engine/index.ts'
import { isTrained, reactId, type Stream } from '../../schema/index.ts'
import { type Run, readSelection } from '../../store/index.ts'
import { measuringTasks, refuseOverlap, trainedOn } from '../../tasks/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import type { WorldConfig } from '../../world/settings.ts'
import type { Stage, StageContext } from '../stage.ts'
import { run as train } from './run.ts'
import { SftSection } from './settings.ts'

interface Config extends TasksConfig, WorldConfig, StudentConfig {
  rollout: RolloutSection
  sft: SftSection
}

interface Options {
  /** Restart, discarding earlier checkpoints. */
  again?: boolean
}

/** The fifth stage: supervised fine-tuning on the selected sequences, with tool output masked. */
export const sft: Stage<Config, Options> = {
  name: 'sft',
  purpose: 'a model is trained on the sequences, tool output masked',
  settings: { sft: SftSection },
  reads: ['filter/', 'sequence'],
  writes: ['checkpoints/sft', 'metrics.jsonl'],
  run: async (context, options) => ({ figures: await trainSft(context, options) }),
  describe: ({ steps = 0, loss }) =>
    `${whole(steps)} steps${loss === undefined ? '' : `, loss ${loss.toFixed(3)}`}`,
}

/** Trains the student on the kept sequences, evaluating it along the way if evaluation tasks are configured. */
async function trainSft(
  { run, config, observe, signal, spotlight, onRuntime, onMetric }: StageContext<Config>,
  { again = false }: Options = {},
): Promise<Record<string, number>> {
  const tasks = await measuringTasks(config)
  refuseOverlap(trainedOn(run), tasks)
  const { model } = config.student
  observe({ stage: 'sft', done: 0, unit: `opening ${model}` })
  const student = await openStudent(
    config,
    model,
    (line) => {
      run.log(line)
      observe({ stage: 'sft', done: 0, unit: line })
    },
    observe,
  )
  const { engine, tokenizer, folder } = student
  onRuntime?.(`sft: ${runtimeLabel(engine.describe())}`)
  const world = tasks.length === 0 ? undefined : await openWorld(config, run)
  const showChain = spotlight === undefined ? undefined : chainShower(run, spotlight)
  try {
    return await train(config, {
      run,
      signal,
      observe,
      student: { engine, tokenizer, parent: { path: folder, fingerprint: fingerprintOfFolder(folder) } },
      data: () => readSelection(run),
      react: () => reactSelection(run),
      again,
      evaluate:
        world === undefined
          ? undefined
          : (step) =>
              measure(tasks, { ...student, checkpoint: `sft-${step}` }, world, config, { signal, spotlight }),
      onStep: (row) => {
        onMetric?.(row)
        showChain?.()
      },
    })
  } finally {
    await world?.close()
    await engine.close()
  }
}

/** The ReAct-style sequences of the team runs whose chains were kept. */
function* reactSelection(run: Run): Generator<{ sequence: Stream; weight: number }> {
  for (const { sequence: chain, weight } of readSelection(run)) {
    const trajectoryId = chain.provenance?.trajectoryId
    const sequence = trajectoryId === undefined ? undefined : run.get('sequence', reactId(trajectoryId))
    if (sequence !== undefined) yield { sequence, weight }
  }
}

/** Number of sequences kept for display. */
const MOST = 50

/** Shows one of the training sequences per call: what is trained on, and what is only context. */
function chainShower(run: Run, spotlight: Spotlight): () => void {
  const chains: Stream[] = []
  for (const { sequence } of readSelection(run)) if (chains.push(sequence) === MOST) break
  let next = 0
  return () => {
    const chain = chains[next++ % chains.length]
    if (chain === undefined) return
    const question = chain.prompt.findLast(({ role }) => role === 'user')?.content ?? ''
    const spotted = spotlight.begin(`training on: ${question}`)
    for (const span of chain.spans) spotted.text(span.text, isTrained(span) ? 'model' : 'tool')
    spotted.end()
  }
}

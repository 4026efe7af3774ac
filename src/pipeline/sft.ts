import { openStudent, openWorld } from '../agent/index.ts'
import { fingerprintOfFolder, runtimeLabel } from '../engine/index.ts'
import { type CoaSequence, reactId } from '../schema/index.ts'
import { sft } from '../stages/sft/index.ts'
import { type Run, readSelection } from '../store/index.ts'
import { refuseOverlap } from '../tasks/index.ts'
import { measure } from './measure.ts'
import { chainShower } from './show-chain.ts'
import type { StageContext } from './stage.ts'
import { measuringTasks, trainedOn } from './task-sets.ts'

export interface TrainSftOptions {
  /** Begin anew, whatever an earlier training has left. */
  again?: boolean
}

/** The student learns what the filter kept, and is measured on the way where the settings name tasks for it. */
export async function trainSft(
  { run, config, observe, signal, spotlight, onRuntime, onMetric }: StageContext,
  { again = false }: TrainSftOptions = {},
): Promise<Record<string, number>> {
  const tasks = await measuringTasks(config)
  refuseOverlap(trainedOn(run), tasks)
  const student = await openStudent(config, config.student.model, (line) => run.log(line))
  const { engine, tokenizer, folder } = student
  onRuntime?.(`sft: ${runtimeLabel(engine.describe())}`)
  const world = tasks.length === 0 ? undefined : await openWorld(config, run)
  const showChain = spotlight === undefined ? undefined : chainShower(run, spotlight)
  try {
    return await sft(config, {
      run,
      signal,
      observe,
      student: { engine, tokenizer, parent: { path: folder, fingerprint: fingerprintOfFolder(folder) } },
      data: () => readSelection(run),
      react: () => reactSelection(run),
      again,
      ...(world === undefined
        ? {}
        : {
            evaluate: (step: number) =>
              measure(tasks, { ...student, checkpoint: `sft-${step}` }, world, config, { signal, spotlight }),
          }),
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

/** The ReAct-style sequences of those team runs whose chains the filter kept. */
function* reactSelection(run: Run): Generator<{ sequence: CoaSequence; weight: number }> {
  for (const { sequence: chain } of readSelection(run)) {
    const trajectoryId = chain.provenance?.trajectoryId
    const sequence = trajectoryId === undefined ? undefined : run.get('sequence', reactId(trajectoryId))
    if (sequence !== undefined) yield { sequence, weight: 1 }
  }
}

import { join, relative } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../../base/errors/index.ts'
import { readCheckpointManifest } from '../../engine/checkpoint/checkpoint.ts'
import type { CheckpointManifest } from '../../engine/checkpoint/checkpoint-manifest.ts'
import { linkCheckpoint } from '../../engine/checkpoint/link-checkpoint.ts'
import { removeCheckpoint } from '../../engine/checkpoint/replace-folder.ts'
import type { CheckpointNote, Engine } from '../../engine/contract.ts'
import type { Run } from '../../store/run.ts'
import type { SftRow } from './curve.ts'

/** Metrics of a checkpoint; what was not measured is left out. */
const Score = z.object({ evalLoss: z.number().optional(), accuracy: z.number().optional() })
export type Score = z.infer<typeof Score>

/** Saved with the weights, so that both are consistent. */
const TrainingState = z.object({
  /** Digest of examples and settings: others would give a different curve. */
  plan: z.string(),
  step: z.number().int().nonnegative(),
  score: Score.default({}),
  /** The row of a step whose evaluation was interrupted. */
  pending: z.record(z.string(), z.union([z.number(), z.null()])).optional(),
})
export type TrainingState = z.infer<typeof TrainingState>

type Which = 'sft' | 'sft-last'

/** The two checkpoints of the stage: `sft-last`, to resume from, and `sft`, the best one so far. */
export class Checkpoints {
  readonly #run: Run
  readonly #engine: Engine
  readonly #plan: string
  readonly #parent: CheckpointNote['parent']

  constructor(run: Run, engine: Engine, plan: string, parent: CheckpointNote['parent']) {
    this.#run = run
    this.#engine = engine
    this.#plan = plan
    this.#parent = parent
  }

  /** Removes the checkpoints of an earlier training run. */
  remove(): void {
    for (const which of ['sft-last', 'sft'] as const) removeCheckpoint(this.folder(which))
  }

  /** Loads the last checkpoint, if any, and returns its state. */
  async resume(): Promise<TrainingState | undefined> {
    const last = this.#state('sft-last')
    if (last === undefined) return undefined
    if (last.plan !== this.#plan) {
      throw new ConfigError(
        `run ${this.#run.id} has been trained to step ${last.step} with other sequences, settings or another model`,
        { fix: 'Use the original sequences, settings and model, restart with --again, or make a new run.' },
      )
    }
    await this.#engine.load(this.folder('sft-last'))
    // The process may have been killed between saving and recording.
    this.#record('sft-last')
    if (this.best() !== undefined) this.#record('sft')
    return last
  }

  /** The best checkpoint of this training run. It may be ahead of the last one if the process was killed. */
  best(): TrainingState | undefined {
    const best = this.#state('sft')
    return best?.plan === this.#plan ? best : undefined
  }

  /** To resume from, with the optimizer state. */
  async save(state: Omit<TrainingState, 'plan'>, row: SftRow | undefined): Promise<void> {
    await this.#engine.save(this.folder('sft-last'), this.#note(state, row))
    this.#record('sft-last')
  }

  /** The weights alone, as the best so far. */
  async keep(score: Score, step: number, row: SftRow | undefined): Promise<void> {
    const note = this.#note({ step, score }, row)
    if (this.#state('sft-last')?.step === step)
      linkCheckpoint(this.folder('sft-last'), this.folder('sft'), note)
    else await this.#engine.save(this.folder('sft'), note, { optimizer: false })
    this.#record('sft')
  }

  #note(state: Omit<TrainingState, 'plan'>, row: SftRow | undefined): CheckpointNote {
    const metrics = Object.entries(row ?? {}).filter((entry): entry is [string, number] =>
      Number.isFinite(entry[1]),
    )
    return {
      stage: 'sft',
      step: state.step,
      createdAt: new Date().toISOString(),
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      metrics: Object.fromEntries(metrics),
      metadata: { sft: { ...state, plan: this.#plan } as CheckpointManifest['metadata'] },
    }
  }

  folder(which: Which): string {
    return join(this.#run.files.checkpoints, which)
  }

  #state(which: Which): TrainingState | undefined {
    const manifest = readCheckpointManifest(this.folder(which))
    return TrainingState.safeParse(manifest?.metadata['sft']).data
  }

  #record(which: Which): void {
    const manifest = readCheckpointManifest(this.folder(which))
    if (manifest === undefined) return
    const { v, stage, step, parent, files, metrics } = manifest
    const path = relative(this.#run.dir, this.folder(which))
    const known = this.#run.get('checkpoint', which)
    const record = {
      v,
      id: which,
      path,
      stage,
      step,
      files,
      metrics,
      ...(parent === undefined ? {} : { parent }),
    }
    if (JSON.stringify(known?.files) !== JSON.stringify(files) || known?.step !== step)
      this.#run.append('checkpoint', record)
  }
}

/** Whether a score beats the best so far; a missing metric never does. */
export function isBetter(score: Score, best: Score | undefined, keep: 'loss' | 'accuracy'): boolean {
  const { evalLoss = Number.POSITIVE_INFINITY, accuracy = Number.NEGATIVE_INFINITY } = score
  const [bestLoss, bestAccuracy] = [
    best?.evalLoss ?? Number.POSITIVE_INFINITY,
    best?.accuracy ?? Number.NEGATIVE_INFINITY,
  ]
  if (keep === 'loss') return evalLoss < bestLoss
  return accuracy > bestAccuracy || (accuracy === bestAccuracy && accuracy >= 0 && evalLoss < bestLoss)
}

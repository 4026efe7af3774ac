import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { StoreError } from '../../base/errors/index.ts'
import { ensureFolder, writeFileAtomic } from '../../base/files/index.ts'
import { CheckpointManifest, type CheckpointNote, type Engine, linkCheckpoint } from '../../engine/index.ts'
import { parseJson } from '../../schema/index.ts'
import { parseCheckedJson, type Run, withJsonChecksum } from '../../store/index.ts'

type Note = Pick<CheckpointNote, 'parent' | 'metrics'>

const Saved = z.object({
  step: z.number().int().nonnegative(),
  /** Exactly as `checkpointPath` builds it, because outdated folders are deleted by this name. */
  folder: z.string().regex(/^checkpoints[/\\]rl-\d+$/),
})

/** The training state besides weights and optimizer, matching the weights in `last`. */
export const RlState = z.object({
  v: z.literal(1),
  step: z.number().int().nonnegative(),
  drawing: z.object({
    place: z.number().int().nonnegative(),
    done: z.array(z.number().int().nonnegative()).default([]),
    passRates: z.record(z.string(), z.object({ correct: z.number(), wrong: z.number() })),
  }),
  last: Saved.optional(),
  best: Saved.extend({ accuracy: z.number() }).optional(),
  /** Findings already reported. */
  told: z.array(z.string()),
  /** Fingerprint of the initial model, if known. */
  parent: z.string().optional(),
})
export type RlState = z.infer<typeof RlState>

export const freshState: RlState = { v: 1, step: 0, drawing: { place: 0, done: [], passRates: {} }, told: [] }

/** Folder of the final weights. */
const RESULT = 'rl'

const stateFile = (run: Run): string => join(run.files.checkpoints, 'rl-state.json')

/** The state to resume from. */
export function readState(run: Run): RlState | undefined {
  const file = stateFile(run)
  if (!existsSync(file)) return undefined
  const fix = 'Remove it to restart the training.'
  const parsed = RlState.safeParse(parseCheckedJson(readFileSync(file), file, fix))
  if (parsed.success) return parsed.data
  throw new StoreError(`${file} is damaged: ${parsed.error.issues[0]?.message}`, {
    fix,
    cause: parsed.error,
  })
}

/** Removes the state of an earlier training run. */
export function removeState(run: Run): void {
  const state = readState(run)
  rmSync(stateFile(run), { force: true })
  for (const folder of [state?.last?.folder, state?.best?.folder, join('checkpoints', RESULT)])
    if (folder !== undefined) rmSync(join(run.dir, folder), { recursive: true, force: true })
}

/** Folder of a step's checkpoint, relative to the run folder. */
export function checkpointPath(step: number): string {
  return join('checkpoints', `rl-${String(step).padStart(6, '0')}`)
}

/**
 * Saves the weights, then the state that refers to them, and only then removes the previous ones. The state names the
 * folder of its weights, so a process killed in between resumes from the previous pair.
 */
export async function saveState(
  run: Run,
  engine: Pick<Engine, 'save'>,
  state: RlState,
  note: Note,
): Promise<RlState> {
  const before = readState(run)
  const folder = checkpointPath(state.step)
  ensureFolder(run.files.checkpoints)
  const createdAt = new Date().toISOString()
  await engine.save(join(run.dir, folder), { stage: 'rl', step: state.step, createdAt, ...note })
  const saved: RlState = { ...state, last: { step: state.step, folder } }
  writeFileAtomic(stateFile(run), withJsonChecksum(JSON.stringify(saved)))
  record(run, 'rl-last', folder, state.step, note)
  if (saved.best !== undefined && saved.best.step === state.step)
    record(run, 'rl-best', folder, state.step, note)
  const kept = new Set([folder, saved.best?.folder])
  for (const old of [before?.last?.folder, before?.best?.folder])
    if (old !== undefined && !kept.has(old)) rmSync(join(run.dir, old), { recursive: true, force: true })
  return saved
}

/** Makes the final weights available under a fixed name, without optimizer state, and returns their folder. */
export function saveResult(run: Run, from: string, step: number, note: Note): string {
  const folder = join('checkpoints', RESULT)
  const createdAt = new Date().toISOString()
  linkCheckpoint(join(run.dir, from), join(run.dir, folder), { stage: 'rl', step, createdAt, ...note })
  record(run, RESULT, folder, step, note)
  return join(run.dir, folder)
}

function record(run: Run, id: string, path: string, step: number, { parent, metrics = {} }: Note): void {
  const origin = parent?.id ?? parent?.path
  run.append('checkpoint', {
    v: 1,
    id,
    path,
    stage: 'rl',
    step,
    ...(origin === undefined ? {} : { parent: origin }),
    files: filesOf(join(run.dir, path)),
    metrics,
  })
}

/** As listed in the checkpoint's manifest. */
function filesOf(folder: string): CheckpointManifest['files'] {
  const file = join(folder, 'coa-checkpoint.json')
  return existsSync(file) ? CheckpointManifest.parse(parseJson(readFileSync(file, 'utf8'))).files : []
}

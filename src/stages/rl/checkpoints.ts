import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { StoreError } from '../../base/errors/index.ts'
import { ensureFolder, writeFileAtomic } from '../../base/files/index.ts'
import { CheckpointManifest, type CheckpointNote, type Engine } from '../../engine/index.ts'
import { parseJson } from '../../schema/index.ts'
import { parseCheckedJson, type Run, withJsonChecksum } from '../../store/index.ts'

type Note = Pick<CheckpointNote, 'parent' | 'metrics'>

const Saved = z.object({
  step: z.number().int().nonnegative(),
  /** As `checkpointPath` has it and nothing else: what is no longer needed there is removed. */
  folder: z.string().regex(/^checkpoints[/\\]rl-\d+$/),
})

/** All that a training is besides weights and optimiser, as of the weights in `last`. */
export const RlState = z.object({
  v: z.literal(1),
  step: z.number().int().nonnegative(),
  drawing: z.object({
    place: z.number().int().nonnegative(),
    passRates: z.record(z.string(), z.object({ correct: z.number(), wrong: z.number() })),
  }),
  last: Saved.optional(),
  best: Saved.extend({ accuracy: z.number() }).optional(),
  /** Findings that have been told. */
  told: z.array(z.string()),
  /** Fingerprint of the model that training began with, where it is known. */
  parent: z.string().optional(),
})
export type RlState = z.infer<typeof RlState>

export const freshState: RlState = { v: 1, step: 0, drawing: { place: 0, passRates: {} }, told: [] }

/** Where the weights lie that the stage ended with. */
const RESULT = 'rl'

const stateFile = (run: Run): string => join(run.files.checkpoints, 'rl-state.json')

/** What a run that was stopped goes on from. */
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

/** Forgets what an earlier training left. */
export function removeState(run: Run): void {
  const state = readState(run)
  rmSync(stateFile(run), { force: true })
  for (const folder of [state?.last?.folder, state?.best?.folder, join('checkpoints', RESULT)])
    if (folder !== undefined) rmSync(join(run.dir, folder), { recursive: true, force: true })
}

/** Where checkpoints of a step lie, relative to the folder of the run. */
export function checkpointPath(step: number): string {
  return join('checkpoints', `rl-${String(step).padStart(6, '0')}`)
}

/**
 * Saves weights, then the state that belongs to them, and only then forgets what was saved before. The state names the
 * folder of its weights, so a process killed anywhere in between goes on from the earlier pair.
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

/** The weights that were kept, under a name that does not change. Returns their folder. */
export async function saveResult(
  run: Run,
  engine: Pick<Engine, 'save'>,
  step: number,
  note: Note,
): Promise<string> {
  const folder = join('checkpoints', RESULT)
  const createdAt = new Date().toISOString()
  await engine.save(join(run.dir, folder), { stage: 'rl', step, createdAt, ...note })
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

/** As the manifest of the checkpoint lists them. */
function filesOf(folder: string): CheckpointManifest['files'] {
  const file = join(folder, 'coa-checkpoint.json')
  return existsSync(file) ? CheckpointManifest.parse(parseJson(readFileSync(file, 'utf8'))).files : []
}

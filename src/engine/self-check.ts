import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Observe } from '../base/progress/index.ts'
import type { Engine, EngineDescription } from './contract.ts'
import {
  batchComposition,
  type Finding,
  gradient,
  prefixReuse,
  type Subject,
  samplerAndLearner,
  saveAndLoad,
} from './contract-checks.ts'
import { openEmbedded } from './embedded/embedded-engine.ts'
import type { Device } from './embedded/runtime.ts'
import { shapeOfSizes } from './model/model-sizes.ts'
import { byteTokenizerWithTags, newModel } from './model/new-model.ts'

export interface SelfCheckOptions {
  /** A model folder, opened read-only. Default: a small model with random weights. */
  model?: string
  device?: Device
  threads?: number
  /** Opens a model folder; default: the embedded engine. */
  open?: (folder: string) => Promise<Engine>
  observe?: Observe
  signal?: AbortSignal
}

export interface SelfCheckResult {
  name: string
  ok: boolean
  /** The measured value and its limit. Absent if the check itself failed. */
  figure?: number
  limit?: number
  /** Description of the measured value, or the error. */
  found: string
  seconds: number
}

export interface SelfCheckReport {
  ok: boolean
  engine: EngineDescription
  checks: SelfCheckResult[]
}

const checks: Record<string, (subject: Subject) => Promise<Finding>> = {
  'sampler matches learner': samplerAndLearner,
  'batch invariance': batchComposition,
  'prefix cache': prefixReuse,
  'gradient check': gradient,
  'save and load': saveAndLoad,
}

/**
 * Checks on this machine what training relies on, using only the engine's contract. A failed check is reported, not thrown; an
 * engine that cannot be opened throws.
 *
 * @example
 * import { checkEngine } from 'chain-of-agents/engine'
 *
 * const { ok, checks } = await checkEngine({ threads: 1 })
 * for (const { name, ok: passed, found } of checks) console.log(passed ? 'ok' : 'FAILED', name, found)
 * process.exitCode = ok ? 0 : 1
 */
export async function checkEngine(options: SelfCheckOptions = {}): Promise<SelfCheckReport> {
  const { device, threads, observe, signal } = options
  const scratch = mkdtempSync(join(tmpdir(), 'coa-self-check-'))
  try {
    const folder = options.model ?? (await randomModel(join(scratch, 'model')))
    const engine = await (options.open?.(folder) ??
      openEmbedded({
        model: folder,
        ...(device === undefined ? {} : { device }),
        ...(threads === undefined ? {} : { threads }),
      }))
    const results: SelfCheckResult[] = []
    try {
      for (const [name, check] of Object.entries(checks)) {
        signal?.throwIfAborted()
        observe?.({ stage: name, done: results.length, total: Object.keys(checks).length, unit: 'checks' })
        results.push(await runCheck(name, () => check({ engine, folder, scratch })))
      }
      return { ok: results.every(({ ok }) => ok), engine: engine.describe(), checks: results }
    } finally {
      await engine.close()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function randomModel(folder: string): Promise<string> {
  const sizes = { width: 64, layers: 2, heads: 4, keyValueHeads: 2, contextLength: 256 }
  // Large, so that the model is not uniform and the measurements are meaningful.
  const shape = { ...shapeOfSizes(sizes), initializerRange: 0.15 }
  await newModel(folder, {
    shape,
    tokenizer: byteTokenizerWithTags(),
    seed: 1,
    createdAt: new Date().toISOString(),
  })
  return folder
}

async function runCheck(name: string, check: () => Promise<Finding>): Promise<SelfCheckResult> {
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / 1000
  try {
    const { figure, limit, found, ok = true } = await check()
    return { name, ok: ok && figure <= limit, figure, limit, found, seconds: seconds() }
  } catch (cause) {
    return { name, ok: false, found: (cause as Error).message, seconds: seconds() }
  }
}

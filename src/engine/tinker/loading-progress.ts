import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Observe } from '../../base/progress/index.ts'

/** Often enough that something is displayed within a second. */
const EVERY_MS = 200

/** Reports that a model is being loaded until it is: the trainer does not say how far it is. */
export async function whileLoading<T>(
  folder: string | undefined,
  progress: Observe | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (progress === undefined) return work()
  const megabytes = folder === undefined ? 0 : Math.ceil(weightBytes(folder) / 1e6)
  const stage = `loading ${folder === undefined ? 'the model' : basename(folder)}`
  const report = (): void => progress({ stage, done: megabytes, unit: 'MB on the trainer' })
  report()
  const timer = setInterval(report, EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

function weightBytes(folder: string): number {
  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.safetensors') && !name.startsWith('optimizer.'),
  )
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

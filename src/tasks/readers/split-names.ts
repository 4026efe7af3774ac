import { basename } from 'node:path'
import type { Split } from '../splits.ts'

/** What data sets call their splits. */
const splitNames: Record<string, Split> = {
  train: 'train',
  training: 'train',
  dev: 'dev',
  val: 'dev',
  valid: 'dev',
  validation: 'dev',
  test: 'test',
}

export function splitNamed(name: string): Split | undefined {
  const key = name.trim().toLowerCase()
  return Object.hasOwn(splitNames, key) ? splitNames[key] : undefined
}

/** The split that the name of a file says, as in `gsm8k_train.jsonl`. A name with two different ones says none. */
export function splitInName(file: string): Split | undefined {
  const found = basename(file)
    .split(/[^A-Za-z]+/)
    .flatMap((word) => splitNamed(word) ?? [])
  return new Set(found).size === 1 ? found[0] : undefined
}

import { basename } from 'node:path'
import type { Split } from '../../schema/index.ts'

/** Common names of splits in data sets. */
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

/** The split in a file name such as `gsm8k_train.jsonl`; undefined if it has two different ones. */
export function splitInName(file: string): Split | undefined {
  const found = basename(file)
    .split(/[^A-Za-z]+/)
    .flatMap((word) => splitNamed(word) ?? [])
  return new Set(found).size === 1 ? found[0] : undefined
}

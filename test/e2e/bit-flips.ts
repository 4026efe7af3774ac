import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckpoint, readOptimizerState } from '../../src/engine/checkpoint/index.ts'
import { recordKinds } from '../../src/schema/index.ts'
import { openRun, readSettingsFile, runFiles, verifyChecksums } from '../../src/store/index.ts'
import { randomFrom } from '../store/support/crash-record.ts'

/** Results of flipping single bits: detected, repaired, or neither. */
export interface Tally {
  noticed: number
  healed: number
  /** `file byte.bit` of each undetected flip. */
  silent: string[]
}

type Reader = () => { data: string; isTold: boolean }

interface Target {
  file: string
  flips: number
  read: Reader
  /** Only near its start, where the header is. */
  within?: number
  /** A cache: correct results are enough. */
  mayHeal?: boolean
}

/** Flips single bits of a finished run's files, reads it as commands do, and restores the file. */
export function flipBits(dir: string, share: number): Tally {
  const random = randomFrom(4242)
  const tally: Tally = { noticed: 0, healed: 0, silent: [] }
  for (const { file, flips, read, within, mayHeal = false } of targets(dir)) {
    const path = join(dir, file)
    // The index has recorded the damage to the log.
    rmSync(runFiles(dir).index, { force: true })
    const before = read()
    const intact = readFileSync(path)
    if (before.isTold) throw new Error(`${file} is damaged already`)
    for (let turn = 0; turn < Math.ceil(flips * share); turn++) {
      const at = Math.floor(random() * Math.min(intact.length, within ?? intact.length))
      const bit = Math.floor(random() * 8)
      const flipped = Buffer.from(intact)
      flipped[at]! ^= 1 << bit
      writeFileSync(path, flipped)
      const { data, isTold } = attempt(read)
      if (isTold) tally.noticed += 1
      else if (mayHeal && data === before.data) tally.healed += 1
      else tally.silent.push(`${file} ${at}.${bit}`)
      writeFileSync(path, intact)
    }
  }
  return tally
}

function attempt(read: Reader): ReturnType<Reader> {
  try {
    return read()
  } catch {
    return { data: '', isTold: true }
  }
}

function targets(dir: string): Target[] {
  const { index, config, checkpoints } = runFiles(dir)
  const records: Reader = () => readRecords(dir)
  const fresh: Reader = () => {
    rmSync(index, { force: true })
    return records()
  }
  const checkpoint: Reader = () => readCheckpoint(join(checkpoints, 'sft'))
  const inCheckpoint = (name: string, flips: number, within?: number): Target => ({
    file: `checkpoints/sft/${name}`,
    flips,
    read: checkpoint,
    ...(within === undefined ? {} : { within }),
  })
  const verified: Reader = () => ({ data: '', isTold: verifyChecksums(dir).damaged.length > 0 })
  return [
    { file: 'events.jsonl', flips: 100, read: fresh },
    { file: 'index.sqlite', flips: 90, read: records, mayHeal: true },
    inCheckpoint('model.safetensors', 25),
    inCheckpoint('model.safetensors', 25, 3000),
    inCheckpoint('config.json', 15),
    inCheckpoint('tokenizer.json', 15),
    inCheckpoint('optimizer.safetensors', 10),
    inCheckpoint('coa-checkpoint.json', 10),
    inCheckpoint('model.safetensors.index.json', 10),
    { file: 'manifest.json', flips: 20, read: records },
    { file: 'metrics.jsonl', flips: 20, read: records },
    { file: 'config.toml', flips: 10, read: () => ({ data: readSettingsFile(config), isTold: false }) },
    ...['eval/eval.json', 'eval/eval.md', 'eval/eval.html', 'report.html', 'filter/kept.jsonl'].map(
      (file): Target => ({ file, flips: 4, read: verified }),
    ),
  ].filter(({ file }) => existsSync(join(dir, file)) || file === 'index.sqlite')
}

/** Everything in the log and the metrics, and whether damage is reported. */
function readRecords(dir: string): ReturnType<Reader> {
  const warnings: unknown[] = []
  const emit = process.emitWarning
  process.emitWarning = (warning: unknown) => void warnings.push(warning)
  try {
    using run = openRun(dir)
    const records = recordKinds.map((kind) => [...run.scan(kind)])
    const data = JSON.stringify([records, run.kinds(), run.manifest, [...run.metrics()]])
    return { data, isTold: warnings.length > 0 || run.recovery.torn.length > 0 }
  } finally {
    process.emitWarning = emit
  }
}

function readCheckpoint(folder: string): ReturnType<Reader> {
  openCheckpoint(folder)
  readOptimizerState(folder)
  return { data: '', isTold: false }
}

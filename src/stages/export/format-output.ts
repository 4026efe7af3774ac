import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ensureFolder } from '../../base/files/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import type { Message, Task } from '../../schema/index.ts'
import { parseCheckedJson } from '../../store/index.ts'
import { datasetCard } from './card.ts'
import type { Format, Row, TaskFormat, TextFormat, TokenFormat } from './format.ts'
import { taskRow } from './formats/verl-rl.ts'
import { type ExportManifest, hasManifest, readManifest, removeManifest, writeManifest } from './manifest.ts'
import { type Prepared, rowOf } from './prepare.ts'
import { createRowFile, type RowFile } from './row-file.ts'
import { Sources } from './sources.ts'
import { Tally } from './tally.ts'

type Origin = Pick<ExportManifest, 'source' | 'settings'>

export interface FinishParts {
  origin: Origin
  tokenizer: Tokenizer
  funnel: string | undefined
  notes: readonly string[]
}

/** Writes one format's folder. Files are published together at the end; the manifest completes it. */
export class FormatOutput {
  readonly format: Format
  readonly folder: string
  readonly tally = new Tally()
  readonly #sources = new Sources()
  readonly #files = new Map<string, { file: RowFile; rows: number }>()
  readonly #dryRun: boolean

  constructor(format: Format, folder: string, options: { dryRun: boolean }) {
    this.format = format
    this.folder = folder
    this.#dryRun = options.dryRun
    if (!options.dryRun) ensureFolder(folder)
    if (format.carries !== 'tasks') this.#open(format.file)
  }

  addSequence(
    format: TextFormat | TokenFormat,
    prepared: Prepared,
    facts: { weight: number; task: Task | undefined; hasControlToken: boolean },
  ): void {
    const { sequence, encoded } = prepared
    const made = rowOf(format, prepared)
    if ('reason' in made) {
      this.tally.leaveOut(sequence.id, made.reason)
      return
    }
    for (let copy = 0; copy < facts.weight; copy++) this.#write(format.file, made.row)
    this.tally.add(sequence, facts.weight, encoded, facts.hasControlToken)
    this.#sources.addSequence(sequence, facts.task, facts.weight)
  }

  addTask(format: TaskFormat, task: Task, prompt: Message[]): void {
    const name = format.file(task)
    this.#write(name, taskRow(task, this.#files.get(name)?.rows ?? 0, prompt))
    this.tally.counts.sequences += 1
    this.tally.counts.rows += 1
    this.#sources.addTask(task)
  }

  finish({ origin, tokenizer, funnel, notes }: FinishParts): ExportManifest {
    const files = [...this.#files.values()].map(({ file }) => file.finish())
    const { counts, leftOut } = this.tally
    const manifest: ExportManifest = { v: 1, format: this.format.name, ...origin, files, counts, leftOut }
    const earlier = hasManifest(this.folder) ? readManifest(this.folder).files : []
    removeManifest(this.folder)
    for (const { name } of earlier) {
      if (!this.#files.has(name)) rmSync(join(this.folder, name), { force: true })
    }
    for (const { file } of this.#files.values()) file.publish()
    const { format } = this
    const card = datasetCard({ format, manifest, sources: this.#sources, funnel, tokenizer, notes })
    for (const [name, text] of Object.entries({ ...format.companions, 'README.md': card })) {
      writeFileSync(join(this.folder, name), text)
    }
    writeManifest(this.folder, manifest)
    return manifest
  }

  /** Keeps an earlier export unchanged. */
  discard(): void {
    for (const { file } of this.#files.values()) file.discard()
  }

  #write(name: string, row: Row): void {
    if (this.#dryRun) return
    const open = this.#open(name)!
    open.file.write(row)
    open.rows += 1
  }

  #open(name: string): { file: RowFile; rows: number } | undefined {
    if (this.#dryRun) return undefined
    const known = this.#files.get(name)
    if (known !== undefined) return known
    const opened = { file: createRowFile(join(this.folder, name), this.format.columns), rows: 0 }
    this.#files.set(name, opened)
    return opened
  }
}

/** The manifest of a folder that already contains this export. */
export function finishedExport(folder: string, format: Format, origin: Origin): ExportManifest | undefined {
  if (!hasManifest(folder)) return undefined
  let manifest: ExportManifest
  try {
    manifest = readManifest(folder)
  } catch {
    return undefined
  }
  const same =
    manifest.format === format.name &&
    isDeepStrictEqual({ source: manifest.source, settings: manifest.settings }, origin)
  const whole = manifest.files.every(({ name, bytes }) => sizeOf(join(folder, name)) === bytes)
  return same && whole && existsSync(join(folder, 'README.md')) ? manifest : undefined
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** The filter's report of what it dropped and why. */
export function readFunnel(runFolder: string): string | undefined {
  const path = join(runFolder, 'filter', 'funnel.json')
  if (!existsSync(path)) return undefined
  const funnel = parseCheckedJson(readFileSync(path), path, 'Filter the run again.')
  return JSON.stringify(funnel, null, 2)
}

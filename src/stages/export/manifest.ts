import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../base/errors/index.ts'
import { parseJson } from '../../schema/index.ts'
import { DatasetSource } from './dataset.ts'
import { ExportedFile } from './row-file.ts'

const count = z.number().int().nonnegative()

/** Why sequences are left out, with the first few ids of each. */
const LeftOut = z.record(z.string(), z.object({ count, examples: z.array(z.string()) }))
export type LeftOut = z.infer<typeof LeftOut>

const ExportCounts = z.object({
  /** Sequences in the file, or tasks. */
  sequences: count,
  /** A sequence of weight n has n rows. */
  rows: count,
  leftOut: count,
  /** Of all rows, by coa's mask; the first token counts by its mask too. */
  tokens: z.object({ prompt: count, trained: count, masked: count }),
  /** Of the streams of all rows, in UTF-16 units. */
  characters: z.object({ trained: count, masked: count }),
  /** Sequences whose text contains a control token of the tokenizer. */
  controlTokens: count,
})
export type ExportCounts = z.infer<typeof ExportCounts>

/** Input and output of an export. It has no timestamps: the same input gives the same bytes. */
export const ExportManifest = z.object({
  v: z.literal(1),
  format: z.string(),
  source: DatasetSource,
  settings: z.object({
    /** "bytes", or the folder of the tokenizer, relative to this one. */
    tokenizer: z.string(),
    /** The run, relative to this folder. */
    run: z.string(),
    /** The date for chat templates that print it. */
    date: z.iso.datetime(),
  }),
  files: z.array(ExportedFile),
  counts: ExportCounts,
  leftOut: LeftOut,
})
export type ExportManifest = z.infer<typeof ExportManifest>

/** Not manifest.json, which marks a run folder. */
const NAME = 'export.json'

export function hasManifest(folder: string): boolean {
  return existsSync(join(folder, NAME))
}

export function readManifest(folder: string): ExportManifest {
  const path = join(folder, NAME)
  try {
    return ExportManifest.parse(parseJson(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new UsageError(`${path} does not describe an export: ${(cause as Error).message.split('\n')[0]}`, {
      fix: 'Export again with `coa export`.',
      cause,
    })
  }
}

/** Written last: it marks the folder as complete. */
export function writeManifest(folder: string, manifest: ExportManifest): void {
  writeFileSync(join(folder, NAME), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
}

/** Marks the folder as incomplete. */
export function removeManifest(folder: string): void {
  rmSync(join(folder, NAME), { force: true })
}

import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256OfFile } from '../../base/digests/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { Language } from '../../language/grammar/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { type CheckResult, Findings } from './check-findings.ts'
import { compareSequence } from './compare-sequence.ts'
import { compareTasks } from './compare-tasks.ts'
import { openDataset } from './dataset.ts'
import type { TextFormat, TokenFormat } from './format.ts'
import { findFormat } from './formats/index.ts'
import { type ExportManifest, hasManifest, readManifest } from './manifest.ts'
import { prepare, rowOf } from './prepare.ts'
import { readRows } from './row-file.ts'
import { tokenizerFor } from './run.ts'

export interface CheckContext {
  /** The run to compare with. Default: the one named in the export. */
  run?: Run
  /** The project's own grammar, for tasks that use it. */
  language?: Language
  signal?: AbortSignal | undefined
  observe?: Observe
}

/**
 * Reads exported files back by the rules of the trainer they are for and compares them with the sequences they were made from.
 *
 * @example
 * import { checkExport } from 'chain-of-agents'
 *
 * const results = await checkExport('dataset')
 * for (const { format, verdict, problems } of results) console.log(format, verdict, problems)
 */
export async function checkExport(folder: string, context: CheckContext = {}): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  const tokenizers = openOnce()
  for (const one of exportsIn(folder)) {
    const manifest = readManifest(one)
    using opened = context.run === undefined ? openSource(one, manifest) : undefined
    const run = (context.run ?? opened)!
    results.push(await checkOne(one, manifest, { ...context, run, tokenizers }))
  }
  return results
}

type OpenTokenizer = (name: string) => Promise<Tokenizer>
type OpenContext = CheckContext & { run: Run; tokenizers: OpenTokenizer }

/** Exports usually share a tokenizer, and large ones take a second to open. */
function openOnce(): OpenTokenizer {
  const opened = new Map<string, Promise<Tokenizer>>()
  return (name) => {
    const tokenizer = opened.get(name) ?? tokenizerFor(name)
    opened.set(name, tokenizer)
    return tokenizer
  }
}

async function checkOne(
  folder: string,
  manifest: ExportManifest,
  context: OpenContext,
): Promise<CheckResult> {
  const format = findFormat(manifest.format)
  const findings = new Findings()
  if (checkFiles(folder, manifest, findings)) {
    if (format.carries === 'tasks') await compareTasks(folder, format, manifest, context, findings)
    else await compareAll(folder, format, manifest, findings, context)
  }
  return findings.result(format, folder)
}

/** Checks that the files are unchanged. Without them there is nothing to compare. */
function checkFiles(folder: string, { files }: ExportManifest, findings: Findings): boolean {
  for (const { name, bytes, sha256 } of files) {
    const path = join(folder, name)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) findings.problem(`${name} is missing`)
    else if (size !== bytes || sha256OfFile(path) !== sha256)
      findings.problem(`${name} is not the exported file: its checksum differs`)
  }
  return files.every(({ name }) => statSync(join(folder, name), { throwIfNoEntry: false }) !== undefined)
}

async function compareAll(
  folder: string,
  format: TextFormat | TokenFormat,
  manifest: ExportManifest,
  findings: Findings,
  { run, tokenizers, signal, observe }: OpenContext,
): Promise<void> {
  const { settings, source, counts } = manifest
  const tokenizer = await tokenizers(
    settings.tokenizer === 'bytes' ? 'bytes' : resolve(folder, settings.tokenizer),
  )
  const dataset = openDataset(run, { all: source.selection === 'all' })
  const rows = readRows(join(folder, format.file), format.columns)
  let done = 0
  for (const { sequence, weight } of dataset.entries()) {
    const prepared = prepare(tokenizer, sequence, settings.date)
    const expected = rowOf(format, prepared)
    for (let copy = 0; 'row' in expected && copy < weight; copy++) {
      const next = await rows.next()
      if (next.done === true) findings.problem(`${sequence.id}: its row is missing`)
      else compareSequence(format, prepared, next.value, tokenizer, findings)
    }
    observe?.({ stage: `check ${format.name}`, done: ++done, total: dataset.total, unit: 'sequences' })
    if (done % 64 === 0) await nextTurn()
    signal?.throwIfAborted()
  }
  if ((await rows.next()).done !== true) findings.problem('there are more rows than sequences')
  if (findings.rows !== counts.rows)
    findings.problem(`${counts.rows} rows were written, ${findings.rows} read back`)
}

/** The folder itself, or the exports in it. */
function exportsIn(folder: string): string[] {
  if (hasManifest(folder)) return [folder]
  const inside =
    (statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false) ? readdirSync(folder) : []
  const found = inside.sort().map((name) => join(folder, name))
  const exports = found.filter((path) => statSync(path).isDirectory() && hasManifest(path))
  if (exports.length > 0) return exports
  throw new UsageError(`there is no finished export in ${folder}`, {
    fix: 'Name the folder given as --out, or export again.',
  })
}

function openSource(folder: string, { settings, source }: ExportManifest): Run {
  const dir = resolve(folder, settings.run)
  try {
    return openRun(dir)
  } catch (cause) {
    throw new UsageError(`the run ${source.run} that ${folder} was made from is not at ${dir}`, {
      fix: 'Name it: `coa export RUN --check FOLDER`.',
      cause,
    })
  }
}
